"""States of events, waiting for them, and a database that comes late, goes, or is replaced."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fakeredis
import pytest
from structlog.testing import capture_logs

from memory.types import Scope, StoredMessage
from recall.database import ReadDatabase
from recall.options import RecallOptions
from recall.reader import Reader
from recall.tail import TailReader, Whose
from recall.window import weave
from sidestream.aio import AsyncPublisher
from sidestream.events import Message, SessionStarted
from sidestream.keys import Keys
from store import dead_letters
from store.db import Database
from store.errors import StoreError, StoreUnavailable
from store.opening import open_database
from tests.unit.recall_support import ANN, KEYS, NOW, Memory, memory


@pytest.fixture
async def known(tmp_path: Path) -> AsyncIterator[Memory]:
    async with memory(tmp_path) as made:
        yield made


def without_store(folder: Path, redis: Any) -> Reader:
    options = RecallOptions(folder / "late.db", tail_timeout=0.2)
    return Reader(ReadDatabase(options.database, retry_every=0.0), redis, None, options, KEYS)


async def test_an_event_goes_from_accepted_to_embedded(known: Memory) -> None:
    assert await known.reader.event_state("default", "e1") is None
    await known.publish("hello", event_id="e1")
    accepted = await known.reader.event_state("default", "e1")
    assert accepted is not None and accepted.state == "accepted" and accepted.entry_id
    await known.store("hello", event_id="e1")
    embedded = await known.reader.event_state("default", "e1")
    assert embedded is not None
    assert (embedded.state, embedded.type, embedded.entry_id) == ("embedded", "message", accepted.entry_id)


async def test_a_dead_event_says_why(known: Memory) -> None:
    dead_letters.bury(known.db, "event", "1-0", "default", "too loud", {"id": "e1", "type": "message"}, NOW)
    state = await known.reader.wait_for("default", "e1", 5.0)
    assert state is not None and (state.state, state.reason) == ("dead", "too loud")


async def test_a_wait_ends_when_the_event_is_there(known: Memory) -> None:
    await known.publish("hello", event_id="e1")
    waiting = asyncio.create_task(known.reader.wait_for("default", "e1", 10.0))
    await asyncio.sleep(0)
    await known.store("hello", event_id="e1")
    state = await waiting
    assert state is not None and state.state == "embedded"


async def test_a_wait_ends_at_its_deadline_with_what_is_known(known: Memory) -> None:
    await known.publish("hello", event_id="e1")
    state = await known.reader.wait_for("default", "e1", 0.01)
    assert state is not None and state.state == "accepted"
    assert await known.reader.wait_for("default", "nobody", 0.01) is None
    await known.store("hello", event_id="e1")
    further = await known.reader.wait_for("default", "e1", 0.01, until="summarised")
    assert further is not None and further.state == "embedded"


async def test_the_tail_serves_until_the_database_comes(tmp_path: Path) -> None:
    redis = fakeredis.FakeAsyncRedis()
    reader = without_store(tmp_path, redis)
    await AsyncPublisher(redis).publish(
        Message(id="e1", session_id="s1", user_id="ann", role="user", content="the kettle is old")
    )
    context = await reader.build_context(ANN, "kettle?")
    assert [m["content"] for m in context.messages] == ["the kettle is old"]
    assert "store" in {note.part for note in context.degraded}
    assert (await reader.search(ANN, "kettle")).hits[0].event_id == "e1"
    assert await reader.unstored(ANN, [StoredMessage("e1", "s1", "user", "x", NOW)])
    lag, notes = await reader.lag(ANN)
    assert (lag.unread, lag.owed) == (1, None) and [note.part for note in notes] == ["store"]
    open_database(tmp_path / "late.db").close()
    healed = await reader.build_context(ANN, "kettle?")
    assert "store" not in {note.part for note in healed.degraded} and len(healed.messages) == 1
    await reader.aclose()


@pytest.mark.parametrize("with_database", [False, True])
async def test_a_session_that_no_message_began_belongs_to_its_first_user(tmp_path: Path, with_database: bool) -> None:
    redis = fakeredis.FakeAsyncRedis()
    reader = without_store(tmp_path, redis)
    if with_database:
        open_database(tmp_path / "late.db").close()
    said = [Message(session_id="s1", role="user", content=f"the kettle is old, {n}") for n in range(12)]
    publisher = AsyncPublisher(redis, tail_max=3)
    await publisher.publish_many([SessionStarted(session_id="s1", user_id="ann"), *said])
    shown = [m["content"] for m in (await reader.build_context(ANN, "")).messages]
    assert shown == [message.content for message in said[-3:]]
    for other in ("bob", "default"):
        assert not (await reader.build_context(replace(ANN, user_id=other), "")).messages
    await publisher.publish_many(
        [
            SessionStarted(session_id="s2", user_id="ann", shared=True),
            Message(session_id="s2", user_id="bob", role="user", content="hello to all"),
        ]
    )
    for user in ("ann", "bob"):
        context = await reader.build_context(Scope(user, session_id="s2"), "")
        assert [m["content"] for m in context.messages] == ["hello to all"]
    await reader.aclose()


async def test_with_redis_away_the_store_serves_alone(known: Memory) -> None:
    await known.store("the kettle is old")
    known.redis_server.connected = False
    context = await known.reader.build_context(ANN, "kettle?")
    assert [m["content"] for m in context.messages] == ["the kettle is old"]
    assert [note.part for note in context.degraded] == ["tail"] and context.lag.unread is None
    assert await known.reader.event_state("default", "stored-1") is not None


async def test_no_redis_at_all_is_a_note(tmp_path: Path) -> None:
    reader = without_store(tmp_path, None)
    context = await reader.build_context(ANN, "kettle?")
    assert {note.part for note in context.degraded} == {"tail", "store", "query_embedding"}
    assert await reader.event_state("default", "e1") is None


async def test_a_silent_redis_is_waited_for_once(tmp_path: Path) -> None:
    class Silent:
        asked = 0

        async def xlen(self, _: str) -> int:
            self.asked += 1
            await asyncio.Event().wait()
            return 0

    async def anybodys(_: Scope) -> Whose:
        return Whose(None, None)

    now = 0.0
    silent: Any = Silent()
    tail = TailReader(silent, Keys(), limit=10, timeout=0.01, monotonic=lambda: now)
    for _ in range(3):
        assert (await tail.read(ANN, anybodys)).degraded is not None
    assert silent.asked == 1
    now = 2.0
    await tail.read(ANN, anybodys)
    assert silent.asked == 2


@pytest.mark.parametrize("committed", [True, False])
async def test_words_that_name_no_user_are_the_sessions_owners_alone(known: Memory, committed: bool) -> None:
    first = await known.publish("named")
    if committed:
        await known.store("named", event_id=first)
        await known.redis.delete(KEYS.tail("default", "s1"))
    await known.publisher.publish(Message(session_id="s1", role="user", content="unnamed"))

    async def seen(user: str) -> list[str]:
        context = await known.reader.build_context(Scope(user, session_id="s1"), "")
        return [m["content"] for m in context.messages]

    assert await seen("ann") == ["named", "unnamed"]
    assert await seen("default") == [] == await seen("bob")


async def test_words_that_name_no_user_are_nobodys_while_the_store_cannot_tell_whose_they_are(tmp_path: Path) -> None:
    redis = fakeredis.FakeAsyncRedis()
    reader = without_store(tmp_path, redis)
    publisher = AsyncPublisher(redis)
    await publisher.publish(Message(session_id="s1", role="user", content="unnamed"))
    await publisher.publish(Message(session_id="s1", user_id="default", role="user", content="named"))
    default = Scope("default", session_id="s1")
    before = await reader.build_context(default, "")
    assert [m["content"] for m in before.messages] == ["unnamed", "named"]
    (tmp_path / "late.db").write_bytes(b"no database, but something was there" * 100)
    after = await reader.build_context(default, "")
    assert [m["content"] for m in after.messages] == ["named"]
    await reader.aclose()


async def test_broken_entries_of_a_tail_are_counted_and_skipped(known: Memory) -> None:
    await known.publish("hello")
    await known.redis.xadd(KEYS.tail("default", "s1"), {"type": "nonsense"})
    context = await known.reader.build_context(ANN, "")
    assert len(context.messages) == 1 and "1 entries" in context.degraded[0].reason


async def test_a_file_that_is_not_migrated_yet_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    path.touch()
    db = ReadDatabase(path, retry_every=0.0)
    with pytest.raises(StoreUnavailable, match="not there yet"):
        await db.read(lambda _: None)
    assert path.stat().st_size == 0
    Database.open(path).close()
    with pytest.raises(StoreUnavailable, match="schema version 0"):
        await db.read(lambda _: None)
    open_database(path).close()
    await db.read(lambda found: found.one("schema_version"))
    db.close()


async def test_a_file_that_cannot_be_opened_is_not_tried_at_every_read(tmp_path: Path) -> None:
    now = 0.0
    path = tmp_path / "m.db"
    path.write_bytes(b"this is no database, " * 100)
    db = ReadDatabase(path, retry_every=1.0, monotonic=lambda: now)
    with pytest.raises(StoreError):
        await db.read(lambda _: None)
    path.unlink()
    open_database(path).close()
    with pytest.raises(StoreUnavailable):
        await db.read(lambda _: None)
    now = 1.5
    await db.read(lambda _: None)
    db.close()


async def test_a_file_that_was_not_there_is_read_as_soon_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    db = ReadDatabase(path, retry_every=60.0)
    with pytest.raises(StoreUnavailable, match="not there yet"):
        await db.read(lambda _: None)
    Database.open(path).close()
    with pytest.raises(StoreUnavailable, match="schema version 0"):
        await db.read(lambda _: None)
    open_database(path).close()
    await db.read(lambda found: found.one("schema_version"))
    db.close()


async def test_a_replaced_file_is_opened_anew(tmp_path: Path) -> None:
    async with memory(tmp_path) as known:
        await known.store("old words")
        assert (await known.reader.search(ANN, "words")).hits
        open_database(tmp_path / "new.db").close()
        for beside in ("m.db-wal", "m.db-shm"):
            (tmp_path / beside).unlink()
        (tmp_path / "new.db").replace(tmp_path / "m.db")
        assert not (await known.reader.search(ANN, "words")).hits


async def test_a_user_sees_their_own_sessions(known: Memory) -> None:
    await known.store("one")
    await known.store("two", Scope("bob", session_id="s9"))
    assert [row.session_id for row in await known.reader.sessions(Scope("ann"), 10)] == ["s1"]


async def test_troubles_are_counted_and_logged_when_they_change(tmp_path: Path) -> None:
    reader = without_store(tmp_path, fakeredis.FakeAsyncRedis())
    with capture_logs() as logs:
        for _ in range(3):
            await reader.search(ANN, "kettle")
        open_database(tmp_path / "late.db").close()
        await reader.search(ANN, "kettle")
    assert reader.troubles.counts == {"store": 3, "query_embedding": 4}
    assert [(entry["event"], entry["part"]) for entry in logs] == [
        ("read_degraded", "query_embedding"),
        ("read_degraded", "store"),
        ("read_healed", "store"),
    ]
    await reader.aclose()


def test_weaving_keeps_both_orders() -> None:
    def message(event_id: str) -> StoredMessage:
        return StoredMessage(event_id, "s1", "user", event_id, NOW)

    def ids(woven: list[StoredMessage]) -> str:
        return "".join(m.event_id for m in woven)

    assert ids(weave([message(c) for c in "bxd"], [message(c) for c in "abcde"])) == "abxcde"
    assert ids(weave([], [message("a")])) == "a" == ids(weave([message("a")], []))
