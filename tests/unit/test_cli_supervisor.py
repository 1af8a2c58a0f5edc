"""The supervisor with small real programs: restarts, order of stopping, deadlines, leftovers."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.child import Backoff, Program
from cli.errors import AlreadyRunning
from cli.lock import FolderLock
from cli.processes import Ledger
from cli.supervisor import Supervisor
from store.processes import start_time

DEADLINE = 20.0
QUICK = Backoff(first=0.01, longest=0.02, steady=30.0)

# The block keeps sigwait from racing the default action of a signal that comes early.
WAIT = (
    "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n"
    "print('up', flush=True); signal.sigwait({signal.SIGTERM})"
)
SLEEP = (sys.executable, "-c", "import time; time.sleep(600)")
STUBBORN = (
    "import os, signal, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "if os.fork() == 0: time.sleep(600)\n"
    "print('up', flush=True)\n"
    "time.sleep(600)"
)


def program(name: str, code: str, stop_deadline: float = 10.0) -> Program:
    return Program(name, (sys.executable, "-c", code), stop_deadline, os.environ)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not true():  # noqa: ASYNC110 - what is waited for happens in another process
            await asyncio.sleep(0.01)


async def nothing(_: int) -> None:
    return None


def log(folder: Path, name: str) -> str:
    path = folder / "logs" / f"{name}.log"
    return path.read_text() if path.exists() else ""


async def test_a_killed_child_comes_back(tmp_path: Path) -> None:
    said: list[str] = []
    supervisor = Supervisor([[program("a", WAIT)]], tmp_path, tmp_path, said.append, backoff=QUICK)
    await supervisor.start(nothing)
    child = supervisor.children["a"]
    first = child.pid
    assert first is not None
    await until(lambda: "up" in log(tmp_path, "a"))
    os.kill(first, signal.SIGKILL)
    await until(lambda: child.restarts == 1 and log(tmp_path, "a").count("up") == 2)
    assert child.pid not in (None, first)
    assert "a was ended by SIGKILL" in said[0]
    await supervisor.stop()
    assert child.pid is None


async def test_waves_stop_in_reverse_order(tmp_path: Path) -> None:
    """Each program writes into one file when it goes, so that the order can be read."""
    order = tmp_path / "order"

    def noting(name: str) -> Program:
        return program(name, f"{WAIT}; open({str(order)!r}, 'a').write({name!r})")

    supervisor = Supervisor([[noting("1")], [noting("2")], [noting("3")]], tmp_path, tmp_path, print)
    started: list[int] = []

    async def after(wave: int) -> None:
        started.append(wave)
        await until(lambda: "up" in log(tmp_path, str(wave + 1)))

    await supervisor.start(after)
    await supervisor.stop()
    assert started == [0, 1, 2]
    assert order.read_text() == "321"


async def test_what_ignores_sigterm_is_killed_with_its_whole_group(tmp_path: Path) -> None:
    said: list[str] = []
    supervisor = Supervisor([[program("deaf", STUBBORN, 0.2)]], tmp_path, tmp_path, said.append)
    await supervisor.start(nothing)
    group = supervisor.children["deaf"].pid
    assert group is not None
    await until(lambda: "up" in log(tmp_path, "deaf"))
    await supervisor.stop()
    await until(lambda: not group_exists(group))
    assert said == ["deaf did not stop in 0 s; killing it"]


def group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


async def test_a_program_that_keeps_ending_is_started_ever_more_slowly(tmp_path: Path) -> None:
    said: list[str] = []
    waves = [[program("broken", "raise SystemExit(3)")]]
    supervisor = Supervisor(waves, tmp_path, tmp_path, said.append, backoff=QUICK)
    await supervisor.start(nothing)
    await until(lambda: supervisor.children["broken"].restarts >= 3)
    await supervisor.stop()
    assert all("broken ended with code 3" in line for line in said)


def test_the_wait_doubles_up_to_its_bound() -> None:
    backoff = Backoff(first=0.5, longest=30.0)
    assert [backoff.delay(n) for n in (1, 2, 3, 7, 100)] == [0.5, 1.0, 2.0, 30.0, 30.0]


async def test_a_start_that_fails_leaves_nothing_running(tmp_path: Path) -> None:
    absent = Program("absent", ("/nonexistent/program",), 1.0, os.environ)
    supervisor = Supervisor([[program("a", WAIT)], [absent]], tmp_path, tmp_path, print)
    with pytest.raises(FileNotFoundError):
        await supervisor.start(nothing)
    assert supervisor.children["a"].pid is None


async def test_leftovers_of_a_killed_supervisor_are_ended(tmp_path: Path) -> None:
    orphan = await asyncio.create_subprocess_exec(*SLEEP, start_new_session=True)
    Ledger(tmp_path / "up.json").note("orphan", orphan.pid)
    said: list[str] = []
    Supervisor([], tmp_path, tmp_path, said.append).end_leftovers()
    async with asyncio.timeout(DEADLINE):
        assert await orphan.wait() == -signal.SIGKILL
    assert said == ["ended what an earlier run had left behind: orphan"]


async def test_a_process_that_only_got_the_number_is_left_alone(tmp_path: Path) -> None:
    stranger = await asyncio.create_subprocess_exec(*SLEEP, start_new_session=True)
    (tmp_path / "up.json").write_text(f'{{"old": [{stranger.pid}, "another time"]}}')
    assert Ledger(tmp_path / "up.json").end_leftovers() == []
    assert start_time(stranger.pid) is not None
    stranger.kill()
    async with asyncio.timeout(DEADLINE):
        await stranger.wait()


def test_a_folder_is_run_once(tmp_path: Path) -> None:
    refused = pytest.raises(AlreadyRunning, match=rf"\(process {os.getpid()}\)")
    with FolderLock(tmp_path / "data"), refused, FolderLock(tmp_path / "data"):
        pass
    with FolderLock(tmp_path / "data"):
        pass


def test_a_log_is_turned_over_when_it_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.child.LOG_BYTES", 10)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_text("much of an earlier run")

    async def scenario() -> None:
        supervisor = Supervisor([[program("a", WAIT)]], tmp_path, tmp_path, print)
        await supervisor.start(nothing)
        await supervisor.stop()

    asyncio.run(scenario())
    assert "earlier" in (tmp_path / "logs" / "a.log.1").read_text()
    assert "earlier" not in log(tmp_path, "a")
