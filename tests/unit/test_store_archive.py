"""Archive files: written, verified, only then deleted from; damaged ones told, the rest read; and the way back."""

import random
from pathlib import Path

import pytest
import zstandard

from memory.retention import DAY, Rule
from memory.types import Scope
from store import fulltext, messages, spaces, vectors
from store.archive import Archive, Problem
from store.archive_file import checksum, decode, encode
from store.archive_folder import LocalArchive
from store.archive_restore import Wanted, restore, search
from store.db import Database
from store.errors import ArchiveDamaged, ArchiveUnavailable, StoreError
from tests.unit.nightly_support import archive_in, run_night
from tests.unit.store_support import NOW, Clock, opened, say, session, vector

ADA, BOB = Scope("ada", session_id="a"), Scope("bob", session_id="b")
HEADER = {"schema": 3, "namespace": "default", "kind": "message"}
RULE = Rule("message", "archive", 180)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def db(tmp_path: Path, clock: Clock) -> Database:
    return opened(tmp_path, clock)


@pytest.fixture
def archive(tmp_path: Path, db: Database) -> Archive:
    return archive_in(tmp_path, db)


def lines(count: int) -> list[dict[str, object]]:
    return [{"id": f"message:{i}", "row": {"content": f"茶 {i} {random.Random(i).random()}"}} for i in range(count)]


def test_a_file_is_json_lines_that_any_zstd_reads() -> None:
    data = encode(HEADER, lines(200))
    assert decode(data).items == lines(200)
    assert decode(data).header["rows"] == 200
    with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
        assert len(reader.read().splitlines()) == 201
    assert encode(HEADER, lines(200)) == data


@pytest.mark.parametrize("cut", [1, 10, 1_000])
def test_of_a_file_that_was_cut_the_rest_is_read(cut: int) -> None:
    data = encode(HEADER, lines(200))
    found = decode(data[:-cut])
    assert found.items == lines(len(found.items))
    assert 64 <= len(found.items) < 200
    assert any("items are missing" in reason for reason in found.damage)


