"""The spool on disk: order, bound, adoption, and what a killed process leaves behind."""

import json
import os
import signal
import stat
from pathlib import Path

import pytest

from sidestream.core import no_fault
from sidestream.errors import SpoolFull, SpoolUnavailable
from sidestream.flat import digest_of
from sidestream.script import Prepared
from sidestream.spool import Spool
from sidestream.spool_file import SpoolFile

MUCH = 1_000_000


def prepared(number: int, content: str = "hi") -> Prepared:
    fields = {"type": "message", "session_id": "s", "id": f"e{number}", "role": "user", "content": content}
    return Prepared(f"e{number}", fields, digest_of(fields))


def opened(folder: Path, max_bytes: int = MUCH) -> Spool:
    spool = Spool(folder, max_bytes, no_fault)
    spool.adopt()
    return spool


def take(spool: Spool, most: int) -> list[str]:
    """Replays up to `most` events."""
    waiting = spool.first(most)
    if waiting is None:
        return []
    spool.done(waiting, len(waiting.events))
    return [event.id for event in waiting.events]


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("spool-*"))


def test_events_come_out_as_they_went_in(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    events = [prepared(n, "a\nb\u2028c\x00 你好") for n in range(5)]
    spool.append(events[:2])
    spool.append(events[2:])
    assert spool.pending == 5
    waiting = spool.first(10)
    assert waiting is not None and waiting.events == events
    assert take(spool, 3) == ["e0", "e1", "e2"]
    assert take(spool, 3) == ["e3", "e4"]
    assert spool.first(3) is None and spool.pending == spool.size == 0


def test_what_is_partly_replayed_waits_from_there(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    spool.append([prepared(n) for n in range(5)])
    waiting = spool.first(5)
    assert waiting is not None
    spool.done(waiting, 2)
    assert take(spool, 5) == ["e2", "e3", "e4"]


def test_only_the_owner_may_read_a_spool_file(tmp_path: Path) -> None:
    opened(tmp_path).append([prepared(1)])
    assert stat.S_IMODE(files(tmp_path)[0].stat().st_mode) == 0o600
    assert stat.S_IMODE(opened(tmp_path / "new").directory.stat().st_mode) == 0o700


def test_a_full_spool_takes_all_or_none(tmp_path: Path) -> None:
    line = len(json.dumps(prepared(1).fields)) + 1
    spool = opened(tmp_path, 3 * line)
    spool.append([prepared(1), prepared(2)])
    with pytest.raises(SpoolFull, match=f"holds {2 * line} of at most {3 * line} bytes; 2 events of {2 * line}"):
        spool.append([prepared(3), prepared(4)])
    spool.append([prepared(3)])
    assert take(spool, 10) == ["e1", "e2", "e3"]
    spool.append([prepared(4)])


def test_a_living_publisher_keeps_its_file(tmp_path: Path) -> None:
    one = opened(tmp_path)
    one.append([prepared(1)])
    two = opened(tmp_path)
    assert two.pending == 0
    one.close()
    two.adopt()
    assert take(two, 10) == ["e1"]
    assert files(tmp_path) == []


def test_adopted_files_go_first_and_by_age(tmp_path: Path) -> None:
    for number in range(3):
        spool = opened(tmp_path / str(number))
        spool.append([prepared(number)])
        spool.close()
        files(tmp_path / str(number))[0].rename(tmp_path / f"spool-{9 - number}.jsonl")
    spool = opened(tmp_path)
    spool.append([prepared(3)])
    assert [*take(spool, 9), *take(spool, 9), *take(spool, 9), *take(spool, 9)] == ["e2", "e1", "e0", "e3"]


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_a_line_torn_by_a_kill_is_dropped_and_no_other(tmp_path: Path, cut: int) -> None:
    spool = opened(tmp_path)
    spool.append([prepared(n) for n in range(3)])
    spool.close()
    path = files(tmp_path)[0]
    os.truncate(path, path.stat().st_size - cut)
    again = opened(tmp_path)
    assert again.pending == 2
    assert take(again, 9) == ["e0", "e1"]


def test_a_torn_line_is_cut_off_before_anything_follows_it(tmp_path: Path) -> None:
    path = tmp_path / "spool-1.jsonl"
    path.write_bytes(b'{"id": "e1"}\n{"id": "e2')
    file = SpoolFile.adopt(path)
    assert file is not None and (file.lines, file.size) == (1, 13)
    file.append(b"{}\n", 1)
    assert path.read_bytes() == b'{"id": "e1"}\n{}\n'


@pytest.mark.parametrize(
    "line", [b"not json", b"[]", b'{"id": "e1"}', b'{"type": 1, "session_id": "s", "id": "e"}', b"\xff"]
)
def test_a_line_that_is_no_event_is_put_aside(tmp_path: Path, line: bytes, caplog: pytest.LogCaptureFixture) -> None:
    good = [json.dumps(prepared(n).fields).encode() for n in range(2)]
    (tmp_path / "spool-1.jsonl").write_bytes(b"\n".join([good[0], line, good[1], b""]))
    spool = opened(tmp_path)
    assert [take(spool, 9) for _ in range(3)] == [["e0"], [], ["e1"]]
    assert spool.pending == 0
    assert (tmp_path / "rejected.jsonl").read_bytes() == line + b"\n"
    assert stat.S_IMODE((tmp_path / "rejected.jsonl").stat().st_mode) == 0o600
    assert "spool_line_rejected" in caplog.text


def test_a_long_backlog_is_compacted_as_it_drains(tmp_path: Path) -> None:
    spool = opened(tmp_path, 10 * MUCH)
    spool.append([prepared(n, "x" * 10_000) for n in range(400)])
    path, before = files(tmp_path)[0], files(tmp_path)[0].stat().st_size
    taken: list[str] = []
    while len(taken) < 250:
        taken += take(spool, 25)
    assert path.stat().st_size < before / 2
    spool.append([prepared(400)])
    other = opened(tmp_path)
    assert other.pending == 0, "the lock moved to the new file"
    while more := take(spool, 25):
        taken += more
    assert taken == [f"e{n}" for n in range(401)]


def test_a_kill_in_the_middle_of_a_compaction_loses_nothing(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    spool.append([prepared(n) for n in range(3)])
    spool.close()
    path = files(tmp_path)[0]
    path.with_name(path.name + ".tmp").write_bytes(b'{"half": ')
    again = opened(tmp_path)
    assert files(tmp_path) == [path]
    assert take(again, 9) == ["e0", "e1", "e2"]


def test_a_file_that_somebody_deleted_is_still_replayed(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    spool.append([prepared(1)])
    files(tmp_path)[0].unlink()
    spool.append([prepared(2)])
    assert len(files(tmp_path)) == 1
    assert [take(spool, 1), take(spool, 1)] == [["e1"], ["e2"]]


def test_a_file_that_somebody_cut_is_an_error_and_no_endless_loop(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    spool.append([prepared(1)])
    os.truncate(files(tmp_path)[0], 0)
    with pytest.raises(SpoolUnavailable, match="shorter than what was written"):
        spool.first(1)


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_one_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SpoolUnavailable, match=f"spool folder {tmp_path / place}: "):
        opened(tmp_path / place)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write every folder")
def test_a_folder_without_rights_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(SpoolUnavailable, match="cannot be read and written by this user"):
        opened(tmp_path)


def test_a_full_disk_keeps_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = opened(tmp_path)
    spool.append([prepared(1)])
    size = files(tmp_path)[0].stat().st_size

    def no_space(fd: int, data: bytes, at: int) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", no_space)
        with pytest.raises(SpoolUnavailable, match="No space left"):
            spool.append([prepared(2)])
    assert files(tmp_path)[0].stat().st_size == size
    spool.append([prepared(3)])
    assert take(spool, 9) == ["e1", "e3"]


def test_a_forked_child_leaves_the_parents_file_alone(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    spool.append([prepared(1)])
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        spool.append([prepared(2)])
        os.write(writer, f"{spool.pending} {take(spool, 9)}".encode())
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"1 ['e2']"
    assert take(spool, 9) == ["e1"]


def test_a_child_that_lives_on_does_not_hold_the_parents_lock(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    spool.append([prepared(1)])
    reader, writer = os.pipe()
    lives, says = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(says, b"x")
        os.read(reader, 1)
        os._exit(0)
    os.read(lives, 1)
    spool.close()
    adopted = opened(tmp_path).pending
    os.write(writer, b"x")
    os.waitpid(child, 0)
    assert adopted == 1
