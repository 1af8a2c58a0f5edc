"""Scopes, sessions, messages, runs and counters: what is written comes back, and only to whom it belongs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.types import Scope
from store import counters, messages, runs, scopes, sessions
from store.db import Database
from store.errors import NotFound, StoreConflict
from store.messages import NEEDS_NONE
from store.sessions import SessionRow
from tests.unit.store_support import NOW, opened, say, session, texts_of

ALICE = Scope("alice", session_id="s")
BOB = Scope("bob", session_id="b")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as opened_db:
        yield opened_db


def test_a_scope_is_one_number_for_good(db: Database) -> None:
    with db.atomic():
        first = scopes.scope_id(db, "default", "alice")
        assert scopes.scope_id(db, "default", "alice") == first
        assert scopes.scope_id(db, "other", "alice") != first
    assert scopes.find_scope(db, ALICE) == first
    assert scopes.find_scope(db, Scope("nobody")) is None


def test_a_session_comes_back_as_it_was_saved(db: Database) -> None:
    row = session(db, ALICE)
    row.open_turn, row.turn_count, row.open_turn_id = 3, 3, "t-3"
    row.open_tool_calls = ("call-1", "call-2")
    row.last_seq, row.token_count, row.reset_seq, row.ended_at = 9, 120, 4, NOW
    sessions.save_many(db, [row])
    assert sessions.load_many(db, [("default", "s"), ("default", "absent")]) == {("default", "s"): row}
    assert sessions.get(db, ALICE) == row


def test_a_session_id_is_unique_within_its_namespace(db: Database) -> None:
    row = session(db, ALICE)
    with pytest.raises(StoreConflict):
        sessions.create(db, SessionRow("default", "s", row.scope_id, NOW, NOW))
    sessions.create(db, SessionRow("other", "s", row.scope_id, NOW, NOW))


def test_a_session_shows_itself_to_its_owner_or_if_shared(db: Database) -> None:
    session(db, ALICE)
    session(db, Scope("alice", session_id="open"), shared=True)
    assert sessions.get(db, Scope("bob", session_id="s")) is None
    assert sessions.get(db, Scope("bob", session_id="open")) is not None
    assert sessions.get(db, Scope("alice", "other", session_id="s")) is None
    assert [s.session_id for s in sessions.list_sessions(db, Scope("alice"), 10)] == ["open", "s"]
    assert sessions.list_sessions(db, Scope("bob"), 10) == []


def test_idle_sessions_are_those_with_unfinished_turns(db: Database) -> None:
    for name, last, open_turn, count, extracted in (
        ("idle", 10.0, 1, 1, 0),
        ("busy", 99.0, 1, 1, 0),
        ("done", 10.0, None, 2, 2),
        ("unextracted", 5.0, None, 2, 1),
    ):
        row = session(db, Scope("alice", session_id=name))
        row.last_activity, row.open_turn, row.turn_count, row.extracted_turn = last, open_turn, count, extracted
        sessions.save_many(db, [row])
    assert [s.session_id for s in sessions.idle_open(db, 50.0, 10)] == ["unextracted", "idle"]
    assert len(sessions.idle_open(db, 50.0, 1)) == 1


def test_the_window_is_the_newest_oldest_first(db: Database) -> None:
    say(db, ALICE, *(f"message {n}" for n in range(1, 6)), metadata='{"sql": "SELECT 1"}')
    found = messages.window(db, ALICE, 3)
    assert texts_of(found) == ["message 3", "message 4", "message 5"]
    assert found[0].session_id == "s" and found[0].seq == 3 and found[0].event_id == "s-3"
    assert found[0].metadata == {"sql": "SELECT 1"}
    assert texts_of(messages.window(db, ALICE, 10, min_seq=4)) == ["message 5"]
    assert messages.window(db, Scope("alice"), 10) == []
    assert messages.window(db, Scope("bob", session_id="s"), 10) == []


def test_the_window_starts_after_a_reset(db: Database) -> None:
    say(db, ALICE, "one", "two", "three")
    row = session(db, ALICE)
    row.reset_seq = 2
    sessions.save_many(db, [row])
    assert texts_of(messages.window(db, ALICE, 10)) == ["three"]
    assert texts_of(messages.window(db, ALICE, 10, min_seq=1)) == ["three"]


def test_messages_by_ids_stay_in_scope_and_order(db: Database) -> None:
    mine = say(db, ALICE, "one", "two")
    theirs = say(db, BOB, "secret")
    elsewhere = say(db, Scope("alice", session_id="t"), "three")
    found = messages.by_ids(db, Scope("alice"), [elsewhere[0], mine[1], theirs[0], mine[0], 999])
    assert texts_of(found) == ["three", "two", "one"]
    assert texts_of(messages.by_ids(db, ALICE, [elsewhere[0], mine[1]])) == ["two"]
    assert messages.by_ids(db, Scope("nobody"), mine) == []
    assert messages.by_ids(db, ALICE, []) == []


def test_turns_and_texts_for_the_workers(db: Database) -> None:
    first = say(db, ALICE, "question", metadata='{"name": "Ann"}')
    say(db, ALICE, "answer", role="assistant")
    say(db, ALICE, "next", turn=2)
    row = session(db, ALICE)
    assert texts_of(messages.turn(db, row.id, 1)) == ["question", "answer"]
    text = messages.contents(db, [first[0], 999])[first[0]]
    assert (text.name, text.content, text.role, text.session_pk) == ("Ann", "question", "user", row.id)
    assert messages.has_event(db, "default", "s-1") and not messages.has_event(db, "other", "s-1")
    assert messages.stored_events(db, "default", ["s-1", "s-3", "absent"]) == {"s-1", "s-3"}
    assert messages.stored_events(db, "other", ["s-1"]) == set()


def test_a_message_id_never_comes_back(db: Database) -> None:
    ids = say(db, ALICE, "one", "two")
    db.script("erase", f"DELETE FROM main_messages WHERE id = {ids[-1]}")
    assert messages.next_message_id(db) == ids[-1] + 1
    assert say(db, BOB, "three", has_embedding=NEEDS_NONE) == [ids[-1] + 1]


def test_a_seq_stands_once(db: Database) -> None:
    say(db, ALICE, "one")
    row = session(db, ALICE)
    row.last_seq = 0
    sessions.save_many(db, [row])
    with pytest.raises(StoreConflict):
        say(db, ALICE, "another one")
    assert texts_of(messages.window(db, ALICE, 10)) == ["one"]


def test_a_run_starts_and_ends_once(db: Database) -> None:
    row = session(db, ALICE)
    started: dict[str, Any] = {
        "session_pk": row.id,
        "scope_id": row.scope_id,
        "run_id": "r",
        "agent_id": "researcher",
        "started_at": NOW,
    }
    pk = runs.start(db, brief="find it", metadata={"depth": 1}, **started)
    assert runs.start(db, brief="again", **started) == pk == runs.find(db, row.id, "r")
    said: dict[str, Any] = {"token_count": 2, "occurred_at": NOW}
    assert runs.add_message(db, pk, event_id="e1", role="user", content="find it", **said) == 1
    assert runs.add_message(db, pk, event_id="e2", role="assistant", content="fo", cut=True, **said) == 2
    assert runs.finish(db, pk, status="completed", report="found", finished_at=NOW + 1)
    assert not runs.finish(db, pk, status="failed", report="no", finished_at=NOW + 2)
    found = runs.get(db, ALICE, "r")
    assert (found.brief, found.report, found.status) == ("find it", "found", "completed")
    assert found.metadata == {"depth": 1}
    assert [(m.seq, m.cut) for m in runs.messages(db, ALICE, "r")] == [(1, False), (2, True)]
    assert runs.list_runs(db, Scope("alice"), 10) == runs.list_runs(db, ALICE, 10) == [found]


def test_a_run_belongs_to_its_scope(db: Database) -> None:
    row = session(db, ALICE)
    runs.start(db, session_pk=row.id, scope_id=row.scope_id, run_id="r", agent_id="a", brief="secret", started_at=NOW)
    for stranger in (Scope("bob", session_id="s"), Scope("alice", session_id="t"), Scope("alice", "other", "s")):
        with pytest.raises(NotFound):
            runs.get(db, stranger, "r")
    assert runs.list_runs(db, Scope("bob"), 10) == []
    assert runs.find(db, row.id, "absent") is None


def test_counters_count_what_was_committed(db: Database) -> None:
    counters.bump(db, "stored", 5)
    counters.bump(db, "stored")
    with pytest.raises(RuntimeError), db.atomic():
        counters.bump(db, "stored", 100)
        raise RuntimeError
    assert counters.all_counters(db) == {"stored": 6}
