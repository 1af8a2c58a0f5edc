"""A real local HTTP server that speaks OpenAI's chat and embeddings, and fails as told.

    with FakeOpenAI(dimensions=64) as server:
        server.script(Status(429, retry_after="1"), Reply("hello"))        # chat requests, in order
        server.script(WrongDimensions(7), path="embeddings")
        ... SIDESTREAM_CHAT_BASE_URL=server.url, SIDESTREAM_CHAT_MODEL=anything ...
        assert server.wait_for(2, path="chat", deadline=5)[-1].body["stream"]

Without a script, a chat whose system text asks for a summary is answered with such JSON,
one that asks for facts with none, any other chat with
`You said: ...`; `respond` can decide instead. Embeddings are bags of hashed words. Other processes use it by
`url`; `python -m tests.fake_openai` serves until its input ends.
"""

import socket
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from http.server import ThreadingHTTPServer
from socketserver import BaseRequestHandler
from types import TracebackType
from typing import Any, Self

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
)
from tests.fake_openai_handler import Handler

__all__ = [
    "Behaviour",
    "CutStream",
    "Delay",
    "FakeOpenAI",
    "Hang",
    "Held",
    "InvalidJson",
    "Raw",
    "Recorded",
    "Reply",
    "Reset",
    "Shuffled",
    "Status",
    "WrongDimensions",
]

Respond = Callable[[dict[str, Any]], Behaviour | None]


class FakeOpenAI:
    """The server. Its methods may be called from any thread.

    Args:
        dimensions: of the embeddings; a request's own `dimensions` goes first.
        key: if given, requests need it as bearer key and get 401 without.
        respond: decides what is done with a chat request for which nothing is scripted; None: the default.
        max_batch: more texts in one embedding request are refused with 413.
        port: where to listen; 0 takes a free one. With the port of a stopped server, it comes back.
    """

    def __init__(
        self,
        *,
        dimensions: int = 64,
        key: str | None = None,
        respond: Respond | None = None,
        max_batch: int = 2_048,
        port: int = 0,
    ) -> None:
        self.dimensions = dimensions
        self.key = key
        self.respond = respond
        self.max_batch = max_batch
        self.released = threading.Event()
        self._scripts: dict[str, deque[Behaviour]] = {"chat": deque(), "embeddings": deque(), "rerank": deque()}
        self._recorded: list[Recorded] = []
        self._changed = threading.Condition()
        handler = type("BoundHandler", (Handler,), {"fake": self})
        self._server = _Server(("127.0.0.1", port), handler)
        # The poll is how long stopping takes.
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Base URL, ending in `/v1`."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    def start(self) -> Self:
        """Serves from now on."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Ends serving, breaks every connection and ends every request that hangs."""
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.break_connections()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def script(self, *behaviours: Behaviour, path: str = "chat") -> None:
        """Queues what is done with the next requests of `path` (`chat`, `embeddings` or `rerank`)."""
        with self._changed:
            self._scripts[path].extend(behaviours)

    def clear(self) -> None:
        """Forgets scripts and recorded requests."""
        with self._changed:
            for queue in self._scripts.values():
                queue.clear()
            self._recorded.clear()

    def release(self) -> None:
        """Lets every request that hangs or is held go on, and later ones too until `hold`."""
        self.released.set()

    def hold(self) -> None:
        """Makes `Hang` and `Held` wait again after a `release`."""
        self.released.clear()

    def requests(self, path: str | None = None) -> list[Recorded]:
        """The requests so far, oldest first."""
        with self._changed:
            return [request for request in self._recorded if path in (None, request.path)]

    def wait_for(self, count: int, *, path: str | None = None, deadline: float = 10.0) -> list[Recorded]:
        """The requests, once there are at least `count`.

        Raises:
            TimeoutError: there were not after `deadline` seconds.
        """
        with self._changed:
            self._changed.wait_for(lambda: len(self.requests(path)) >= count, deadline)
            found = self.requests(path)
        if len(found) < count:
            raise TimeoutError(f"{len(found)} of {count} requests came within {deadline} s")
        return found

    def take(self, request: Recorded) -> Behaviour | None:
        """Records `request` and says what is to be done with it; None: as by default."""
        with self._changed:
            self._recorded.append(request)
            self._changed.notify_all()
            queue = self._scripts[request.path]
            if queue:
                return queue.popleft()
        return self.respond(request.body) if self.respond and request.path == "chat" else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], handler: type[BaseRequestHandler]) -> None:
        super().__init__(address, handler)
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Keeps the connection in mind: kept alive, it would outlive the server."""
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forgets the connection."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def break_connections(self) -> None:
        """Shuts every open connection down."""
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            with suppress(OSError):  # it may be closing just now
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what many tests are about; anything else is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


if __name__ == "__main__":
    with FakeOpenAI() as running:
        sys.stdout.write(f"{running.url}\n")
        sys.stdout.flush()
        sys.stdin.read()
