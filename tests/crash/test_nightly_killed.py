"""The nightly run is killed at every one of its moments, twice over; what is left in the end is what a run without
kills leaves."""

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory.nights import Night
from memory.retention import Policy
from store.archive import Archive
from store.archive_folder import LocalArchive
from store.nightly import Nightly, Rules
from store.nightly_steps import steps
from store.opening import open_database
from store.processes import this_process
from tests.crash.nightly_store import NIGHT_AT, RETENTION, RULES, fill, state
from tests.crash.workload import marker
from tests.stack import Stack
from tests.unit.store_support import Clock

NIGHT = Night("2024-12-19", NIGHT_AT)
_FORK = multiprocessing.get_context("fork")


def run(folder: Path, reach: Callable[[str], None], slept: Callable[[float], None] = lambda _: None) -> None:
    clock = Clock(NIGHT_AT + 60)
    with open_database(folder / "sidestream.db", gate=True, clock=clock) as db:
        archive = Archive(db, LocalArchive(folder / "archive"))
        rules = Rules(Policy.of(RULES), batch=10, pause=0.0)
        nightly = Nightly(archive, steps(), rules, owner=this_process(), clock=clock, sleep=slept, reach=reach)
        found = nightly.run(NIGHT)
        assert found is not None
        assert (found.state, found.failed) == ("done", {})


def killed_at(folder: Path, moment: str) -> int | None:
    """Runs the night in a process that kills itself at `moment`; its exit code."""

    def reach(name: str) -> None:
        if name == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    process = _FORK.Process(target=run, args=(folder, reach))
    process.start()
    process.join(60)
    return process.exitcode


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    fill(folder)
    return folder


@pytest.fixture(scope="module")
def moments(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    folder = copied(filled, tmp_path_factory.mktemp("moments"))
    seen: list[str] = []
    run(folder, seen.append)
    yield list(dict.fromkeys(seen))


def copied(filled: Path, folder: Path) -> Path:
    shutil.copytree(filled, folder, dirs_exist_ok=True)
    return folder


def test_killed_at_every_moment_twice_over(filled: Path, moments: list[str], tmp_path: Path) -> None:
    plain = copied(filled, tmp_path / "plain")
    run(plain, lambda _: None)
    expected = state(plain)
    assert expected["files"]
    assert len(moments) > 3 * len(steps())
    for moment in moments:
        folder = copied(filled, tmp_path / moment)
        assert killed_at(folder, moment) == -signal.SIGKILL, moment
        # What was committed is not repeated, so that the moment may not come again.
        assert killed_at(folder, moment) in (-signal.SIGKILL, 0), moment
        run(folder, lambda _: None)
        found = state(folder)
        assert {k for k in expected if found[k] != expected[k]} == set(), moment


def test_a_kill_after_each_slice_still_gets_through(filled: Path, tmp_path: Path) -> None:
    """Every process lives for one slice alone."""
    plain, folder = copied(filled, tmp_path / "plain"), copied(filled, tmp_path / "killed")
    run(plain, lambda _: None)

    def reach(name: str) -> None:
        if name.endswith(".committed"):
            os.kill(os.getpid(), signal.SIGKILL)

    for _ in range(500):
        process = _FORK.Process(target=run, args=(folder, reach))
        process.start()
        process.join(60)
        if process.exitcode == 0:
            break
    assert process.exitcode == 0
    assert state(folder) == state(plain)


@pytest.mark.parametrize("moment", ["messages.prepared", "messages.applied", "facts.committed"])
def test_a_worker_killed_at_a_moment_with_two_beats_runs_the_night_once(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIDESTREAM_RETENTION", RETENTION)
    fault, reached = marker(tmp_path, f"nightly.{moment}")
    (tmp_path / "data").mkdir()
    fill(tmp_path / "data")
    with Stack(tmp_path, nightly_batch=10, nightly_pause=0.0) as stack:
        stack.start_tasks("armed", queues="maintain", fault=fault)
        stack.start_beat("one")
        stack.start_beat("two")
        stack.wait(reached.exists, "the worker has been killed")
        stack.start_tasks("other", queues="maintain")
        stack.wait(lambda: stack.rows("SELECT 1 FROM nightly_runs WHERE state = 'done'"), "the night is done")
        assert stack.rows("SELECT count(*) FROM nightly_runs") == [(1,)]
        assert stack.rows("SELECT seen, archived, deleted FROM nightly_steps WHERE step = 'messages'") == [(50, 50, 0)]
        assert stack.rows("SELECT sum(row_count) FROM archives WHERE kind = 'message'") == [(50,)]
        assert stack.rows("SELECT count(*) FROM main_messages") == [(0,)]
