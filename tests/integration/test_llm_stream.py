"""Streamed chat over real HTTP: pieces, tools, usage, and streams that break."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from llm.errors import BadReply, BadRequest, CutStream, LlmError, ServerError, Timeout
from llm.openai_chat import OpenAIChat
from llm.ports import ChatReply, Usage
from tests.fake_openai import Behaviour, FakeOpenAI, Held, InvalidJson, Raw, Reply, Reset, Status
from tests.fake_openai import CutStream as Cut
from tests.integration.llm_support import HELLO, Kit


@pytest.fixture
async def kit() -> AsyncIterator[Kit]:
    with FakeOpenAI() as server:
        yield Kit(server)


async def read(chat: OpenAIChat, **more: Any) -> tuple[list[str], ChatReply]:
    """The texts of the pieces, and the final reply."""
    deltas = [delta async for delta in chat.stream(HELLO, **more)]
    assert all(delta.final is None for delta in deltas[:-1])
    final = deltas[-1].final
    assert final is not None
    assert deltas[-1].text == ""
    return [delta.text for delta in deltas[:-1]], final


def raw(*events: Any, end: str = "\n\n") -> list[bytes]:
    return [b"data: " + json.dumps(e).encode() + end.encode() for e in events]


def piece(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


def stream(*chunks: bytes) -> Raw:
    return Raw(list(chunks), content_type="text/event-stream")


async def test_pieces_come_one_by_one_and_the_whole_at_the_end(kit: Kit) -> None:
    chat = kit.chat()
    texts, final = await read(chat)
    assert texts == ["You ", "said: ", "hello ", "there"]
    assert final.content == "You said: hello there"
    assert final.usage.output_tokens > 0
    assert kit.server.requests()[0].body["stream_options"] == {"include_usage": True}
    count = kit.count()
    assert (count.requests, count.output_tokens) == (1, final.usage.output_tokens)
    await chat.aclose()


async def test_tool_calls_arrive_in_fragments(kit: Kit) -> None:
    kit.server.script(Reply("Looking.", tool_calls=[("look", '{"q": "你好"}'), ("list", "{}")]))
    chat = kit.chat()
    texts, final = await read(chat)
    assert texts == ["Looking."]
    assert [(c.name, c.arguments) for c in final.tool_calls] == [("look", '{"q": "你好"}'), ("list", "{}")]
    assert len({c.id for c in final.tool_calls}) == 2
    await chat.aclose()


async def test_the_first_piece_comes_before_the_last_is_written(kit: Kit) -> None:
    """A server that goes on only once its first piece was read."""
    seen = asyncio.Event()

    async def serve(r: asyncio.StreamReader, w: asyncio.StreamWriter) -> None:
        await r.readuntil(b"\r\n\r\n")
        w.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        w.write(raw(piece("one "))[0])
        await w.drain()
        await seen.wait()
        w.write(raw(piece("two", "stop"))[0] + b"data: [DONE]\n\n")
        await w.drain()
        w.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    chat = kit.chat(chat_base_url=f"http://127.0.0.1:{port}/v1")
    async with asyncio.timeout(10):
        texts = []
        async for delta in chat.stream(HELLO):
            texts.append(delta.text)
            seen.set()
    assert "".join(texts) == "one two"
    await chat.aclose()
    server.close()


@pytest.mark.parametrize("size", [1, 2, 5])
async def test_crlf_comments_and_split_characters(kit: Kit, size: int) -> None:
    events = raw(piece("你"), piece("好 🐈", "stop"), end="\r\n\r\n")
    data = b"".join([b": ping\r\n\r\n", *events, b"data: [DONE]\r\n\r\n"])
    data = data.replace(b"\\u4f60", "你".encode()).replace(b"\\ud83d\\udc08", "🐈".encode())
    kit.server.script(stream(*[data[i : i + size] for i in range(0, len(data), size)]))
    chat = kit.chat()
    texts, final = await read(chat)
    assert (texts, final.content) == (["你", "好 🐈"], "你好 🐈")
    await chat.aclose()


@pytest.mark.parametrize(
    "chunks",
    [
        raw(piece("Hi"), piece("", "stop")),
        raw(piece("Hi", "stop"), end="\n"),
        [*raw(piece("<think>why"), piece("</think>\nHi", "stop")), b"data: [DONE]\n\n"],
    ],
    ids=["no end mark", "no last empty line", "reasoning"],
)
async def test_what_other_servers_do(kit: Kit, chunks: Sequence[bytes]) -> None:
    kit.server.script(stream(*chunks))
    chat = kit.chat()
    texts, final = await read(chat)
    assert ("".join(texts), final.content, final.usage) == ("Hi", "Hi", Usage())
    await chat.aclose()


async def test_a_server_that_does_not_stream_is_read_whole(kit: Kit) -> None:
    kit.server.script(Raw([b'{"choices": [{"message": {"content": "whole"}}]}']))
    chat = kit.chat()
    assert (await read(chat))[0] == ["whole"]
    await chat.aclose()


async def test_a_server_that_knows_no_stream_options(kit: Kit) -> None:
    kit.server.script(Status(400, message="unknown field stream_options"))
    chat = kit.chat()
    assert (await read(chat))[1].content == "You said: hello there"
    assert (await read(chat))[1].usage == Usage()
    assert ["stream_options" in r.body for r in kit.server.requests()] == [True, False, False]
    await chat.aclose()


@pytest.mark.parametrize("failure", [Status(429, retry_after="0"), Status(502), Reset(), Cut(after=-1)], ids=repr)
async def test_failures_before_the_first_piece_are_tried_again(kit: Kit, failure: Behaviour) -> None:
    kit.server.script(failure)
    chat = kit.chat()
    assert (await read(chat))[1].content == "You said: hello there"
    assert len(kit.server.requests()) == 2
    await chat.aclose()


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Cut(after=2), CutStream),
        (stream(*raw(piece("You "))), CutStream),
        (stream(*raw(piece("You "))[:1], b'data: {"choi'), CutStream),
        (stream(*raw(piece("You "), {"error": {"message": "overloaded"}})), ServerError),
        (stream(*raw(piece("You ")), b"data: {not json\n\n"), BadReply),
    ],
    ids=["broken", "ended", "ended in a line", "error event", "no JSON"],
)
async def test_failures_after_the_first_piece_are_raised(kit: Kit, failure: Behaviour, error: type[LlmError]) -> None:
    kit.server.script(failure)
    chat = kit.chat()
    heard: list[str] = []
    with pytest.raises(error):
        async for delta in chat.stream(HELLO):
            heard.append(delta.text)
            assert delta.final is None
    assert heard[0] == "You "
    assert len(kit.server.requests()) == 1
    assert kit.count().failures == 1
    await chat.aclose()


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (InvalidJson(), BadReply),
        (Status(400), BadRequest),
        (stream(*raw(piece("", "length")), b"data: [DONE]\n\n"), BadReply),
        (stream(b"data: [DONE]\n\n"), BadReply),
    ],
    ids=["no JSON", "refused", "empty", "only the end mark"],
)
async def test_what_cannot_pass_is_raised_at_once(kit: Kit, failure: Behaviour, error: type[LlmError]) -> None:
    kit.server.script(failure)
    chat = kit.chat()
    with pytest.raises(error):
        await read(chat)
    assert len(kit.server.requests()) == 1
    await chat.aclose()


async def test_a_stream_that_does_not_begin_times_out(kit: Kit) -> None:
    kit.server.script(Held(), Held())
    chat = kit.chat(llm_timeout=0.3, llm_retries=1)
    with pytest.raises(Timeout):
        await read(chat)
    await chat.aclose()


async def test_leaving_a_stream_early_leaves_the_model_usable(kit: Kit) -> None:
    chat = kit.chat()
    async with aclosing(chat.stream(HELLO)) as deltas:
        async for delta in deltas:
            assert delta.text == "You "
            break
    assert (await read(chat))[1].content == "You said: hello there"
    await chat.aclose()
