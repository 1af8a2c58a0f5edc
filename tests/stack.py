"""A private stack for tests: an embedded Redis and real worker processes in one temporary folder.

    with Stack(tmp_path) as stack:
        stack.start_ingest()
        stack.start_tasks()
        stack.wait(stack.quiet, "all work done")

Conditions are awaited with a deadline; processes are ended by their own process ids. Leases and ticks are
short, so that what takes a minute in production takes a second here.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import redis

from config.settings import Settings, load
from sidestream.keys import GROUP, Keys
from store import jobs
from store.db import Database
from store.embedded import EmbeddedRedis
from store.errors import EmbeddedRedisError
from store.opening import open_database

ROOT = Path(__file__).resolve().parent.parent
DEADLINE = 90.0
TASK_QUEUES = "embed,summarise,extract,compact,maintain"
Setting: TypeAlias = str | float | int

QUICK: dict[str, Setting] = {
    "ingest_lease": 2.0,
    "ingest_block": 0.1,
    "job_lease": 2.0,
    "job_backoff": 0.1,
    "sweep_every": 0.5,
    "drain_every": 60.0,
    "heartbeat_every": 0.5,
    "embed_wait": 0.2,
    "visibility_timeout": 400.0,
    "worker_concurrency": 1,
    "log_format": "json",
    "embed_provider": "none",
    "chat_provider": "offline",
}


class Process:
    """A process of the stack with its log in a file."""

    def __init__(self, name: str, command: list[str], env: dict[str, str], log: Path) -> None:
        self.name = name
        self._log = log
        with log.open("ab") as out:
            self._popen = subprocess.Popen(
                command,
                cwd=ROOT,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Its process id, which is also its process group."""
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; -9 after a SIGKILL."""
        return self._popen.poll()

    def log(self) -> str:
        """All it has written."""
        return self._log.read_text(errors="replace")

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to the process alone, not to its children."""
        if self.exit_code is None:
            os.kill(self.pid, number)

    def wait(self, deadline: float = DEADLINE) -> int:
        """Its exit code, once it has ended by itself."""
        return self._popen.wait(deadline)

    def stop(self, deadline: float = DEADLINE) -> int:
        """Ends it in order, and by force when the deadline has passed; its exit code."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        try:
            return self.wait(deadline)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def kill(self) -> None:
        """SIGKILL to it and its children."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._popen.wait(DEADLINE)


