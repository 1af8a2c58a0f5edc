"""Chat over real HTTP: answers, tools, and every way a provider fails."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from llm.errors import (
    BadReply,
    BadRequest,
    CircuitOpen,
    LlmError,
    NoModel,
    RateLimited,
    ServerError,
    Timeout,
    Unauthorised,
    Unreachable,
)
from llm.ports import Usage
from llm.usage import Count
from tests.fake_openai import Behaviour, FakeOpenAI, Hang, InvalidJson, Raw, Reply, Reset, Status
from tests.integration.llm_support import HELLO, Kit

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


@pytest.fixture
async def kit() -> AsyncIterator[Kit]:
    with FakeOpenAI(key="right") as server:
        yield Kit(server)


async def test_an_answer_with_its_usage(kit: Kit) -> None:
    chat = kit.chat()
    reply = await chat.complete(HELLO, max_tokens=50)
    assert reply.content == "You said: hello there"
    assert reply.usage.input_tokens > 0 and reply.usage.output_tokens > 0
    (request,) = kit.server.requests()
    assert request.body == {"model": "m", "messages": HELLO, "max_tokens": 50}
    assert request.headers["authorization"] == "Bearer right"
    used = {"input_tokens": reply.usage.input_tokens, "output_tokens": reply.usage.output_tokens}
    assert kit.count() == Count("m", "chat", requests=1, **used)
    await chat.aclose()


async def test_tool_calls(kit: Kit) -> None:
    kit.server.script(Reply(tool_calls=[("look", '{"at": "你好"}')]))
    chat = kit.chat()
    reply = await chat.complete(HELLO, tools=TOOLS)
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [("look", '{"at": "你好"}')]
    assert kit.server.requests()[0].body["tools"] == TOOLS
    await chat.aclose()


async def test_half_a_character_does_not_stop_a_request(kit: Kit) -> None:
    chat = kit.chat()
    reply = await chat.complete([{"role": "user", "content": "cut \ud83d"}])
    assert reply.content == "You said: cut ?"
    await chat.aclose()


@pytest.mark.parametrize(
    "failure", [Status(429, retry_after="0"), Status(500), Status(503), Status(408), Reset()], ids=repr
)
async def test_what_can_pass_is_tried_again(kit: Kit, failure: Behaviour) -> None:
    kit.server.script(failure)
    chat = kit.chat()
    assert (await chat.complete(HELLO)).content == "You said: hello there"
    count = kit.count()
    assert (count.requests, count.failures, count.retries) == (2, 1, 1)
    await chat.aclose()


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Status(400, message="context too long"), BadRequest),
        (Status(422), BadRequest),
        (Status(302, headers={"Location": "http://elsewhere.test/"}), BadRequest),
        (Status(401, message="you sent right"), Unauthorised),
        (Status(403), Unauthorised),
        (Status(404, message="no model m"), NoModel),
        (Status(429, error_code="insufficient_quota"), RateLimited),
        (Status(402), RateLimited),
        (InvalidJson(), BadReply),
        (Raw([b'["no object"]']), BadReply),
        (Raw([b'{"choices": []}']), BadReply),
        (Raw([b"<html>gateway</html>"], content_type="text/html"), BadReply),
    ],
    ids=repr,
)
async def test_what_cannot_pass_now_is_raised_at_once(kit: Kit, failure: Behaviour, error: type[LlmError]) -> None:
    kit.server.script(failure)
    chat = kit.chat()
    with pytest.raises(error) as caught:
        await chat.complete(HELLO)
    assert len(kit.server.requests()) == 1
    assert kit.count().failures == 1
    assert "right" not in str(caught.value)
    if isinstance(failure, Status) and failure.message.startswith(("context", "no model")):
        assert failure.message in str(caught.value)
    await chat.aclose()


async def test_retry_after_is_honoured(kit: Kit) -> None:
    kit.server.script(Status(429, retry_after="0.6"))
    chat = kit.chat()
    await chat.complete(HELLO)
    first, second = kit.server.requests()
    assert second.at - first.at >= 0.6
    await chat.aclose()


async def test_an_empty_account_is_not_asked_again_within_the_request(kit: Kit) -> None:
    kit.server.script(Status(402, message="balance is 0"))
    chat = kit.chat()
    with pytest.raises(RateLimited, match="balance") as caught:
        await chat.complete(HELLO)
    assert caught.value.retry_after == 600
    await chat.aclose()


async def test_a_provider_that_hangs_times_out_within_the_total(kit: Kit) -> None:
    kit.server.script(*[Hang()] * 4)
    chat = kit.chat(llm_timeout=0.3)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    with pytest.raises(Timeout):
        await chat.complete(HELLO)
    # 1.5 times the limit of one try; what is over is for a busy machine.
    assert loop.time() - begun < 0.45 + 2
    await chat.aclose()


async def test_an_answer_that_dribbles_times_out_too(kit: Kit) -> None:
    """Each byte comes in time; the answer as a whole never does."""
    hung_up = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n")
        with suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.02)
        hung_up.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    chat = kit.chat(chat_base_url=url, llm_timeout=0.3, llm_retries=0)
    with pytest.raises(Timeout):
        await chat.complete(HELLO)
    async with asyncio.timeout(5):
        await hung_up.wait()
    await chat.aclose()
    server.close()


async def test_nobody_listening(kit: Kit) -> None:
    kit.server.stop()
    chat = kit.chat(llm_retries=1)
    with pytest.raises(Unreachable):
        await chat.complete(HELLO)
    assert kit.count().requests == 2
    await chat.aclose()
    kit.server = FakeOpenAI(port=kit.server.port, key="right").start()
    chat = kit.chat()
    assert (await chat.complete(HELLO)).content
    await chat.aclose()


async def test_the_circuit_is_shared_by_all_that_talk_to_one_provider(kit: Kit) -> None:
    kit.server.script(Status(500), Status(500))
    chat, other = kit.chat(circuit_failures=2, llm_retries=1), kit.chat(chat_model="n")
    with pytest.raises(ServerError):
        await chat.complete(HELLO)
    with pytest.raises(CircuitOpen):
        await other.complete(HELLO)
    assert len(kit.server.requests()) == 2
    await chat.aclose()
    await other.aclose()


async def test_the_circuit_closes_after_a_probe(kit: Kit) -> None:
    kit.server.script(Status(500))
    chat = kit.chat(circuit_failures=1, circuit_reset=0.2, llm_retries=0)
    with pytest.raises(ServerError):
        await chat.complete(HELLO)
    async with asyncio.timeout(5):
        while True:
            try:
                await chat.complete(HELLO)
                break
            except CircuitOpen as error:
                assert error.retry_after is not None
                await asyncio.sleep(error.retry_after)
    assert len(kit.server.requests()) == 2
    await chat.aclose()


async def test_cancelling_frees_the_connection(kit: Kit) -> None:
    kit.server.script(Hang())
    chat = kit.chat()
    task = asyncio.create_task(chat.complete(HELLO))
    await asyncio.to_thread(kit.server.wait_for, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await chat.complete(HELLO)).content
    assert kit.count().failures == 0
    await chat.aclose()


async def test_many_at_once(kit: Kit) -> None:
    chat = kit.chat()
    replies = await asyncio.gather(*(chat.complete([{"role": "user", "content": f"n{i}"}]) for i in range(40)))
    assert [r.content for r in replies] == [f"You said: n{i}" for i in range(40)]
    assert all(r.usage != Usage() for r in replies)
    await chat.aclose()
