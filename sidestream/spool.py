"""The spool: events that wait on disk until Redis is back, in order and within a bound.

A publisher appends to a file of its own, `spool-<id>.jsonl`, one event a line as its flat fields in JSON.
Files whose publisher died are adopted and replayed first, oldest name first. A line that cannot be read is
put into `rejected.jsonl` beside them, never dropped.
"""

import json
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidestream.errors import SpoolFull, SpoolUnavailable
from sidestream.flat import digest_of
from sidestream.ids import new_id
from sidestream.logs import get_logger
from sidestream.script import Prepared
from sidestream.spool_file import TEMPORARY, Line, SpoolFile, remove_if_left, sync_directory

log = get_logger("spool")

REJECTED = "rejected.jsonl"
_PATTERN = "spool-*.jsonl"
_READ_BYTES = 4 * 1024 * 1024
_COMPACT_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Waiting:
    """The first events that wait, with the line each comes from; `rejected` lines are no events."""

    file: SpoolFile
    lines: list[Line]
    events: list[Prepared]
    rejected: list[Line]


class Spool:
    """One publisher's spool. Safe for threads; a forked child starts with an empty one of its own."""

    def __init__(self, directory: Path, max_bytes: int, fault: Callable[[str], None]) -> None:
        self.directory = directory
        self._max_bytes = max_bytes
        self._fault = fault
        self._lock = threading.RLock()
        self._adopted: list[SpoolFile] = []
        self._own: SpoolFile | None = None
        _LIVE.add(self)

    @property
    def pending(self) -> int:
        """Events that wait."""
        return sum(file.lines for file in self._files())

    @property
    def size(self) -> int:
        """Bytes that wait."""
        return sum(file.waiting for file in self._files())

    def adopt(self) -> None:
        """Takes over the files of publishers that are gone. Raises SpoolUnavailable."""
        with self._lock:
            try:
                self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                if not os.access(self.directory, os.R_OK | os.W_OK | os.X_OK):
                    raise PermissionError("the folder cannot be read and written by this user")
                for path in self.directory.glob(_PATTERN + TEMPORARY):
                    remove_if_left(path)
                held = {file.path for file in self._files()}
                for path in sorted(self.directory.glob(_PATTERN)):
                    if path not in held and (file := SpoolFile.adopt(path)) is not None:
                        self._take(file)
            except OSError as error:
                raise SpoolUnavailable(f"spool folder {self.directory}: {error}") from error

    def append(self, events: Sequence[Prepared]) -> None:
        """Puts `events` on disk, all or none. Raises SpoolFull, SpoolUnavailable."""
        lines = [json.dumps(event.fields, ensure_ascii=False) for event in events]
        data = ("\n".join(lines) + "\n").encode()
        with self._lock:
            if self.size + len(data) > self._max_bytes:
                raise SpoolFull(
                    f"the spool in {self.directory} holds {self.size} of at most {self._max_bytes} bytes; "
                    f"{len(events)} events of {len(data)} bytes do not fit, and Redis is away"
                )
            try:
                self._own_file().append(data, len(events))
            except OSError as error:
                raise SpoolUnavailable(f"spool folder {self.directory}: {error}") from error

    def first(self, most: int) -> Waiting | None:
        """Up to `most` events that have waited longest; None when nothing waits. Raises SpoolUnavailable."""
        with self._lock:
            file = next((file for file in self._files() if file.waiting), None)
            if file is None:
                return None
            try:
                lines = file.read(most, _READ_BYTES)
            except OSError as error:
                raise SpoolUnavailable(f"spool file {file.path}: {error}") from error
        events: list[Prepared] = []
        good: list[Line] = []
        for line in lines:
            event = _read(line.data)
            if event is None:
                return Waiting(file, good, events, [] if good else [line])
            good.append(line)
            events.append(event)
        return Waiting(file, good, events, [])

    def done(self, waiting: Waiting, count: int) -> None:
        """The first `count` events of `waiting`, and its rejected lines, need not wait any more."""
        lines = [*waiting.lines[:count], *waiting.rejected]
        with self._lock:
            if not lines or waiting.file.closed:
                return
            try:
                self._reject(waiting)
                waiting.file.advance(lines[-1].end, len(lines))
                self._trim(waiting.file)
            except OSError as error:
                raise SpoolUnavailable(f"spool file {waiting.file.path}: {error}") from error

    def close(self) -> None:
        """Gives the files up; the next publisher on this host adopts what still waits."""
        with self._lock:
            for file in self._files():
                if file is self._own and not file.waiting:
                    file.remove()
                file.close()
            self._adopted, self._own = [], None

    def _files(self) -> list[SpoolFile]:
        return [*self._adopted, *([self._own] if self._own else [])]

    def _own_file(self) -> SpoolFile:
        if self._own is not None and self._own.lost:
            # Somebody deleted the file. What it holds is still replayed, but new events need one that lasts.
            self._adopted.append(self._own)
            self._own = None
        if self._own is None:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._own = SpoolFile.create(self.directory / f"spool-{new_id()}.jsonl")
        return self._own

    def _take(self, file: SpoolFile) -> None:
        if not file.waiting:
            file.remove()
            return
        log.warning("spool_adopted", file=file.path, events=file.lines)
        self._adopted.append(file)

    def _trim(self, file: SpoolFile) -> None:
        if file.waiting and (file.offset < _COMPACT_BYTES or file.offset < file.waiting):
            return
        self._fault("replay:before_trim")
        if file.waiting:
            file.compact()
        elif file is self._own:
            file.empty()
        else:
            self._adopted.remove(file)
            file.remove()

    def _reject(self, waiting: Waiting) -> None:
        for line in waiting.rejected:
            path = self.directory / REJECTED
            with open(path, "ab", opener=_private) as target:
                target.write(line.data + b"\n")
                target.flush()
                os.fsync(target.fileno())
            sync_directory(self.directory)
            log.error("spool_line_rejected", file=waiting.file.path, kept_in=path)

    def _forget(self) -> None:
        """In a forked child: the files are the parent's. Closing the copies leaves its locks in place."""
        self._lock = threading.RLock()
        for file in self._files():
            file.close()
        self._adopted, self._own = [], None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _read(line: bytes) -> Prepared | None:
    try:
        fields = json.loads(line)
        texts = all(isinstance(value, str) for value in fields.values())
        if texts and fields["type"] and fields["session_id"] and fields["id"]:
            return Prepared(fields["id"], fields, digest_of(fields))
    except (ValueError, KeyError, AttributeError, RecursionError):
        pass
    return None


_LIVE: "weakref.WeakSet[Spool]" = weakref.WeakSet()


def _forget_all() -> None:
    for spool in _LIVE:
        spool._forget()


os.register_at_fork(after_in_child=_forget_all)
