"""Doctor, backup and restore: what disagrees is found and mended, and a copy is whole or says why not."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory.retention import Rule
from memory.types import Scope
from store import backup, dead_letters, fulltext, messages, spaces, tombstones, vectors
from store.archive import Archive
from store.archive_folder import LocalArchive
from store.archive_restore import Wanted, search
from store.db import Database
from store.doctor import examine
from store.errors import NotFound, StoreBusy, StoreCorrupt, StoreUnavailable
from store.opening import open_database
from store.tombstones import Marker
from tests.unit.nightly_support import archive_in, run_night
from tests.unit.store_support import NOW, Clock, opened, say, session, summarise, vector

ADA, BOB = Scope("ada", session_id="a"), Scope("bob", session_id="b")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    (tmp_path / "data").mkdir()
    with opened(tmp_path / "data") as found:
        yield found


@pytest.fixture
def archive(tmp_path: Path, db: Database) -> Archive:
    archive = archive_in(tmp_path / "data", db)
    for scope in (ADA, BOB):
        say(db, scope, "an old word about tea", "another old word")
    run_night(archive, Clock(), Rule("message", "archive", 180))
    space = spaces.ensure_space(db, "m", 8, NOW)
    for scope in (ADA, BOB):
        ids = say(db, scope, "green tea", "白茶和绿茶", "...")
        owner = session(db, scope)
        vectors.upsert(db, space, [("message", i, owner.scope_id, owner.id, vector(1.0, i)) for i in ids])
        messages.mark_embedded(db, ids)
        summarise(db, scope, 1, "about tea")
    return archive


def sql(text: str) -> Callable[[Database], None]:
    return lambda db: db.script("test", text)


DAMAGE = {
    "a message out of the index": (sql("DELETE FROM memory_fts WHERE rowid = 4 * 5"), "full text"),
    "a Chinese one": (sql("DELETE FROM memory_fts WHERE rowid = 4 * 6"), "full text"),
    "a summary out of the index": (sql("DELETE FROM memory_fts WHERE rowid = 4 * 1 + 1"), "full text"),
    "an index row too many": (lambda db: fulltext.index(db, [("message", 999, 1, "tea")]), "full text"),
    "a vector of nobody": (
        lambda db: vectors.upsert(db, spaces.all_spaces(db)[0], [("message", 999, 1, 1, vector(1.0))]),
        "vectors of m",
    ),
    "a vector without bits": (sql("DELETE FROM vec_1 WHERE key = 4 * 5"), "vectors of m"),
    "bits without a vector": (sql("DELETE FROM vec_1_floats WHERE key = 4 * 5"), "vectors of m"),
    "no vector at all": (
        sql("DELETE FROM vec_1 WHERE key = 4 * 5; DELETE FROM vec_1_floats WHERE key = 4 * 5"),
        "vectors",
    ),
    "a message that nobody embeds": (sql("UPDATE main_messages SET has_embedding = 0 WHERE id = 5"), "jobs"),
    "a turn that nobody summarises": (sql("DELETE FROM short_term_memories WHERE session_pk = 1"), "jobs"),
    "a wrong count": (sql("UPDATE sessions SET message_count = 77"), "sessions"),
}


def test_what_is_well_has_no_findings(archive: Archive) -> None:
    assert examine(archive, repair=False) == []


@pytest.mark.parametrize("damage", DAMAGE)
def test_it_is_found_and_mended(damage: str, archive: Archive, db: Database) -> None:
    harm, check = DAMAGE[damage]
    harm(db)
    found = examine(archive, repair=False)
    assert {f.check for f in found} >= {check}
    assert all(f.repairable and not f.repaired for f in found)
    assert all(f.repaired for f in examine(archive, repair=True))
    # A vector that is dropped is owed again, which the next look finds and mends.
    examine(archive, repair=True)
    assert examine(archive, repair=False) == []


def test_what_cannot_be_mended_is_said(archive: Archive, db: Database, tmp_path: Path) -> None:
    row = archive.files(kind="message")[0]
    (tmp_path / "data" / "archive" / row.location).unlink()
    (tmp_path / "data" / "archive" / "stray").write_bytes(b"x")
    db.script("harm", "PRAGMA foreign_keys = OFF; UPDATE main_messages SET session_pk = 99 WHERE id = 5")
    found = examine(archive, repair=True)
    assert {f.check for f in found if not f.repairable} == {"references", "archive"}
    assert any("is not there" in f.detail for f in found)


def corrupt(db: Database, table: str) -> None:
    """Writes nonsense over the table's first page, and closes the database."""
    root = db._execute("test", "SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchall()[0][0]
    db.tuples("wal_checkpoint")
    db.close()
    data = bytearray(db.path.read_bytes())
    start = (int(str(root)) - 1) * 4_096
    data[start : start + 64] = b"\xff" * 64
    db.path.write_bytes(data)


def test_a_corrupt_page_is_found_and_told_every_night_until_it_is_mended(
    tmp_path: Path, archive: Archive, db: Database
) -> None:
    whole = tmp_path / "backup"
    backup.backup(archive, whole, NOW)
    corrupt(db, "main_messages")
    clock = Clock()
    with Database.open(db.path) as broken:
        hurt = Archive(broken, archive.folder)
        found = examine(hurt, repair=True)
        assert [f.check for f in found] == ["integrity"]
        assert "restore a backup" in found[0].detail
        night = run_night(hurt, clock, Rule("message", "archive", 1), days=500)
        assert night.failed["integrity"].startswith("StoreCorrupt")
        assert night.failed["messages"].startswith("StoreCorrupt")
        assert {s.state for s in night.steps if s.step in ("summaries", "checkpoint")} == {"done"}
    backup.restore(whole, tmp_path / "new", erased_in=None, clock=clock)
    with open_database(tmp_path / "new" / "sidestream.db") as mended:
        assert run_night(archive_in(tmp_path / "new", mended), clock, days=500).failed == {}
        assert len(messages.window(mended, ADA, 10)) == 3


def test_a_backup_made_while_a_writer_writes_is_one_moment(archive: Archive, db: Database, tmp_path: Path) -> None:
    stop, written = threading.Event(), threading.Event()

    def write() -> None:
        with open_database(db.path, busy_timeout=30.0) as other:
            while not stop.is_set():
                say(other, BOB, "one more")
                written.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert written.wait(30)
        made = backup.backup(archive, tmp_path / "backup", NOW)
    finally:
        stop.set()
        writer.join()
    assert (made.archive_files, made.missing) == (1, ())
    assert backup.check(tmp_path / "backup")["schema"] >= 6
    backup.restore(tmp_path / "backup", tmp_path / "new", erased_in=None, clock=Clock())
    with open_database(tmp_path / "new" / "sidestream.db") as copy:
        restored = archive_in(tmp_path / "new", copy)
        found = [f for f in examine(restored, repair=False) if f.check != "jobs"]
        assert found == []
        assert [m.content for m in messages.window(copy, ADA, 10)] == ["green tea", "白茶和绿茶", "..."]
        assert len(search(restored, Wanted(ADA), [])) == 2


def test_a_backup_is_checked_before_it_is_restored(archive: Archive, tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    backup.backup(archive, folder, NOW)
    with pytest.raises(StoreUnavailable, match="is not empty"):
        backup.backup(archive, folder, NOW)
    with pytest.raises(NotFound, match="no backup"):
        backup.check(tmp_path)
    database = folder / "sidestream.db"
    database.write_bytes(database.read_bytes()[:-4_096])
    with pytest.raises(StoreCorrupt, match=r"sidestream\.db"):
        backup.restore(folder, tmp_path / "new", erased_in=None, clock=Clock())
    assert not (tmp_path / "new").exists()


def test_a_restore_never_lands_on_a_database(archive: Archive, tmp_path: Path) -> None:
    backup.backup(archive, tmp_path / "backup", NOW)
    with pytest.raises(StoreUnavailable, match="is there already"):
        backup.restore(tmp_path / "backup", tmp_path / "data", erased_in=None, clock=Clock())


def test_who_was_erased_after_the_backup_is_erased_from_it(archive: Archive, db: Database, tmp_path: Path) -> None:
    backup.backup(archive, tmp_path / "backup", NOW)
    marker = Marker.of(tmp_path / "data", create=True)
    tombstones.put(db, [marker.user("default", "ada"), marker.session("default", "a")], NOW + 5)
    again = backup.restore(tmp_path / "backup", tmp_path / "new", erased_in=tmp_path / "data", clock=Clock())
    assert again == 1
    with open_database(tmp_path / "new" / "sidestream.db") as copy:
        restored = archive_in(tmp_path / "new", copy)
        assert messages.window(copy, ADA, 10) == []
        assert len(messages.window(copy, BOB, 10)) == 3
        assert (len(search(restored, Wanted(ADA), [])), len(search(restored, Wanted(BOB), []))) == (0, 2)
        assert tombstones.Erased(copy).since("default", "ada", None, NOW)
        assert examine(restored, repair=False) == []


def test_a_backup_of_an_archive_in_a_bucket_leaves_it_there(db: Database, tmp_path: Path) -> None:
    class Elsewhere(LocalArchive):
        """Not a folder that is copied."""

    made = backup.backup(Archive(db, Elsewhere(tmp_path / "elsewhere")), tmp_path / "backup", NOW)
    assert (made.archive_files, made.missing) == (0, ())


def guest_archived(archive: Archive, db: Database) -> None:
    """Carol speaks in Bob's session, and has none of her own: once in the archive, once not."""
    db.script("shared", "UPDATE sessions SET shared = 1 WHERE session_id = 'b'")
    say(db, BOB, "carol's archived word", metadata='{"user_id": "carol"}')
    run_night(archive, Clock(), Rule("message", "archive", 180), days=410)
    say(db, BOB, "carol's word", metadata='{"user_id": "carol"}')
    dead_letters.bury(db, "event", "1", "default", "why", {"session_id": "a", "content": "ada's letter"}, NOW)


def test_guests_and_letters_do_not_come_back_with_a_backup(archive: Archive, db: Database, tmp_path: Path) -> None:
    guest_archived(archive, db)
    backup.backup(archive, tmp_path / "backup", NOW)
    marker = Marker.of(tmp_path / "data", create=True)
    tombstones.put(db, [marker.user("default", user) for user in ("ada", "carol")], NOW + 5)
    assert backup.restore(tmp_path / "backup", tmp_path / "new", erased_in=tmp_path / "data", clock=Clock()) == 2
    with open_database(tmp_path / "new" / "sidestream.db") as copy:
        assert "carol's word" not in [m.content for m in messages.window(copy, BOB, 10)]
        assert copy.value("dead_letters_count", status=None) == 0
        restored = archive_in(tmp_path / "new", copy)
        assert "carol's archived word" not in [i["row"]["content"] for i in search(restored, Wanted(BOB), [])]


def test_a_restore_into_the_folder_that_was_heeds_its_tombstones(
    archive: Archive, db: Database, tmp_path: Path
) -> None:
    """The database was lost or taken away; what says who was erased still lies there."""
    marker = Marker.of(tmp_path / "data", create=True)
    tombstones.put(db, [marker.user("default", "nobody")], NOW)
    backup.backup(archive, tmp_path / "backup", NOW)
    tombstones.put(db, [marker.user("default", "ada")], NOW + 5)
    db.close()
    (tmp_path / "data" / "sidestream.db").unlink()
    for erased_in in (tmp_path / "data", None):
        assert backup.restore(tmp_path / "backup", tmp_path / "data", erased_in=erased_in, clock=Clock()) == 1
        with open_database(tmp_path / "data" / "sidestream.db") as copy:
            assert messages.window(copy, ADA, 10) == []
            assert tombstones.Erased(copy).since("default", "ada", None, NOW)
        (tmp_path / "data" / "sidestream.db").unlink()


def test_a_backup_during_an_erasure_is_refused(
    archive: Archive, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_archive = backup._copy_archive

    def erased_meanwhile(folder: Path, source: object) -> tuple[int, list[str]]:
        marker = Marker.of(tmp_path / "data", create=True)
        tombstones.put(db, [marker.user("default", "ada")], NOW + 5)
        return copy_archive(folder, source)

    monkeypatch.setattr(backup, "_copy_archive", erased_meanwhile)
    with pytest.raises(StoreBusy, match="erased while"):
        backup.backup(archive, tmp_path / "backup", NOW)
    assert not (tmp_path / "backup").exists()
    assert db.tuples("backups_places") == []
