"""A fixed workload for the crash suite, and what must be true of it whatever happened on the way."""

import itertools
import random
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sidestream.keys import GROUP
from store import dead_letters, spaces, vectors
from tests.fake_openai import FakeOpenAI
from tests.stack import Setting, Stack

WORDS = (
    "river", "lantern", "copper", "meadow", "violin", "harbour", "saffron", "glacier", "pepper", "window",
    "castle", "orchard", "velvet", "thunder", "basket", "marble", "compass", "ribbon", "walnut", "feather",
)  # fmt: skip

_NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True)
class Workload:
    """Events in stream order, and per session the contents in the order in which they must be stored."""

    events: list[dict[str, str]]
    contents: dict[str, list[str]] = field(default_factory=dict)
    turns: int = 0


def workload(seed: int = 1, sessions: int = 3, turns: int = 6) -> Workload:
    """Interleaved sessions of closed turns, each event with an id of its own."""
    rng = random.Random(seed)
    queues = {
        f"s{number}": [
            (role, f"{role} {turn} of s{number}: " + " ".join(rng.choices(WORDS, k=8)))
            for turn in range(turns)
            for role in ("user", "assistant")
        ]
        for number in range(sessions)
    }
    events: list[dict[str, str]] = []
    contents: dict[str, list[str]] = defaultdict(list)
    while any(queues.values()):
        session = rng.choice([name for name, left in queues.items() if left])
        role, content = queues[session].pop(0)
        contents[session].append(content)
        events.append(
            {
                "type": "message",
                "id": f"event-{seed}-{len(events)}",
                "session_id": session,
                "user_id": f"user-of-{session}",
                "role": role,
                "content": content,
            }
        )
    return Workload(events, dict(contents), sessions * turns)


def publish(stack: Stack, events: list[dict[str, str]]) -> None:
    """As a publisher does it, in one step: each message on the stream and, under the same id, in its tail."""
    for event in events:
        fields: dict[Any, Any] = dict(event)
        entry = f"{int(time.time() * 1000)}-{next(_NUMBERS)}"
        pipe = stack.redis.pipeline(transaction=True)
        pipe.xadd(stack.keys.events, fields, id=entry)
        if event["type"] == "message":
            pipe.xadd(stack.keys.tail("default", event["session_id"]), fields, id=entry)
        pipe.execute()


def with_models(server: FakeOpenAI) -> dict[str, Setting]:
    """Settings that make the workers embed and summarise by the server."""
    return {
        "embed_provider": "openai",
        "embed_base_url": server.url,
        "embed_model": "fake-embedding",
        "embed_dimensions": server.dimensions,
        "chat_provider": "openai",
        "chat_base_url": server.url,
        "chat_model": "fake-chat",
    }


def marker(folder: Path, point: str, mode: str = "kill") -> tuple[str, Path]:
    """A fault for the stack, and the file that proves that it was reached."""
    path = folder / f"reached-{point}"
    return f"{point}:{path}:{mode}", path


def check(stack: Stack, work: Workload, *, dead: int = 0) -> None:
    """Each event stored once and in order, each closed turn summarised once, nothing owed, nothing left
    behind."""
    stored = stack.rows(
        "SELECT s.session_id, m.seq, m.event_id, m.content FROM main_messages m "
        "JOIN sessions s ON s.id = m.session_pk ORDER BY s.session_id, m.seq"
    )
    by_session: dict[str, list[str]] = defaultdict(list)
    for session, seq, _, content in stored:
        by_session[session].append(content)
        assert seq == len(by_session[session])
    assert by_session == work.contents
    assert sorted(row[2] for row in stored) == sorted(event["id"] for event in work.events)
    summaries = stack.rows("SELECT session_pk, turn_first, count(*) FROM short_term_memories GROUP BY 1, 2")
    assert len(summaries) == work.turns and all(count == 1 for _, _, count in summaries)
    with stack.database() as db:
        assert dead_letters.count(db) == dead
    check_indexes(stack)
    check_redis(stack)


def check_indexes(stack: Stack) -> None:
    """Full-text rows and vectors are those of the messages and of the summaries in recall, no more and no
    less."""
    (messages,) = stack.rows("SELECT count(*) FROM main_messages")[0]
    (summaries,) = stack.rows("SELECT count(*) FROM short_term_memories WHERE in_recall")[0]
    assert stack.rows("SELECT count(*) FROM memory_fts")[0][0] == messages + summaries
    with stack.database() as db:
        space = spaces.active_space(db)
        if space is None:
            assert stack.settings.embed_provider == "none"
            return
        marked = (
            "SELECT (SELECT sum(has_embedding = 1) FROM main_messages) "
            "+ (SELECT sum(has_embedding) FROM short_term_memories)"
        )
        assert vectors.count(db, space) == messages + summaries == stack.rows(marked)[0][0]


def check_redis(stack: Stack) -> None:
    """Stream, pending list and tails are empty, and the group has no consumer with a claim."""
    keys = stack.keys
    assert stack.redis.xlen(keys.events) == 0
    assert stack.redis.xpending(keys.events, GROUP)["pending"] == 0
    assert list(stack.redis.scan_iter(f"{keys.prefix}tail:*")) == []
