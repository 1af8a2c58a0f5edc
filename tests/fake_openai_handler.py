"""The HTTP side of the fake OpenAI server."""

import base64
import itertools
import json
import re
import socket
import struct
import time
from array import array
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from tests.fake_openai_behaviours import (
    Behaviour,
    CutStream,
    Delay,
    Hang,
    Held,
    InvalidJson,
    Raw,
    Recorded,
    Reply,
    Reset,
    Shuffled,
    Status,
    WrongDimensions,
    default_reply,
)
from tests.fake_openai_vectors import bag_vector

if TYPE_CHECKING:
    from tests.fake_openai import FakeOpenAI

_PATHS = {"/v1/chat/completions": "chat", "/v1/embeddings": "embeddings", "/v1/rerank": "rerank"}
_CALL_NUMBER = itertools.count(1)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    fake: "FakeOpenAI"
    protocol_version = "HTTP/1.1"
    # Bounds how long a stopped server's threads wait for a next request.
    timeout = 30

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        """Lists a model, as a health check would ask."""
        self._json(200, {"object": "list", "data": [{"id": "fake", "object": "model"}]})

    def do_POST(self) -> None:
        """Records the request and does as told."""
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = _PATHS.get(self.path)
        if path is None:
            return self._refuse(Status(404, message=f"no such path: {self.path}"))
        try:
            body = json.loads(raw)
        except ValueError:
            return self._refuse(Status(400, message="the body is not JSON"))
        headers = {name.lower(): value for name, value in self.headers.items()}
        behaviour = self.fake.take(Recorded(path, body, headers, time.monotonic()))
        if self.fake.key is not None and headers.get("authorization") != f"Bearer {self.fake.key}":
            return self._refuse(Status(401, message="wrong key"))
        return self._do(path, body, behaviour)

    def _do(self, path: str, body: dict[str, Any], behaviour: Behaviour | None) -> None:
        match behaviour:
            case Hang():
                self.fake.released.wait()
                self._reset()
            case Held(then):
                self.fake.released.wait()
                self._do(path, body, then)
            case Delay(seconds, then):
                # Whoever stops the server does not wait for it.
                self.fake.released.wait(seconds)
                self._do(path, body, then)
            case Reset():
                self._reset()
            case Status():
                self._refuse(behaviour)
            case Raw(chunks, content_type):
                self._chunks(list(chunks), content_type)
            case _ if path == "chat":
                self._chat(body, behaviour)
            case _ if path == "rerank":
                self._rerank(body, behaviour)
            case _:
                self._embeddings(body, behaviour)

    def _chat(self, body: dict[str, Any], behaviour: Behaviour | None) -> None:
        reply = behaviour if isinstance(behaviour, Reply) else default_reply(body)
        usage = _usage(body, reply)
        if not body.get("stream"):
            if isinstance(behaviour, InvalidJson):
                return self._chunks([b'{"choices": [{"mess'], "application/json")
            message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
            if reply.tool_calls:
                message["tool_calls"] = _calls(reply)
            choice = {"index": 0, "message": message, "finish_reason": _reason(reply)}
            return self._json(200, _envelope(body, "chat.completion", [choice]) | {"usage": usage})
        events = self._events(body, reply, usage)
        if isinstance(behaviour, InvalidJson):
            events[1:] = [b"data: {not json\n\n"]
        if isinstance(behaviour, CutStream):
            self._chunks(events[: behaviour.after + 1], "text/event-stream", cut=True)
            return None
        return self._chunks(events, "text/event-stream")

    def _events(self, body: dict[str, Any], reply: Reply, usage: dict[str, int]) -> list[bytes]:
        """The first event has the role, then come the pieces, the calls, the end, the usage and the mark."""
        pieces = reply.pieces if reply.pieces is not None else re.findall(r"\S+\s*|\s+", reply.text)
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in pieces]
        for index, call in enumerate(_calls(reply)):
            half = len(call["function"]["arguments"]) // 2
            head, tail = call["function"]["arguments"][:half], call["function"]["arguments"][half:]
            name = call["function"]["name"]
            first: dict[str, Any] = call | {"index": index, "function": {"name": name, "arguments": head}}
            deltas += [{"tool_calls": [first]}]
            deltas += [{"tool_calls": [{"index": index, "function": {"arguments": tail}}]}]
        ends = [None] * len(deltas) + [_reason(reply)]
        choices: list[list[dict[str, Any]]] = [
            [{"index": 0, "delta": delta, "finish_reason": end}] for delta, end in zip([*deltas, {}], ends, strict=True)
        ]
        bodies = [_envelope(body, "chat.completion.chunk", choice) for choice in choices]
        if (body.get("stream_options") or {}).get("include_usage"):
            bodies.append(_envelope(body, "chat.completion.chunk", []) | {"usage": usage})
        return [b"data: " + json.dumps(b).encode() + b"\n\n" for b in bodies] + [b"data: [DONE]\n\n"]

    def _embeddings(self, body: dict[str, Any], behaviour: Behaviour | None) -> None:
        if isinstance(behaviour, InvalidJson):
            return self._chunks([b'{"data": [{"embed'], "application/json")
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if len(texts) > self.fake.max_batch:
            return self._refuse(Status(413, message="too many texts"))
        if not texts or any(not text for text in texts):
            return self._refuse(Status(400, message="empty text"))
        dimensions = body.get("dimensions") or self.fake.dimensions
        if isinstance(behaviour, WrongDimensions):
            dimensions = behaviour.dimensions
        data: list[dict[str, Any]] = []
        for index, text in enumerate(texts):
            vector: list[float] | str = bag_vector(text, dimensions)
            if body.get("encoding_format") == "base64":
                vector = base64.b64encode(array("f", vector).tobytes()).decode()
            data.append({"object": "embedding", "index": index, "embedding": vector})
        if isinstance(behaviour, Shuffled):
            data.reverse()
        tokens = sum(len(text) // 4 + 1 for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return self._json(200, {"object": "list", "data": data, "model": body.get("model"), "usage": usage})

    def _rerank(self, body: dict[str, Any], behaviour: Behaviour | None) -> None:
        """Relevance is the share of the query's words that a document holds; the best comes first, as elsewhere."""
        if isinstance(behaviour, InvalidJson):
            return self._chunks([b'{"results": [{"ind'], "application/json")
        words = set(body["query"].lower().split())
        shares = [len(words & set(text.lower().split())) / len(words) for text in body["documents"]]
        order = sorted(range(len(shares)), key=lambda index: -shares[index])
        results = [{"index": index, "relevance_score": shares[index]} for index in order[: body.get("top_n")]]
        return self._json(200, {"id": "fake", "results": results})

    def _refuse(self, status: Status) -> None:
        headers = dict(status.headers)
        if status.retry_after is not None:
            headers["Retry-After"] = status.retry_after
        error = {"message": status.message, "type": "fake", "code": status.error_code}
        self._json(status.code, {"error": error}, headers)

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    def _chunks(self, chunks: list[bytes], content_type: str, *, cut: bool = False) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()
        if cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        # The reader and writer still hold the socket; without this it would be shut down in an orderly way.
        self.connection.close()
        self.rfile.close()


def _envelope(body: dict[str, Any], kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "fake", "object": kind, "created": 0, "model": body.get("model"), "choices": choices}


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_fake_{next(_CALL_NUMBER)}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for name, arguments in reply.tool_calls
    ]


def _reason(reply: Reply) -> str:
    return "tool_calls" if reply.tool_calls else "stop"


def _usage(body: dict[str, Any], reply: Reply) -> dict[str, int]:
    sent = sum(len(str(m.get("content"))) for m in body.get("messages") or []) // 4 + 1
    said = len(reply.text) // 4 + 1
    return {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}
