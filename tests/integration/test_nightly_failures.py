"""A full disk, a folder that cannot be written, an archive that was cut: told, nothing lost, and work resumes."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory.retention import DAY, Rule
from memory.types import Scope
from store import messages
from store.archive import Archive
from store.archive_folder import LocalArchive
from store.archive_restore import Wanted, restore, search
from store.db import Database
from store.errors import StoreError
from store.nightly import RETRY_AFTER
from tests.unit.nightly_support import archive_in, run_night
from tests.unit.store_support import Clock, opened, say

ADA = Scope("ada", session_id="a")
RULE = Rule("message", "archive", 180)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def db(tmp_path: Path, clock: Clock) -> Iterator[Database]:
    with opened(tmp_path, clock) as found:
        say(found, ADA, *[f"tea number {i} {'long ' * 200}" for i in range(40)])
        yield found


def count(db: Database) -> int:
    return len(messages.window(db, ADA, 1_000))


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """A file system of its own of that size; skips where none may be mounted."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], capture_output=True)
    if done.returncode:
        if os.environ.get("CI") and os.geteuid() == 0:
            pytest.fail(f"a small file system could not be mounted: {done.stderr.decode()}")
        pytest.skip("no right to mount a small file system here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_under_the_archive_loses_nothing(db: Database, clock: Clock, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k"):
        (tmp_path / "disk" / "filler").write_bytes(os.urandom(64 * 1024))
        archive = Archive(db, LocalArchive(tmp_path / "disk" / "archive"))
        found = run_night(archive, clock, RULE)
        assert "No space left on device" in found.failed["messages"]
        assert found.state == "running"
        assert count(db) == 40
        (tmp_path / "disk" / "filler").unlink()
        clock.now += RETRY_AFTER
        again = run_night(archive, clock, RULE)
        assert (again.state, again.failed) == ("done", {})
        assert (count(db), archive.verify()) == (0, [])


def test_a_full_disk_under_the_database_loses_nothing(db: Database, clock: Clock, tmp_path: Path) -> None:
    archive = archive_in(tmp_path, db)
    pages = db.pragma("page_count")
    db.script("limit", f"PRAGMA max_page_count = {pages}")
    # The report's own rows need no new page; what restores a memory does.
    assert run_night(archive, clock, RULE).state == "done"
    db.script("limit", f"PRAGMA max_page_count = {db.pragma('page_count')}")
    with pytest.raises(StoreError, match="full"):
        restore(archive, Wanted(ADA), [], until=clock.now, now=clock.now, embed_min_chars=10)
    assert count(db) == 0
    db.script("limit", "PRAGMA max_page_count = 4294967294")
    restore(archive, Wanted(ADA), [], until=clock.now, now=clock.now, embed_min_chars=10)
    assert count(db) == 40


def test_a_read_only_folder_is_told_and_work_resumes(db: Database, clock: Clock, tmp_path: Path) -> None:
    archive = archive_in(tmp_path, db)
    with small_disk(tmp_path / "archive", "1m"):
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path / "archive")], check=True)
        found = run_night(archive, clock, RULE)
        assert "Read-only file system" in found.failed["messages"]
        assert count(db) == 40
        subprocess.run(["mount", "-o", "remount,rw", str(tmp_path / "archive")], check=True)
        clock.now += RETRY_AFTER
        assert run_night(archive, clock, RULE).state == "done"
        assert count(db) == 0


def test_a_truncated_archive_is_told_and_the_rest_comes_back(db: Database, clock: Clock, tmp_path: Path) -> None:
    archive = archive_in(tmp_path, db)
    run_night(archive, clock, RULE, batch=10)
    cut = archive.files(kind="message")[1]
    path = tmp_path / "archive" / cut.location
    whole = path.read_bytes()
    path.write_bytes(whole[:40])
    problems = archive.verify()
    assert {p.location for p in problems} == {cut.location}
    found = restore(archive, Wanted(ADA), problems, until=clock.now + DAY, now=clock.now, embed_min_chars=10)
    assert (found.restored, count(db)) == (30, 30)
    path.write_bytes(whole)
    assert archive.verify() == []
    restore(archive, Wanted(ADA), [], until=clock.now + DAY, now=clock.now, embed_min_chars=10)
    assert count(db) == 40
    assert len(search(archive, Wanted(ADA), [])) == 40
