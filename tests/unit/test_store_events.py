"""The ledger of events, the state of one, and dead letters."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.types import Scope
from store import dead_letters, events, health, jobs, messages
from store.db import Database
from store.errors import NotFound, StoreConflict
from store.events import EventRow, EventState
from store.messages import NEEDS_NONE
from tests.unit.store_support import NOW, Clock, opened, say, summarise

ALICE = Scope("alice", session_id="s")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as opened_db:
        yield opened_db


def state(db: Database, event_id: str, namespace: str = "default") -> str | None:
    found = events.event_state(db, namespace, event_id)
    return None if found is None else found.state


def test_an_event_is_recorded_once(db: Database) -> None:
    row = EventRow("default", "e", "message", "digest", "1-0", NOW)
    events.record(db, [row])
    assert events.seen(db, "default", "e") == "digest"
    assert events.seen(db, "other", "e") is None
    assert events.seen_many(db, [("default", "e"), ("default", "f")]) == {("default", "e"): "digest"}
    with pytest.raises(StoreConflict):
        events.record(db, [row])


def test_the_state_follows_the_rows(db: Database) -> None:
    assert state(db, "s-1") is None
    [message] = say(db, ALICE, "long enough to be embedded")
    assert state(db, "s-1") == "stored"
    messages.mark_embedded(db, [message])
    assert state(db, "s-1") == "embedded"
    summarise(db, ALICE, 1, "what it was about")
    assert state(db, "s-1") == "summarised"
    assert state(db, "s-1", "other") is None


def test_each_step_is_told_by_itself(db: Database) -> None:
    say(db, ALICE, "not embedded yet")
    summarise(db, ALICE, 1, "but summarised")
    assert events.event_state(db, "default", "s-1") == EventState("message", "stored", True, False, True)


def test_what_needs_no_embedding_counts_as_embedded(db: Database) -> None:
    say(db, ALICE, "short", has_embedding=NEEDS_NONE)
    assert state(db, "s-1") == "embedded"


def test_a_message_outside_any_turn_needs_no_summary(db: Database) -> None:
    say(db, ALICE, "a system message before all", turn=0, role="system", has_embedding=NEEDS_NONE)
    assert state(db, "s-1") == "summarised"


def test_an_event_that_is_no_message_is_stored_and_that_is_all(db: Database) -> None:
    events.record(db, [EventRow("default", "end", "session.ended", "d", "1-0", NOW)])
    assert events.event_state(db, "default", "end") == EventState("session.ended", "stored", True)


def test_the_same_event_id_in_two_namespaces_is_two_events(db: Database) -> None:
    say(db, ALICE, "here")
    say(db, Scope("alice", "other", session_id="s"), "there", has_embedding=NEEDS_NONE)
    assert state(db, "s-1") == "stored"
    assert state(db, "s-1", "other") == "embedded"


def test_a_dead_event_says_why_until_it_is_resolved(db: Database) -> None:
    letter = dead_letters.bury(db, "event", "5-0", "default", "role: missing", {"type": "message", "id": "e"}, NOW)
    found = events.event_state(db, "default", "e")
    assert found == EventState("message", "dead", reason="role: missing")
    assert state(db, "e", "other") is None
    dead_letters.mark(db, letter, "discarded", NOW)
    assert state(db, "e") is None


def test_a_dead_repeat_leaves_the_stored_event_alone(db: Database) -> None:
    say(db, ALICE, "the first")
    dead_letters.bury(db, "event", "5-0", "default", "other content", {"type": "message", "id": "s-1"}, NOW)
    assert state(db, "s-1") == "stored"


def test_an_entry_without_an_id_is_known_by_its_own(db: Database) -> None:
    dead_letters.bury(db, "event", "5-0", "default", "no type", {"content": "hi"}, NOW)
    assert events.event_state(db, "default", "5-0") == EventState("", "dead", reason="no type")


def test_dead_letters_are_kept_listed_and_marked(db: Database) -> None:
    first = dead_letters.bury(db, "event", "1-0", "default", "bad", {"a": "ü"}, NOW)
    second = dead_letters.bury(db, "job", "7", "other", "worse", {"kind": "embed"}, NOW)
    assert dead_letters.bury(db, "event", "1-0", "default", "still bad", {"a": "ü"}, NOW + 1) == first
    assert dead_letters.count(db) == 2
    letter = dead_letters.get(db, first)
    assert (letter.reason, letter.body, letter.created_at, letter.updated_at) == ("still bad", {"a": "ü"}, NOW, NOW + 1)
    assert [x.id for x in dead_letters.list_dead(db)] == [second, first]
    assert [x.id for x in dead_letters.list_dead(db, source="job")] == [second]
    assert [x.id for x in dead_letters.list_dead(db, namespace="default")] == [first]
    assert [x.id for x in dead_letters.list_dead(db, limit=1, before_id=second)] == [first]
    dead_letters.mark(db, second, "replayed")
    assert dead_letters.count(db) == 1
    assert [x.status for x in dead_letters.list_dead(db, status=None)] == ["replayed", "dead"]
    with pytest.raises(NotFound):
        dead_letters.get(db, 99)
    with pytest.raises(NotFound):
        dead_letters.mark(db, 99, "replayed")


def test_lag_counts_what_is_owed_by_kind(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock) as db:
        assert health.lag(db, None, NOW) == health.Lag({}, 0.0)
        for number in range(3):
            jobs.owe(db, "embed", str(number), "default", due_at=NOW, now=NOW - number)
        jobs.owe(db, "summarise", "s:1", "other", due_at=NOW + 100, now=NOW - 50)
        jobs.owe(db, "extract", "s:1", "default", due_at=NOW, now=NOW, state="deferred")
        jobs.claim(db, "embed", limit=1, lease=60, now=NOW, token="t")
        assert health.lag(db, None, NOW) == health.Lag({"embed": 3, "summarise": 1}, 50.0)
        assert health.lag(db, ALICE, NOW) == health.Lag({"embed": 3}, 2.0)
        assert health.lag(db, Scope("a", "nowhere"), NOW) == health.Lag({}, 0.0)


def test_lag_stops_counting_a_long_backlog(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "COUNTED", 10)
    jobs.owe_many(db, [jobs.JobRow("embed", str(n), "default", NOW, NOW) for n in range(50)])
    assert health.lag(db, None, NOW).owed == {"embed": 10}
