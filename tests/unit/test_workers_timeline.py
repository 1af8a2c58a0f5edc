"""The timeline's entries of sessions: what they tell of, each turn once."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from store import timeline
from tests.unit.compaction_support import ANN, Session
from tests.unit.workers_support import message
from workers.outcomes import Done


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(tmp_path)
    yield made
    made.db.close()


def test_each_compaction_and_the_end_leave_an_entry_in_the_timeline(session: Session) -> None:
    session.say("The heron of Hven nests at pier four.", "Lovely.")
    session.chat(10)
    session.drain()
    session.bench.apply({"type": "session.ended", "session_id": "s1", "id": "end"})
    session.drain()
    session.bench.apply({"type": "session.ended", "session_id": "s1", "id": "again"})
    session.drain()
    entries = timeline.newest(session.db, ANN, level=None, start=0.0, end=1e12, limit=9)[::-1]
    assert [(e.seq_first, e.seq_last) for e in entries] == [(1, 6), (7, 12)]
    assert "heron of Hven" in entries[0].content and "m7" in entries[1].content


def test_a_turn_is_told_by_its_summary(session: Session) -> None:
    session.chat(12)
    session.rows(
        "INSERT INTO short_term_memories (session_pk, scope_id, turn_first, turn_last, content, source_count,"
        " confidence, method, occurred_at, created_at) VALUES (1, 1, 2, 2, 'Ana bought a boat', 2, 1, 'rules', 0, 0)"
    )
    session.drain()
    (entry,) = timeline.newest(session.db, ANN, level="session", start=0.0, end=1e12, limit=9)
    assert entry.content.splitlines()[1] == "Ana bought a boat"


def test_a_turn_that_goes_on_beyond_the_boundary_is_told_when_it_is_over(session: Session) -> None:
    session.chat(5)
    for number in range(9):
        session.bench.apply(message(content=f"more {number}", role="user"))
    session.drain()
    (first,) = timeline.newest(session.db, ANN, level="session", start=0.0, end=1e12, limit=9)
    assert (first.seq_first, first.seq_last) == (1, 4)
    session.bench.apply(message(content="answered", role="assistant"), {"type": "session.ended", "session_id": "s1"})
    session.drain()
    second, _ = timeline.newest(session.db, ANN, level="session", start=0.0, end=1e12, limit=9)
    assert (second.seq_first, second.seq_last) == (5, 15)


def test_what_another_worker_told_meanwhile_is_looked_at_again(session: Session) -> None:
    session.chat(12)
    slow, claimed = session.teller(), session.ended()
    outcomes = asyncio.run(slow.work(claimed))
    session.drain()
    with session.db.atomic():
        slow.write([o for o in outcomes if isinstance(o, Done)])
    assert slow.owes == 1
    session.drain()
    entries = timeline.newest(session.db, ANN, level="session", start=0.0, end=1e12, limit=9)[::-1]
    assert [(e.seq_first, e.seq_last) for e in entries] == [(1, 6), (7, 12)]
