"""A door that lets one process of many through at a time, by flock on a file beside the database.

SQLite's own lock is unfair: several bulk writers starve each other and the consumer for seconds. Writers
that pass this door first leave only one of them to compete with the consumer, which does not use it.
"""

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from store.errors import StoreBusy, StoreUnavailable

_POLL = 0.002


class Gate:
    """The door of one process. `enter` and `leave` are called by `Database.atomic` around the outermost
    transaction."""

    def __init__(
        self,
        path: Path,
        timeout: float,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._path = path
        self._timeout = timeout
        self._monotonic = monotonic
        self._sleep = sleep
        self._fd: int | None = None

    def enter(self) -> None:
        """Waits for the door.

        Raises:
            StoreBusy: it did not open within the timeout.
            StoreUnavailable: its file cannot be made.
        """
        fd = self._open()
        deadline = self._monotonic() + self._timeout
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if self._monotonic() >= deadline:
                    raise StoreBusy(f"{self._path}: another writer was inside for {self._timeout} s") from None
                self._sleep(_POLL)
            else:
                return

    def leave(self) -> None:
        """Opens the door for the next."""
        if self._fd is not None:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def close(self) -> None:
        """Closes the file, and with it the lock."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _open(self) -> int:
        if self._fd is None:
            try:
                self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise StoreUnavailable(f"{self._path}: {error.strerror}") from error
        return self._fd
