"""Transactions, savepoints, what runs after a commit, and the pragmas of every connection."""

import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from store import counters
from store.db import Database
from store.errors import StoreBusy, StoreConflict, StoreError, StoreUnavailable
from store.gate import Gate
from store.opening import open_database
from tests.unit.store_support import opened


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as opened_db:
        yield opened_db


@pytest.mark.parametrize(("synchronous", "value"), [("NORMAL", 1), ("FULL", 2)])
def test_every_connection_has_its_pragmas(tmp_path: Path, synchronous: str, value: int) -> None:
    opened(tmp_path).close()
    with Database.open(tmp_path / "sidestream.db", synchronous="FULL" if value == 2 else "NORMAL") as db:
        assert db.pragma("journal_mode") == "wal"
        assert db.pragma("foreign_keys") == 1
        assert db.pragma("synchronous") == value
        assert db.pragma("busy_timeout") == 5_000
        assert db.pragma("query_only") == 0
        assert db.has_vec


def test_the_files_are_their_owners_alone(tmp_path: Path) -> None:
    with open_database(tmp_path / "new" / "test.db", gate=True) as found:
        counters.bump(found, "a")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "new").iterdir()}
    assert modes == {f"test.db{end}": 0o600 for end in ("", "-wal", "-shm", ".gate")}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_a_reader_cannot_write(db: Database) -> None:
    counters.bump(db, "a")
    with Database.open(db.path, readonly=True) as reader:
        assert reader.pragma("query_only") == 1
        assert counters.all_counters(reader) == {"a": 1}
        with pytest.raises(StoreUnavailable):
            counters.bump(reader, "a")


def test_a_failed_transaction_leaves_nothing(db: Database) -> None:
    with pytest.raises(RuntimeError), db.atomic():
        counters.bump(db, "a")
        raise RuntimeError
    assert not db.in_transaction
    assert counters.all_counters(db) == {}


def test_a_nested_failure_undoes_only_the_inner_part(db: Database) -> None:
    with db.atomic():
        counters.bump(db, "outer")
        with pytest.raises(RuntimeError), db.atomic():
            counters.bump(db, "inner")
            with db.atomic():
                counters.bump(db, "innermost")
            raise RuntimeError
        with db.atomic():
            counters.bump(db, "second")
    assert counters.all_counters(db) == {"outer": 1, "second": 1}


def test_an_outer_failure_undoes_released_savepoints(db: Database) -> None:
    with pytest.raises(RuntimeError), db.atomic():
        with db.atomic():
            counters.bump(db, "inner")
        raise RuntimeError
    assert counters.all_counters(db) == {}


def test_follow_ups_run_after_the_outermost_commit_in_order(db: Database) -> None:
    ran: list[str] = []

    def note(name: str) -> None:
        assert not db.in_transaction
        ran.append(name)

    with db.atomic():
        db.after_commit(lambda: note("first"))
        with db.atomic():
            db.after_commit(lambda: note("second"))
        with pytest.raises(RuntimeError), db.atomic():
            db.after_commit(lambda: note("of a savepoint that was undone"))
            raise RuntimeError
        assert ran == []
    assert ran == ["first", "second"]


def test_follow_ups_of_a_rolled_back_transaction_never_run(db: Database) -> None:
    ran: list[str] = []
    with pytest.raises(RuntimeError), db.atomic():
        db.after_commit(lambda: ran.append("lost"))
        raise RuntimeError
    with db.atomic():
        counters.bump(db, "a")
    assert ran == []


def test_a_follow_up_that_fails_does_not_stop_the_others(db: Database) -> None:
    ran: list[str] = []

    def broken() -> None:
        raise RuntimeError("of a follow-up")

    with pytest.raises(RuntimeError, match="of a follow-up"), db.atomic():
        counters.bump(db, "a")
        db.after_commit(broken)
        db.after_commit(lambda: ran.append("after it"))
    assert ran == ["after it"]
    assert counters.all_counters(db) == {"a": 1}


def test_a_follow_up_outside_a_transaction_runs_at_once(db: Database) -> None:
    ran: list[str] = []
    db.after_commit(lambda: ran.append("now"))
    assert ran == ["now"]


def test_a_snapshot_sees_one_state(db: Database) -> None:
    counters.bump(db, "a")
    with Database.open(db.path, readonly=True) as reader:
        with reader.snapshot():
            before = counters.all_counters(reader)
            counters.bump(db, "a")
            with reader.snapshot():
                assert counters.all_counters(reader) == before == {"a": 1}
        assert counters.all_counters(reader) == {"a": 2}


