"""The tail: what Redis has and SQLite has not yet, read by both kinds of client."""

import inspect
from typing import Any

import fakeredis
import pytest

from memory.types import StoredMessage
from sidestream.keys import Keys
from store import tail

KEYS = Keys()


def said(content: str, **more: str) -> dict[str, str]:
    return {"type": "message", "session_id": "s", "role": "user", "content": content, **more}


@pytest.fixture(params=["sync", "async", "sync text", "async text"])
def client(request: pytest.FixtureRequest) -> Any:
    server = fakeredis.FakeServer()
    kind = fakeredis.FakeStrictRedis if request.param.startswith("sync") else fakeredis.FakeAsyncRedis
    return kind(server=server, decode_responses=request.param.endswith("text"))


async def call(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def read(client: Any, limit: int = 10, **options: Any) -> tail.Tail:
    function = tail.pending_tail if isinstance(client, fakeredis.FakeAsyncRedis) else tail.pending_tail_sync
    found = await call(function(client, KEYS, "default", "s", limit, **options))
    assert isinstance(found, tail.Tail)
    return found


async def add(client: Any, *entries: dict[str, Any]) -> None:
    for number, fields in enumerate(entries, 1):
        await call(client.xadd(KEYS.tail("default", "s"), fields, id=f"{number}000-0"))


async def test_the_newest_come_oldest_first(client: Any) -> None:
    await add(client, *(said(f"message {n}", id=f"e{n}") for n in range(1, 6)))
    found = await read(client, limit=3)
    assert [(m.event_id, m.content) for m in found.messages] == [(f"e{n}", f"message {n}") for n in (3, 4, 5)]
    assert found.broken == 0
    assert (await read(client, limit=0)).messages == []
    function = tail.read_tail if isinstance(client, fakeredis.FakeAsyncRedis) else tail.read_tail_sync
    assert await call(function(client, KEYS, "default", "s", 3)) == found.messages
    assert await call(function(client, KEYS, "default", "absent", 3)) == []


async def test_a_message_is_as_it_will_be_stored(client: Any) -> None:
    meta = '{"name": "Ann"}'
    await add(
        client,
        said("你好", id="e", ts="2024-01-01T00:00:00Z", meta=meta, msg_type="fact"),
        said("without an id"),
    )
    full, bare = (await read(client)).messages
    assert full == StoredMessage("e", "s", "user", "你好", 1_704_067_200.0, msg_type="fact", metadata={"name": "Ann"})
    assert (bare.event_id, bare.occurred_at, bare.msg_type, bare.id, bare.seq) == ("2000-0", 2.0, "normal", 0, 0)


async def test_what_cannot_be_read_is_skipped_and_counted(client: Any) -> None:
    await add(
        client,
        said("good"),
        {"content": "no type"},
        said("x", role="robot"),
        said("x", meta="{"),
        {"type": "session.ended", "session_id": "s"},
        said("of another session", session_id="t"),
        said("of another namespace", namespace="other"),
        said("also good"),
    )
    found = await read(client)
    assert [m.content for m in found.messages] == ["good", "also good"]
    assert found.broken == 6


async def test_bytes_that_are_no_text_are_skipped_by_a_client_that_does_not_decode() -> None:
    client = fakeredis.FakeAsyncRedis()
    await add(client, {**said("x"), "content": b"\xff\xfe"}, said("good"))
    found = await read(client)
    assert ([m.content for m in found.messages], found.broken) == (["good"], 1)


async def test_a_users_tail_has_only_theirs(client: Any) -> None:
    await add(client, said("alice's", user_id="alice"), said("bob's", user_id="bob"), said("nobody's"))
    assert len((await read(client)).messages) == 3

    async def seen(user: str, owner: str | None = None) -> list[str]:
        return [m.content for m in (await read(client, user_id=user, owner=owner)).messages]

    assert await seen("alice") == ["alice's", "nobody's"] == await seen("alice", "alice")
    assert await seen("bob") == ["bob's"] == await seen("bob", "alice")
    assert await seen("default") == [] == await seen("default", "alice") == await seen("default", "")
    assert await seen("default", "default") == ["nobody's"]


async def test_a_tail_that_names_nobody_is_the_default_users(client: Any) -> None:
    await add(client, said("x"), said("bob's", user_id="bob"))
    assert [m.content for m in (await read(client, user_id="default")).messages] == ["x"]
    assert [m.content for m in (await read(client, user_id="bob")).messages] == ["bob's"]


async def test_a_receipt_names_the_entry(client: Any) -> None:
    function = tail.receipt if isinstance(client, fakeredis.FakeAsyncRedis) else tail.receipt_sync
    assert await call(function(client, KEYS, "default", "e")) is None
    await call(client.set(KEYS.receipt("default", "e"), "5-0 " + "d" * 64))
    assert await call(function(client, KEYS, "default", "e")) == "5-0"
