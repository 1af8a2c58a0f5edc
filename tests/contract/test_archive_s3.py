"""The archive over a real S3-compatible server: the same as in a folder, and clear words when it is away."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.retention import DAY, Rule
from memory.types import Scope
from store import messages
from store.archive import Archive
from store.archive_file import decode, encode
from store.archive_restore import Wanted, restore, search
from store.errors import ArchiveDamaged, ArchiveUnavailable
from tests.contract.s3_server import S3Server, s3_server
from tests.unit.nightly_support import run_night
from tests.unit.store_support import Clock, opened, say

ADA = Scope("ada", session_id="a")
RULE = Rule("message", "archive", 180)


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server() as running:
        yield running


def test_files_go_there_and_come_back(server: S3Server) -> None:
    archive = server.archive("one")
    data = encode({"namespace": "n", "kind": "message"}, [{"id": "message:1", "row": {"content": "茶" * 100_000}}])
    archive.put("n/message/a.jsonl.zst", data)
    archive.put("n/message/a.jsonl.zst", data)
    assert decode(archive.get("n/message/a.jsonl.zst")).damage == []
    assert archive.names() == ["n/message/a.jsonl.zst"]
    assert server.archive("another").names() == []
    archive.delete("n/message/a.jsonl.zst")
    archive.delete("n/message/a.jsonl.zst")
    assert archive.names() == []
    with pytest.raises(ArchiveDamaged, match="is not there"):
        archive.get("n/message/a.jsonl.zst")


def test_a_wrong_secret_is_told_and_not_shown(server: S3Server) -> None:
    archive = server.archive("one", secret="not-the-secret")
    with pytest.raises(ArchiveUnavailable, match=r"s3://archive/one/x: cannot be written") as told:
        archive.put("x", b"x")
    assert "not-the-secret" not in str(told.value)


def test_a_night_archives_there_and_what_it_took_is_restored(server: S3Server, tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock) as db:
        say(db, ADA, "green tea", "white tea")
        archive = Archive(db, server.archive("nights"))
        assert run_night(archive, clock, RULE).state == "done"
        assert messages.window(db, ADA, 10) == []
        assert archive.verify() == []
        assert len(search(archive, Wanted(ADA, text="white"), [])) == 1
        restore(archive, Wanted(ADA), [], until=clock.now + DAY, now=clock.now, embed_min_chars=10)
        assert [m.content for m in messages.window(db, ADA, 10)] == ["green tea", "white tea"]


def test_while_it_is_away_nothing_is_deleted_and_then_work_resumes(tmp_path: Path) -> None:
    clock = Clock()
    with s3_server() as server, opened(tmp_path, clock) as db:
        say(db, ADA, "green tea")
        archive = Archive(db, server.archive("nights"))
        server.stop()
        found = run_night(archive, clock, RULE)
        assert "ArchiveUnavailable: s3://archive/nights" in found.failed["messages"]
        assert len(messages.window(db, ADA, 10)) == 1
        server.start()
        again = run_night(archive, clock, RULE)
        assert (again.state, again.failed) == ("done", {})
        assert messages.window(db, ADA, 10) == []
