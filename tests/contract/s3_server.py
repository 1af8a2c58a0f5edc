"""A real S3-compatible server for the archive's tests, in a folder of its own."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from store.archive_s3 import S3Archive, S3Place
from store.errors import ArchiveUnavailable

BUCKET, KEY, SECRET = "archive", "test-key", "test-secret"
_START, _TRIES = 60.0, 5
# What the server's parts are called, each of which listens on a port, and on that plus 10,000.
_PORTS = ("s3", "master", "volume", "filer", "admin")


class S3Server:
    """The server; it can be ended and started again on the same data."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self._folder = folder
        self._binary = binary
        self._ports: dict[str, int] = {}
        identity = {
            "name": "test",
            "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
            "actions": ["Admin", "Read", "Write", "List"],
        }
        (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
        (folder / "data").mkdir()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self._ports['s3']}"

    def archive(self, prefix: str = "", secret: str = SECRET) -> S3Archive:
        """An archive in its bucket."""
        return S3Archive(S3Place(BUCKET, prefix, endpoint=self.endpoint, access_key=KEY, secret_key=secret))

    def start(self) -> None:
        """Starts it, at the same ports if it ran before, and waits until its bucket takes files."""
        for _ in range(1 if self._ports else _TRIES):
            ports = self._ports or dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True))
            if self._started(ports):
                self._ports = ports
                return
        raise AssertionError(f"no answer: {(self._folder / 'log').read_text()[-3000:]}")

    def _started(self, ports: dict[str, int]) -> bool:
        """False where the server ended by itself: another process was quicker at one of the ports."""
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command(ports), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self._ports = ports
        deadline = time.monotonic() + _START
        while self._process.poll() is None:
            with suppress(ArchiveUnavailable, OSError):
                socket.create_connection(("127.0.0.1", ports["s3"]), 0.2).close()
                self.archive("ready").put("probe", b"x")
                return True
            if time.monotonic() > deadline:
                raise AssertionError(f"no answer: {(self._folder / 'log').read_text()[-3000:]}")
            time.sleep(0.05)  # between two looks, not in place of one
        self._ports = {}
        return False

    def _command(self, ports: dict[str, int]) -> list[str]:
        command = [str(self._binary), "mini", f"-dir={self._folder / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
        command += [f"-{name}.port={port}" for name, port in ports.items()]
        command += ["-s3.port.iceberg=0", "-webdav=false", "-admin.ui=false", f"-bucket={BUCKET}"]
        return [*command, f"-s3.config={self._folder / 's3.json'}"]

    def stop(self) -> None:
        """Ends it at once; the data stay."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """A started server; skips on a laptop that has none, fails in CI."""
    found = shutil.which("weed", path=str(Path(sys.executable).parent))
    if found is None:
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail("no S3 server program here")
        pytest.skip("no S3 server program here")
    folder = Path(tempfile.mkdtemp(prefix="s3-"))
    server = S3Server(Path(found), folder)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _free_ports(count: int) -> list[int]:
    """Free ports whose number plus 10,000 is free too."""
    found: list[int] = []
    while len(found) < count:
        port = random.randrange(20_000, 50_000)
        if port not in found and _free(port) and _free(port + 10_000):
            found.append(port)
    return found


def _free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
