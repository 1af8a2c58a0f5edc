"""`sidestream run` and `sidestream up`: everything under one supervisor, on an empty data folder."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import redis

from store.processes import start_time
from tests.integration.commands import alone, command, environment
from tests.stack import ROOT, Process, need_server

DEADLINE = 90.0
NAMES = {"redis", "ingest", "tasks", "beat", "api"}

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(autouse=True)
def server_there() -> None:
    need_server(lambda: None)


def wait(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"not within {DEADLINE} s: {what}"
        time.sleep(0.05)


def children(folder: Path) -> dict[str, int]:
    """Process groups that the supervisor of the folder has noted, by name."""
    try:
        noted: dict[str, tuple[int, str]] = json.loads((folder / "up.json").read_text())
    except FileNotFoundError:
        return {}
    return {name: pid for name, (pid, _) in noted.items()}


def gone(groups: dict[str, int]) -> bool:
    """No process of the groups is left; one that is dead and only waits to be reaped does not count."""
    return not any(running(group) for group in groups.values())


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


def running(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    if not Path("/proc/self/stat").exists():
        return True
    return any(
        number == group and state not in "ZX" for number, state in map(group_and_state, Path("/proc").glob("[0-9]*"))
    )


def group_and_state(process: Path) -> tuple[int, str]:
    try:
        state, _, group, *_ = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0, "X"
    return int(group), state


class Up:
    """`sidestream up` on a data folder."""

    def __init__(self, folder: Path, tmp_path: Path, name: str = "up") -> None:
        self.folder = folder
        self.process = Process(name, command("up"), environment(folder), tmp_path / f"{name}.log")

    def ready(self) -> "Up":
        wait(lambda: "ready;" in self.process.log() or self.process.exit_code is not None, "it is ready")
        assert self.process.exit_code is None, self.process.log()
        return self

    def api(self) -> str:
        found = re.search(r"API +(http://\S+)/docs", self.process.log())
        assert found is not None
        return found[1]


@contextmanager
def started(folder: Path) -> Iterator[Up]:
    """A started system that is stopped at the end if it still runs."""
    found = Up(folder / "data", folder)
    try:
        yield found.ready()
    finally:
        if found.process.exit_code is None:
            found.process.stop(DEADLINE)


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    """A system that the test ends."""
    with started(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A system that goes on through several tests."""
    with started(tmp_path_factory.mktemp("lasting")) as found:
        yield found


def test_without_a_terminal_five_facts_survive_a_restart(tmp_path: Path) -> None:
    """What `make run` does there, with the embedded embedder and without a key."""
    done = alone(tmp_path / "data", "run", timeout=360, embed_provider="auto", chat_provider="auto")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 of 5 facts came back with their source" in done.stdout
    lines = [line.strip() for line in done.stdout.splitlines()]
    told = [line.removeprefix("told:").strip() for line in lines if line.startswith("told:")]
    quoted = [line.removeprefix("source:").strip() for line in lines if line.startswith("source:")]
    assert len(told) == len(quoted) == lines.count("ok") == 5
    for fact, source in zip(told, quoted, strict=True):
        assert fact in source
    first, second = (re.findall(r"(\w+) (\d+)", line) for line in lines if line.startswith("running:"))
    assert {name for name, _ in first} == NAMES
    assert {pid for _, pid in first} & {pid for _, pid in second} == set()
    assert all(start_time(int(pid)) is None for _, pid in first + second)


def test_everything_runs_and_stops_in_order_when_told_to(up: Up) -> None:
    groups = children(up.folder)
    assert set(groups) == NAMES
    assert httpx.get(f"{up.api()}/health/live", trust_env=False).status_code == 200
    wait(lambda: httpx.get(f"{up.api()}/health/ready", trust_env=False).status_code == 200, "it is healthy")
    up.process.send(signal.SIGTERM)
    assert up.process.wait(DEADLINE) == 0
    assert gone(groups)
    assert children(up.folder) == {}
    assert up.process.log().endswith("stopping\nstopped\n")
    assert not (up.folder / "redis" / "redis.sock").exists()


@pytest.mark.parametrize("name", ["ingest", "redis"])
def test_a_killed_child_is_started_again(lasting: Up, name: str) -> None:
    killed = children(lasting.folder)[name]
    os.kill(killed, signal.SIGKILL)
    wait(lambda: children(lasting.folder).get(name) not in (None, killed), f"{name} is back")
    assert f"{name} was ended by SIGKILL; starting it again" in lasting.process.log()
    ready = f"{lasting.api()}/health/ready"
    wait(lambda: httpx.get(ready, trust_env=False, timeout=10).status_code == 200, "it is healthy again")


def test_a_second_one_on_the_same_folder_is_refused(lasting: Up) -> None:
    done = alone(lasting.folder, "up")
    assert done.returncode == 5
    assert f"already runs on {lasting.folder} (process {lasting.process.pid})" in done.stderr
    assert lasting.process.exit_code is None


def test_what_a_killed_supervisor_left_is_ended_by_the_next(up: Up, tmp_path: Path) -> None:
    groups = children(up.folder)
    up.process.send(signal.SIGKILL)
    up.process.wait(DEADLINE)
    second = Up(up.folder, tmp_path, "second").ready()
    try:
        assert gone(groups)
        assert "ended what an earlier run had left behind" in second.process.log()
    finally:
        assert second.process.stop(DEADLINE) == 0


def test_a_second_signal_ends_it_at_once(up: Up) -> None:
    groups = children(up.folder)
    os.kill(groups["ingest"], signal.SIGSTOP)
    up.process.send(signal.SIGINT)
    wait(lambda: "stopping" in up.process.log(), "it is stopping")
    up.process.send(signal.SIGINT)
    assert up.process.wait(DEADLINE) == 0
    wait(lambda: gone(groups), "all that was killed is gone")
    with redis.Redis(unix_socket_path=str(up.folder / "redis" / "redis.sock")) as client:
        wait(lambda: not answers(client), "its Redis is gone too")


def test_on_a_terminal_it_chats_and_ends_with_the_chat(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    master, slave = pty.openpty()
    run = subprocess.Popen(
        command("run"),
        cwd=ROOT,
        env=environment(folder),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        read_until(master, "> ")
        groups = children(folder)
        os.write(master, b"My umbrella is plaid.\n")
        read_until(master, "plaid", times=2)
        os.write(master, b"/quit\n")
        read_until(master, "stopping")
        assert run.wait(DEADLINE) == 0
        assert set(groups) == NAMES
        assert gone(groups)
    finally:
        os.close(master)
        run.terminate()
        run.wait(DEADLINE)


def read_until(terminal: int, text: str, times: int = 1) -> str:
    """What the terminal shows, up to the text."""
    end, shown = time.monotonic() + DEADLINE, ""
    while shown.count(text) < times:
        assert time.monotonic() < end, f"{text!r} is not in {shown!r}"
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
    return shown