def test_a_damaged_part_costs_itself_alone() -> None:
    data = bytearray(encode(HEADER, lines(200)))
    data[len(data) // 2] ^= 0xFF
    found = decode(bytes(data))
    assert 128 <= len(found.items) < 200
    assert found.items[-1] == lines(200)[-1]
    assert found.damage


def test_every_flipped_byte_is_noticed() -> None:
    data = encode(HEADER, lines(3))
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 0x01
        assert decode(bytes(flipped)).damage or decode(bytes(flipped)).items == lines(3), position


def test_rows_are_deleted_only_with_the_record_of_their_file(archive: Archive, db: Database) -> None:
    ids = say(db, ADA, "one", "two")
    written = archive.write("message", "default", ids)
    assert len(messages.window(db, ADA, 10)) == 2
    assert archive.strays() == [written.location]
    with db.atomic():
        archive.record(written, NOW)
    assert messages.window(db, ADA, 10) == []
    assert archive.strays() == []
    assert archive.verify() == []


def test_rows_that_changed_meanwhile_are_not_recorded(archive: Archive, db: Database) -> None:
    ids = say(db, ADA, "one", "two")
    written = archive.write("message", "default", ids)
    other = archive.write("message", "default", ids[:1])
    with db.atomic():
        archive.record(other, NOW)
    with pytest.raises(StoreError, match="1 of the message rows"), db.atomic():
        archive.record(written, NOW)
    assert [m.content for m in messages.window(db, ADA, 10)] == ["two"]
    with pytest.raises(StoreError, match="outside any transaction"), db.atomic():
        archive.write("message", "default", ids[1:])


class Forgetful(LocalArchive):
    """A folder that keeps only half of what it is given."""

    def put(self, name: str, data: bytes) -> None:
        super().put(name, data[: len(data) // 2])


def test_what_does_not_come_back_whole_is_not_deleted(tmp_path: Path, db: Database, clock: Clock) -> None:
    say(db, ADA, "one", "two")
    archive = Archive(db, Forgetful(tmp_path / "archive"))
    found = run_night(archive, clock, RULE)
    assert "ArchiveDamaged" in found.failed["messages"]
    assert found.state == "running"
    assert len(messages.window(db, ADA, 10)) == 2


def test_search_finds_a_users_own_and_nobody_elses(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, "green tea at noon", "nothing else")
    say(db, BOB, "green tea for Bob")
    run_night(archive, clock, RULE)
    problems: list[Problem] = []
    found = search(archive, Wanted(ADA, text="tea"), problems)
    assert [item["row"]["content"] for item in found] == ["green tea at noon"]
    assert search(archive, Wanted(Scope("ada", session_id="b"), text="tea"), problems) == []
    assert search(archive, Wanted(Scope("ada", "other"), text="tea"), problems) == []
    assert problems == []


def test_what_is_restored_is_as_it_was(archive: Archive, db: Database, clock: Clock) -> None:
    ids = say(db, ADA, "green tea at noon", "white tea at night", "no")
    space = spaces.ensure_space(db, "m", 8, NOW)
    vectors.upsert(db, space, [("message", i, 1, session(db, ADA).id, vector(1.0)) for i in ids[:2]])
    messages.mark_embedded(db, ids[:2])
    before = messages.window(db, ADA, 10)
    run_night(archive, clock, RULE)
    assert (messages.window(db, ADA, 10), fulltext.search(db, ADA, ["tea"], 5)) == ([], [])
    assert (vectors.count(db, space), session(db, ADA).message_count) == (0, 0)
    problems: list[Problem] = []
    found = restore(archive, Wanted(ADA), problems, until=clock.now + DAY, now=clock.now, embed_min_chars=10)
    assert (found.restored, found.present, found.refused, problems) == (3, 0, [], [])
    assert messages.window(db, ADA, 10) == before
    assert {c.id for c in fulltext.search(db, ADA, ["tea"], 5)} == set(ids[:2])
    assert session(db, ADA).message_count == 3
    owed = db._execute("test", "SELECT subject FROM jobs WHERE kind = 'embed' AND state = 'pending'").fetchall()
    assert [subject for (subject,) in owed] == [f"message:{i}" for i in ids[:2]]
    again = restore(archive, Wanted(ADA), problems, until=clock.now + DAY, now=clock.now, embed_min_chars=10)
    assert (again.restored, again.present) == (0, 3)


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(ADA, ids=frozenset({"message:2"})),
        Wanted(Scope("ada"), since=NOW + 2, until=NOW + 2),
        Wanted(ADA, text="white"),
    ],
)
def test_restored_by_id_time_and_words(archive: Archive, db: Database, clock: Clock, wanted: Wanted) -> None:
    say(db, ADA, "green tea at noon", "white tea at night", "black tea")
    run_night(archive, clock, RULE)
    restore(archive, wanted, [], until=clock.now, now=clock.now, embed_min_chars=10)
    assert [m.content for m in messages.window(db, ADA, 10)] == ["white tea at night"]


def test_what_is_restored_stays_for_its_time(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, "green tea")
    run_night(archive, clock, RULE, days=400)
    restore(archive, Wanted(ADA), [], until=clock.now + 30 * DAY, now=clock.now, embed_min_chars=10)
    run_night(archive, clock, RULE, days=429)
    assert len(messages.window(db, ADA, 10)) == 1
    run_night(archive, clock, RULE, days=431)
    assert messages.window(db, ADA, 10) == []
    assert len(search(archive, Wanted(ADA), [])) == 1


def test_a_damaged_file_is_told_and_the_others_are_read(tmp_path: Path, archive: Archive, db: Database) -> None:
    clock = Clock()
    say(db, ADA, *[f"tea number {i}" for i in range(300)])
    run_night(archive, clock, RULE, batch=100)
    first, second, third = archive.files(kind="message")
    path = tmp_path / "archive" / first.location
    path.write_bytes(path.read_bytes()[:-50])
    (tmp_path / "archive" / second.location).unlink()
    problems: list[Problem] = []
    found = search(archive, Wanted(ADA, text="tea"), problems)
    assert {p.location for p in problems} == {first.location, second.location}
    assert 164 <= len(found) < 200
    assert third.location not in {p.location for p in archive.verify()}


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "archive").write_text("a file stands where the folder should be")
    folder = LocalArchive(tmp_path / "archive")
    with pytest.raises(ArchiveUnavailable, match="cannot be written"):
        folder.put("a/b", b"x")
    with pytest.raises(ArchiveDamaged, match="is not there"):
        LocalArchive(tmp_path / "none").get("a")


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = LocalArchive(tmp_path / "archive")
    folder.put("a/b", b"x")
    assert (tmp_path / "archive" / "a" / "b").stat().st_mode & 0o077 == 0
    assert folder.names() == ["a/b"]
    assert checksum(folder.get("a/b")) == checksum(b"x")
    folder.delete("a/b")
    folder.delete("a/b")
    assert folder.names() == []
