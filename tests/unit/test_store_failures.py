"""A full disk, a damaged file, a folder that cannot be written: each has its own error, and nothing is half done."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from memory.types import Scope
from store import connection, counters, fulltext, spaces, vectors
from store.db import Database
from store.errors import (
    StoreBusy,
    StoreConflict,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreUnavailable,
    VectorsUnavailable,
    translate,
)
from store.gate import Gate
from store.opening import open_database
from tests.unit.store_support import NOW, opened, say, vector

ALICE = Scope("alice", session_id="s")


def test_a_full_disk_keeps_nothing_of_the_transaction(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        say(db, ALICE, "before")
        limit = db.pragma("page_count") + 8
        db.script("limit", f"PRAGMA max_page_count = {limit}")
        with pytest.raises(StoreFull):
            say(db, ALICE, *("word " * 2_000 for _ in range(50)))
        assert not db.in_transaction
        db.script("limit", "PRAGMA max_page_count = 1000000")
        assert [m.id for m in fulltext.search(db, ALICE, ["befor", "word"], 10)] == [1]
        say(db, ALICE, "after")
    with opened(tmp_path) as again:
        assert len(fulltext.search(again, ALICE, ["befor", "after"], 10)) == 2


def test_a_full_disk_inside_a_savepoint_ends_the_whole_transaction(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        db.script("limit", f"PRAGMA max_page_count = {db.pragma('page_count') + 4}")
        with pytest.raises(StoreFull), db.atomic():
            counters.bump(db, "a")
            with db.atomic():
                say(db, ALICE, *("word " * 2_000 for _ in range(50)))
        assert not db.in_transaction
        assert counters.all_counters(db) == {}


def test_a_damaged_page_is_told(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        say(db, ALICE, *(f"word {n}" for n in range(2_000)))
    path = tmp_path / "sidestream.db"
    size = path.stat().st_size
    with path.open("r+b") as file:
        for page in range(8, size // 4096):
            file.seek(page * 4096)
            file.write(os.urandom(512))
    with pytest.raises(StoreCorrupt), open_database(path) as db:
        db.run("messages_turn", session_pk=1, turn=1)


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "sidestream.db"
    path.write_bytes(b"this is a letter, not a database. " * 200)
    with pytest.raises(StoreCorrupt, match=r"sidestream\.db"):
        open_database(path)


def test_a_missing_file_is_unavailable_to_a_reader(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="absent"):
        Database.open(tmp_path / "absent.db", readonly=True)
    assert not (tmp_path / "absent.db").exists()


def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable):
        open_database(tmp_path / "file" / "sidestream.db")


@contextmanager
def nobody() -> Iterator[None]:
    """As a user whom permissions bind, since they do not bind root."""
    if os.getuid() != 0:
        yield
        return
    os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_read_only_folder_is_unavailable() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o555)
        with nobody(), pytest.raises(StoreUnavailable):
            open_database(folder / "sidestream.db")
        folder.chmod(0o700)


def test_a_gate_in_a_read_only_folder_is_unavailable() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o555)
        with nobody(), pytest.raises(StoreUnavailable):
            Gate(folder / "a.gate", 1.0).enter()
        folder.chmod(0o700)


def test_a_folder_in_place_of_the_file_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "sidestream.db").mkdir()
    with pytest.raises(StoreUnavailable):
        open_database(tmp_path / "sidestream.db")


def test_a_reader_makes_the_file_when_it_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "new" / "sidestream.db"
    with open_database(path, readonly=True) as db:
        assert counters.all_counters(db) == {}
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_without_sqlite_vec_all_but_vectors_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "sqlite_vec", None)
    with opened(tmp_path) as db:
        assert not db.has_vec
        say(db, ALICE, "tea with milk")
        assert len(fulltext.search(db, ALICE, ["tea"], 5)) == 1
        space = spaces.ensure_space(db, "m", 8, NOW)
        assert space.active
        assert vectors.knn(db, space, ALICE, vector(1), 5) == []
        assert vectors.fetch(db, space, "message", [1]) == {}
        assert vectors.count(db, space) == 0
        with pytest.raises(VectorsUnavailable):
            vectors.upsert(db, space, [("message", 1, 1, 1, vector(1))])
        with pytest.raises(VectorsUnavailable):
            vectors.remove(db, space, "message", [1])
    monkeypatch.undo()
    with opened(tmp_path) as healed:
        assert healed.has_vec
        same = spaces.ensure_space(healed, "m", 8, NOW)
        assert same == space
        vectors.upsert(healed, same, [("message", 1, 1, 1, vector(1))])
        assert vectors.count(healed, same) == 1


def test_a_sqlite_vec_that_does_not_load_is_as_good_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        @staticmethod
        def loadable_path() -> str:
            return str(tmp_path / "no-such-library")

    monkeypatch.setattr(connection, "sqlite_vec", Broken)
    with opened(tmp_path) as db:
        assert not db.has_vec
        say(db, ALICE, "tea")


def test_every_error_of_sqlite_has_its_own_here() -> None:
    cases: list[tuple[type[apsw.Error], type[StoreError]]] = [
        (apsw.BusyError, StoreBusy),
        (apsw.LockedError, StoreBusy),
        (apsw.FullError, StoreFull),
        (apsw.CorruptError, StoreCorrupt),
        (apsw.NotADBError, StoreCorrupt),
        (apsw.CantOpenError, StoreUnavailable),
        (apsw.ReadOnlyError, StoreUnavailable),
        (apsw.IOError, StoreUnavailable),
        (apsw.ConstraintError, StoreConflict),
        (apsw.SQLError, StoreError),
    ]
    for theirs, ours in cases:
        found = translate(theirs("why"), "here")
        assert type(found) is ours
        assert "here" in str(found) and "why" in str(found)