@pytest.mark.parametrize("poll", [False, True])
def test_a_locked_file_is_busy_after_the_timeout(db: Database, poll: bool) -> None:
    with open_database(db.path, busy_timeout=0.1, poll_busy=poll) as other, db.atomic():
        counters.bump(db, "a")
        with pytest.raises(StoreBusy):
            counters.bump(other, "a")
        assert not other.in_transaction
        assert counters.all_counters(other) == {}
    assert counters.all_counters(db) == {"a": 1}


def test_a_writer_waits_for_the_lock(db: Database) -> None:
    inside, done = threading.Event(), threading.Event()

    def write() -> None:
        with open_database(db.path, poll_busy=True, busy_timeout=30.0) as other:
            inside.set()
            counters.bump(other, "a")
        done.set()

    with db.atomic():
        writer = threading.Thread(target=write)
        writer.start()
        assert inside.wait(30)
        counters.bump(db, "a")
        assert not done.wait(0.05)
    assert done.wait(30)
    writer.join()
    assert counters.all_counters(db) == {"a": 2}


def test_the_gate_lets_one_writer_through(db: Database) -> None:
    with (
        open_database(db.path, gate=True) as first,
        open_database(db.path, gate=True, busy_timeout=0.1) as second,
        first.atomic(),
    ):
        with first.atomic():
            counters.bump(first, "a")
        with pytest.raises(StoreBusy, match=r"\.gate"):
            counters.bump(second, "b")
    with open_database(db.path, gate=True, busy_timeout=0.1) as third:
        counters.bump(third, "c")


def test_a_time_limit_that_strikes_in_the_gate_leaves_it_open(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_database(db.path, gate=True) as first, open_database(db.path, gate=True, busy_timeout=0.1) as second:
        enter = Gate.enter

        def struck(gate: Gate) -> None:
            enter(gate)
            raise TimeoutError

        with monkeypatch.context() as patch, pytest.raises(TimeoutError):
            patch.setattr(Gate, "enter", struck)
            counters.bump(first, "a")
        counters.bump(second, "b")
        counters.bump(first, "c")
    assert counters.all_counters(db) == {"b": 1, "c": 1}


def test_the_gate_opens_after_a_failure(db: Database) -> None:
    with open_database(db.path, gate=True) as first, open_database(db.path, gate=True, busy_timeout=0.1) as second:
        with pytest.raises(RuntimeError), first.atomic():
            raise RuntimeError
        counters.bump(second, "a")


def test_statements_are_named(db: Database) -> None:
    with pytest.raises(StoreError, match="no statement is named nonsense"):
        db.run("nonsense")


def test_a_missing_parameter_is_an_error(db: Database) -> None:
    with pytest.raises(KeyError):
        db.run("counters_bump", name="a")


def test_a_broken_constraint_is_a_conflict(db: Database) -> None:
    row = ("n", "e", "message", "d", "1-0", 1.0)
    with pytest.raises(StoreConflict), db.atomic():
        db.many("events_record", [row, row])
    assert db.run("events_digests", ids='[["n", "e"]]') == []


@pytest.mark.parametrize("count", [0, 1, 20, 47])
def test_rows_that_are_inserted_together_are_all_there_or_none(db: Database, count: int) -> None:
    rows = [("n", f"e{number:02}", "message", "d", f"{number}-0", 1.0) for number in range(count)]
    assert db.insert("events_record", rows) == count
    stored = "SELECT namespace, event_id, type, digest, entry_id, stored_at FROM events ORDER BY event_id"
    assert db._execute("test", stored).fetchall() == rows
    more = [("n", f"f{number:02}", "message", "d", f"{number}-0", 1.0) for number in range(count)]
    with pytest.raises(StoreConflict):
        db.insert(
            "events_record", [*more, ("n", "e", "message", "d", "1-0", 1.0), ("n", "e", "message", "d", "1-0", 1.0)]
        )
    assert db._execute("test", stored).fetchall() == rows


def test_only_an_insert_of_values_is_made_for_several_rows(db: Database) -> None:
    with pytest.raises(StoreError, match="not of the form"):
        db.insert("messages_mark_embedded", [(1,)] * 100)


def test_rows_are_dicts_and_an_empty_answer_is_empty(db: Database) -> None:
    assert db.run("counters_all") == []
    counters.bump(db, "a", 3)
    assert db.run("counters_all") == [{"name": "a", "value": 3}]
    assert db.one("leases_get", name="none") is None
    assert db.value("scopes_find", namespace="n", user_id="u") is None


def test_a_closed_connection_is_unavailable(db: Database) -> None:
    db.close()
    with pytest.raises(StoreUnavailable):
        db.run("counters_all")
