"""Reads entries in a process of its own, so that a backlog uses two cores: one parses and finds terms, the
other writes.

`python -m workers.analyst` answers requests from its standard input until that ends, as it does when the
worker dies in whatever way. A request is the entries, the answer the utterances among them. Both go over as plain
values in `marshal`'s form, at half the price of a pickle; both ends are the same interpreter.
"""

import marshal
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from config.logging import get_logger
from workers.collector import collect_rarely
from workers.entries import find_utterances
from workers.errors import AnalystGone
from workers.stream import Entry
from workers.utterance import Utterance

log = get_logger("analyst")

_PATIENCE = 1.0
_LENGTH = struct.Struct("<Q")
_CHECKOUT = Path(__file__).resolve().parent.parent


class Analyst:
    """The process as the consumer uses it: one request at a time. It is started when it is first wanted."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False

    def ready(self) -> bool:
        """It can take a request. The first call starts it, and until it is up it is not ready."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "workers.analyst"],
                cwd=_CHECKOUT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        if not self._ready and select.select([self._output()], [], [], 0)[0]:
            self._receive()
            self._ready = True
        return self._ready

    def send(self, entries: list[Entry]) -> None:
        """Hands the entries over. Raises AnalystGone if the process has died."""
        try:
            _write(self._input(), [(entry.id, entry.fields) for entry in entries])
        except OSError as error:
            raise AnalystGone(f"it took no request: {error}") from error

    def receive(self, meanwhile: Callable[[], None]) -> list[Utterance | None]:
        """The last request's entries as utterances, None for what is none; `meanwhile` is called every second until
        then. Raises AnalystGone if the process has died."""
        while not select.select([self._output()], [], [], _PATIENCE)[0]:
            meanwhile()
        answer: list[tuple[Any, ...] | None] = self._receive()
        return [None if found is None else Utterance._make(found) for found in answer]

    def close(self) -> None:
        """Ends the process; the next use starts another."""
        process, self._process, self._ready = self._process, None, False
        if process is None:
            return
        process.kill()
        process.communicate()

    def _receive(self) -> Any:
        try:
            return _read(self._output())
        except (OSError, EOFError, ValueError, TypeError) as error:
            raise AnalystGone(f"it gave no answer: {type(error).__name__}: {error}") from error

    def _input(self) -> IO[bytes]:
        assert self._process is not None and self._process.stdin is not None
        return self._process.stdin

    def _output(self) -> IO[bytes]:
        assert self._process is not None and self._process.stdout is not None
        return self._process.stdout


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Says that it is up, then answers until there is nothing more to read."""
    _write(answers, None)
    while True:
        try:
            pairs = _read(requests)
        except EOFError:
            return
        found = find_utterances([Entry(entry_id, fields) for entry_id, fields in pairs])
        _write(answers, [None if utterance is None else tuple(utterance) for utterance in found])


def _write(stream: IO[bytes], value: Any) -> None:
    data = marshal.dumps(value)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def _read(stream: IO[bytes]) -> Any:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError("the other end was closed")
    (length,) = _LENGTH.unpack(head)
    return marshal.loads(stream.read(length))


if __name__ == "__main__":
    # A terminal's Ctrl-C reaches the whole group; the end of the input is what ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_rarely()
    serve(sys.stdin.buffer, sys.stdout.buffer)
