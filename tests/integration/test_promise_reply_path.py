"""Promise 1: a reply calls its own model, at most one query embedding, no other; it writes nothing to SQLite.

Every model call of this process goes to a real server that writes it down; every SQLite connection that it opens is
hooked; and the database's files are compared byte by byte.
"""

import hashlib
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import pytest

from actors.messages import Reply
from actors.wiring import Agents, open_agents
from memory.types import Scope
from store.opening import open_database
from tests.fake_openai import FakeOpenAI
from tests.fake_openai import Reply as Answer
from tests.stack import Stack
from tests.unit.facts_support import fact

SCOPE = Scope("ann", session_id="today")
BEFORE = Scope("ann", session_id="yesterday")


@dataclass
class Ledger:
    """What this process did: connections that it opened, rows that it changed, transactions that it committed."""

    connections: list[apsw.Connection] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)

    def watch(self, connection: apsw.Connection) -> None:
        """Hooks a new connection."""
        self.connections.append(connection)
        connection.set_update_hook(lambda *what: self.changes.append(f"changed {what}"))
        connection.set_commit_hook(self._committed)

    def _committed(self) -> bool:
        self.changes.append("committed")
        return False


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    found = Ledger()
    apsw.connection_hooks.append(found.watch)
    yield found
    apsw.connection_hooks.remove(found.watch)


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as running:
        yield running


@pytest.fixture
def stack(tmp_path: Path, server: FakeOpenAI) -> Iterator[Stack]:
    models: dict[str, Any] = {"chat_provider": "openai", "chat_base_url": server.url, "chat_model": "test"}
    models |= {"embed_provider": "openai", "embed_base_url": server.url, "embed_model": "words"}
    with Stack(tmp_path, **models, embed_dimensions=64, embed_min_batch=1, publish_timeout=1.0) as found:
        open_database(found.settings.database).close()
        yield found


@asynccontextmanager
async def agents(stack: Stack) -> AsyncIterator[Agents]:
    async with open_agents(stack.settings) as found:
        yield found


async def say(found: Agents, text: str, scope: Scope = SCOPE) -> Reply:
    return await found.host.sessions.say(scope, text)


def files(stack: Stack) -> dict[str, str]:
    """Digest of each of the database's files that holds anything, but the index in which readers keep their marks."""
    database = stack.settings.database
    found = [p for p in database.parent.glob(f"{database.name}*") if not p.name.endswith("-shm") and p.stat().st_size]
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in found}


def seen(server: FakeOpenAI, request: int = -1) -> list[str]:
    """What the model was shown of the dialogue."""
    messages = server.requests("chat")[request].body["messages"]
    return [m["content"] for m in messages if m["role"] != "system"]


def stored(stack: Stack, session: str = "today") -> list[tuple[int, str, str]]:
    """Messages of a session as they are stored."""
    return stack.rows(
        "SELECT m.seq, m.role, m.content FROM main_messages AS m JOIN sessions AS s ON s.id = m.session_pk"
        " WHERE s.session_id = ? ORDER BY m.seq",
        session,
    )


async def remember_something(stack: Stack) -> None:
    """A session of yesterday, told and worked off; afterwards no worker runs."""
    workers = [stack.start_ingest(), stack.start_tasks(beat=True)]
    async with agents(stack) as found:
        await say(found, "My tortoise Olga eats dandelions.", BEFORE)
    stack.wait(stack.stored(2), "yesterday is stored")
    stack.wait_quiet()
    for worker in workers:
        worker.stop()


async def test_ten_turns_without_a_worker(stack: Stack, server: FakeOpenAI, ledger: Ledger) -> None:
    await remember_something(stack)
    server.clear()
    ledger.changes.clear()
    before = files(stack)
    dialogue: list[str] = []
    async with agents(stack) as found:
        for number in range(10):
            question = f"What does my tortoise eat, question {number}?"
            reply = await say(found, question)
            dialogue += [question, reply.content]
            assert len(server.requests("chat")) == number + 1
            assert len(server.requests("embeddings")) <= number + 1
            assert seen(server) == dialogue[:-1]
            assert "dandelions" in str(server.requests("chat")[-1].body["messages"])
            assert reply.sources[0].session_id == "yesterday"
            assert not reply.degraded and reply.durable and not reply.spooled
        assert ledger.connections and ledger.changes == []
        assert [c.total_changes() for c in ledger.connections if _open(c)] == [0]
        assert files(stack) == before
    assert stored(stack) == []
    stack.start_ingest("again")
    stack.start_tasks("again-tasks", beat=True)
    stack.wait(stack.stored(22), "all ten turns are stored")
    stack.wait_quiet()
    assert [content for _, _, content in stored(stack)] == dialogue
    assert [seq for seq, _, _ in stored(stack)] == list(range(1, 21))
    assert stack.rows("SELECT count(*), count(DISTINCT turn_last) FROM short_term_memories WHERE session_pk = 2") == [
        (10, 10)
    ]