class Stack:
    """Redis, settings and processes of one test. `settings` override QUICK, by the settings' own names."""

    def __init__(self, folder: Path, **settings: Setting) -> None:
        self.folder = folder
        self.server = EmbeddedRedis(folder / "data")
        values: dict[str, Setting] = {**QUICK, **settings}
        values |= {"data_dir": str(folder / "data"), "redis_url": self.server.url}
        self._values = values
        self.processes: list[Process] = []
        self._redis: redis.Redis | None = None

    @cached_property
    def settings(self) -> Settings:
        """The settings that the processes get, for use inside the test."""
        return load(**self._values)

    @cached_property
    def keys(self) -> Keys:
        """Names of the Redis keys."""
        return Keys(self.settings.redis_prefix)

    @property
    def redis(self) -> redis.Redis:
        """A client of the stack's Redis."""
        if self._redis is None:
            self._redis = redis.Redis.from_url(self.server.url, decode_responses=True, socket_timeout=10)
        return self._redis

    def env(self, **extra: str) -> dict[str, str]:
        """The environment of the stack's processes."""
        own = {f"SIDESTREAM_{name.upper()}": str(value) for name, value in self._values.items()}
        return {**os.environ, "OMP_NUM_THREADS": "1", **own, **extra}

    def change(self, **settings: Setting) -> None:
        """Other settings for processes that are started from here on."""
        self._values |= settings
        self.__dict__.pop("settings", None)

    def start(self, name: str, command: list[str], **env: str) -> Process:
        """Starts a process that belongs to the stack."""
        process = Process(name, command, self.env(**env), self.folder / f"{name}.log")
        self.processes.append(process)
        return process

    def start_ingest(self, name: str = "ingest", *, fault: str | None = None) -> Process:
        """The ingest worker; with a fault of workers/faults.py armed, as in
        `consumer.after_read:/path/to/marker`."""
        command = self.worker("ingest", "--pool", "solo", "--hostname", f"{name}@%h")
        return self.start(name, command, **_armed(fault))

    def start_tasks(
        self, name: str = "tasks", *, queues: str = TASK_QUEUES, beat: bool = False, fault: str | None = None
    ) -> Process:
        """A task worker for all queues; with `beat` it also ticks, which saves a process."""
        command = self.worker(queues, "--hostname", f"{name}@%h", *(["--beat"] if beat else []))
        return self.start(name, command, **_armed(fault))

    def start_beat(self, name: str = "beat", *, fault: str | None = None) -> Process:
        """Beat alone."""
        return self.start(name, self.celery("beat"), **_armed(fault))

    @staticmethod
    def celery(*arguments: str) -> list[str]:
        """A Celery command line."""
        return [sys.executable, "-m", "celery", "-A", "workers.app", *arguments]

    @classmethod
    def worker(cls, queues: str, *arguments: str) -> list[str]:
        """A Celery worker's command line."""
        return cls.celery("worker", "--queues", queues, *arguments)

    @contextmanager
    def database(self) -> Iterator[Database]:
        """A reading connection of the test's own."""
        with open_database(self.settings.database, readonly=True, busy_timeout=10.0) as db:
            yield db

    def rows(self, sql: str, *params: object) -> list[tuple[Any, ...]]:
        """Rows of any SQL, for what no repository shows."""
        with self.database() as db:
            return db._execute("test", sql, params).fetchall()

    def wait(self, condition: Callable[[], object], what: str, deadline: float = DEADLINE) -> None:
        """Until `condition` is true.

        Raises:
            AssertionError: it was not within `deadline` seconds; with the end of each process's log.
        """
        end = time.monotonic() + deadline
        while not condition():
            if time.monotonic() >= end:
                raise AssertionError(f"not within {deadline} s: {what}\n{self.logs()}")
            time.sleep(0.02)

    def quiet(self) -> bool:
        """Nothing stands in the stream, nothing is pending, no job is owed that can be done without an
        embedder."""
        if self.redis.xlen(self.keys.events) or not self._nothing_pending():
            return False
        with self.database() as db:
            stats = jobs.stats(db)
        if self.settings.embed_provider == "none":
            stats.pop("embed", None)
        return not any(states.get(state) for states in stats.values() for state in ("pending", "running"))

    def wait_quiet(self, deadline: float = DEADLINE) -> None:
        """Until the stack is quiet."""
        self.wait(self.quiet, "the stack is quiet", deadline)

    def stored(self, count: int) -> Callable[[], bool]:
        """A condition: at least `count` events are stored."""
        return lambda: self.rows("SELECT count(*) FROM events")[0][0] >= count

    def logs(self, last: int = 3_000) -> str:
        """The end of every process's log."""
        return "\n".join(f"--- {p.name} ({p.exit_code})\n{p.log()[-last:]}" for p in self.processes)

    @staticmethod
    def wake(pid: int) -> None:
        """Lets a stopped process go on: one that a fault stopped, whose id stands in the marker."""
        os.kill(pid, signal.SIGCONT)

    def restart_redis(self) -> None:
        """SIGKILLs the server and starts it again on its append-only file."""
        self.server.kill()
        self.server.start()

    def stop(self) -> None:
        """Ends every process and the server; none of them may outlive the test."""
        for process in self.processes:
            process.kill()
        if self._redis is not None:
            self._redis.close()
        self.server.stop()

    def __enter__(self) -> "Stack":
        need_server(self.server.start)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _nothing_pending(self) -> bool:
        try:
            return int(self.redis.xpending(self.keys.events, GROUP)["pending"]) == 0
        except redis.ResponseError:
            return True


def need_server(start: Callable[[], None]) -> None:
    """Starts a server; one that is missing skips the test on a laptop and fails it in CI."""
    import pytest  # noqa: PLC0415 - benches use the stack without pytest

    try:
        start()
    except EmbeddedRedisError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no Redis server: {error}")


def _armed(fault: str | None) -> dict[str, str]:
    return {"SIDESTREAM_TEST_FAULT": fault} if fault else {}
