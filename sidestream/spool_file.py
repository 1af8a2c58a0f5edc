"""One spool file: lines that wait for Redis, held by one process under a lock.

The lock (flock) ends with the process that holds it, so a file that can be locked has lost its owner. A file
is locked before it gets its name, and a lock on a file that has lost its name meanwhile is given up.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_COPY = 1024 * 1024
TEMPORARY = ".tmp"


class Line(NamedTuple):
    """One line without its end, and the offset at which the next one starts."""

    data: bytes
    end: int


class SpoolFile:
    """Complete lines from `offset` to `size`. Every method may raise OSError."""

    def __init__(self, path: Path, fd: int, size: int, lines: int) -> None:
        self.path = path
        self.size = size
        self.lines = lines
        self.offset = 0
        self.closed = False
        self._fd = fd

    @classmethod
    def create(cls, path: Path) -> "SpoolFile":
        """A new, empty file at `path`, locked."""
        return cls(path, _named(path), 0, 0)

    @classmethod
    def adopt(cls, path: Path) -> "SpoolFile | None":
        """The file of an owner that is gone; None when it has an owner, or is gone itself.

        What stands after the last line end was never acknowledged to a publisher: it is cut off.
        """
        fd = _lock(path)
        if fd is None:
            return None
        try:
            size, lines = _complete(fd)
            os.ftruncate(fd, size)
        except BaseException:
            os.close(fd)
            raise
        return cls(path, fd, size, lines)

    @property
    def waiting(self) -> int:
        """Bytes that are not replayed yet."""
        return self.size - self.offset

    @property
    def lost(self) -> bool:
        """Somebody deleted the file: no other publisher will find it."""
        return os.fstat(self._fd).st_nlink == 0

    def append(self, data: bytes, lines: int) -> None:
        """Adds complete lines, fsynced when this returns; on an error the file is as it was before."""
        try:
            view, at = memoryview(data), self.size
            while view:
                written = os.pwrite(self._fd, view, at)
                view, at = view[written:], at + written
            os.fsync(self._fd)
        except OSError:
            with suppress(OSError):  # what is left lies beyond `size`, where the next append writes
                os.ftruncate(self._fd, self.size)
            raise
        self.size += len(data)
        self.lines += lines

    def read(self, most: int, most_bytes: int) -> list[Line]:
        """The first lines that wait: at most `most`, of `most_bytes` together unless one alone is longer."""
        data = b""
        while b"\n" not in data and len(data) < self.waiting:
            more = os.pread(self._fd, min(self.waiting - len(data), most_bytes), self.offset + len(data))
            if not more:
                raise OSError("it is shorter than what was written to it")
            data += more
        lines: list[Line] = []
        start = 0
        while len(lines) < most and (end := data.find(b"\n", start)) >= 0:
            lines.append(Line(data[start:end], self.offset + end + 1))
            start = end + 1
        return lines

    def advance(self, end: int, lines: int) -> None:
        """The lines up to offset `end` are replayed."""
        self.offset = end
        self.lines -= lines

    def empty(self) -> None:
        """Cuts the file to nothing once all of it is replayed."""
        os.ftruncate(self._fd, 0)
        os.fsync(self._fd)
        self.offset = self.size = self.lines = 0

    def compact(self) -> None:
        """Drops what is replayed. Killed in the middle, the old file stands; a replay makes no doubles."""
        fd = _named(self.path, self._rest())
        os.close(self._fd)
        self._fd, self.size, self.offset = fd, self.waiting, 0

    def _rest(self) -> Iterator[bytes]:
        for at in range(self.offset, self.size, _COPY):
            yield os.pread(self._fd, min(_COPY, self.size - at), at)

    def remove(self) -> None:
        """Deletes the file."""
        self.path.unlink(missing_ok=True)
        sync_directory(self.path.parent)
        self.close()

    def close(self) -> None:
        """Gives the file up: whoever comes next may adopt it."""
        if not self.closed:
            self.closed = True
            os.close(self._fd)


def sync_directory(path: Path) -> None:
    """Makes the names in a folder durable."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def remove_if_left(path: Path) -> None:
    """Deletes a temporary file whose owner was killed before it got its name."""
    fd = _lock(path)
    if fd is not None:
        path.unlink(missing_ok=True)
        os.close(fd)


def _lock(path: Path) -> int | None:
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(fd), path.stat()):
            return fd
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(fd)
        raise
    os.close(fd)
    return None


def _named(path: Path, content: Iterable[bytes] = ()) -> int:
    """A locked file at `path` that holds `content`, in place of one that may be there."""
    temporary = path.with_name(path.name + TEMPORARY)
    fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        # A starting publisher may have taken it for a leftover and deleted it before it was locked.
        if not os.path.samestat(os.fstat(fd), temporary.stat()):
            raise FileNotFoundError(f"{temporary} was replaced by another process")
        for data in content:
            _write_all(fd, data)
        os.fsync(fd)
        temporary.rename(path)
        sync_directory(path.parent)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _complete(fd: int) -> tuple[int, int]:
    """Bytes up to the last line end, and how many lines they are."""
    end = lines = at = 0
    while data := os.pread(fd, _COPY, at):
        lines += data.count(b"\n")
        if (last := data.rfind(b"\n")) >= 0:
            end = at + last + 1
        at += len(data)
    return end, lines