async def test_a_tool_round_calls_the_replys_own_models_alone(stack: Stack, server: FakeOpenAI, ledger: Ledger) -> None:
    call = ("call_agent", '{"name": "researcher", "brief": "What do tortoises eat?"}')
    server.script(Answer("", tool_calls=[call]), Answer("Dandelions."), Answer("It eats dandelions."))
    async with agents(stack) as found:
        reply = await say(found, "Find out what tortoises eat.")
    assert reply.content == "It eats dandelions."
    assert len(server.requests("chat")) == 3 and len(server.requests("embeddings")) == 1
    assert ledger.changes == []


async def test_facts_are_given_recalled_and_forgotten_without_a_write(
    stack: Stack, server: FakeOpenAI, ledger: Ledger
) -> None:
    with open_database(stack.settings.database) as db:
        fact(db, "m1", "Ann keeps a tortoise named Olga", BEFORE, now=time.time())
        fact(db, "m2", "Ann once owned a kayak", BEFORE, now=time.time())
    before = files(stack)
    ledger.changes.clear()
    calls = [("memory_recall", '{"query": "kayak"}'), ("memory_forget", '{"memory_id": "m2"}')]
    server.script(Answer("", tool_calls=calls), Answer("Her name is Olga."))
    async with agents(stack) as found:
        reply = await say(found, "How is my tortoise called? And forget the kayak.")
        assert ledger.changes == [] and files(stack) == before
    assert len(server.requests("embeddings")) == 1
    assert {hit.metadata["memory_id"] for hit in reply.sources if hit.kind == "fact"} == {"m1", "m2"}
    entries: Any = stack.redis.xrange(stack.keys.events)
    kinds = [fields["type"] for _, fields in entries]
    assert kinds[-2:] == ["message", "memory.used"] and kinds.count("memory.forget") == 1
    stack.start_ingest("again")
    stack.start_tasks("again-tasks", beat=True)
    stack.wait(
        lambda: stack.rows("SELECT access_count FROM long_term_memories WHERE memory_id = 'm1'") == [(1,)], "use"
    )


async def test_a_new_agent_sees_the_last_turns_through_the_tail(stack: Stack, server: FakeOpenAI) -> None:
    async with agents(stack) as first:
        await say(first, "My tortoise is called Olga.")
    async with agents(stack) as second:
        await say(second, "What is she called?")
    assert seen(server) == [
        "My tortoise is called Olga.",
        "You said: My tortoise is called Olga.",
        "What is she called?",
    ]


async def test_redis_stopped_in_mid_chat(stack: Stack, server: FakeOpenAI, ledger: Ledger) -> None:
    dialogue: list[str] = []
    async with agents(stack) as found:
        for number in range(6):
            if number == 2:
                stack.server.kill()
            reply = await say(found, f"message {number}")
            dialogue += [f"message {number}", reply.content]
            assert seen(server) == dialogue[:-1]
            assert reply.durable and reply.spooled == (number >= 2)
        assert {note.part for note in reply.degraded} == {"tail"}
        assert ledger.changes == []
        stack.server.start()
        assert await found.publisher.flush(20.0) == 0
        reply = await say(found, "message 6")
        dialogue += ["message 6", reply.content]
        assert not reply.spooled and not reply.degraded
    stack.start_ingest()
    stack.wait(stack.stored(14), "everything is stored")
    assert [content for _, _, content in stored(stack)] == dialogue
    assert stack.rows("SELECT count(*) FROM dead_letters") == [(0,)]


async def test_without_redis_and_without_a_database_the_reply_still_comes(stack: Stack, server: FakeOpenAI) -> None:
    stack.server.kill()
    stack.settings.database.unlink()
    async with agents(stack) as found:
        await say(found, "one")
        reply = await say(found, "two")
        assert seen(server) == ["one", "You said: one", "two"]
        assert {note.part for note in reply.degraded} == {"tail", "store"} and reply.durable
    stack.server.start()


def _open(connection: apsw.Connection) -> bool:
    try:
        connection.total_changes()
    except apsw.ConnectionClosedError:
        return False
    return True
