"""A read-only connection that opens when it can, and again after it was lost.

Reads are short and run inside the event loop: that serves about twice the requests of a thread pool.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from store.db import Database
from store.errors import StoreBusy, StoreError, StoreUnavailable
from store.migrate import check_schema, migrations
from store.vector_cache import VectorCache

T = TypeVar("T")

_BUSY_TIMEOUT = 0.05
"""Seconds that one try may hold the event loop up; readers of a WAL file are hardly ever made to wait."""
_BUSY_WAITS = (0.01, 0.03, 0.1, 0.3)


class _NotYet(StoreUnavailable):
    """A file that a worker is about to make: looked for at every read, since the next one may find it."""


class ReadDatabase:
    """The database for reads of one event loop. The file may be missing, not migrated yet, or be replaced."""

    def __init__(
        self,
        path: Path,
        *,
        vectors: VectorCache | None = None,
        retry_every: float = 0.5,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            vectors: keeps large scopes' vectors in memory; None to search the file.
            retry_every: seconds between tries to open a file that is there and could not be opened.
        """
        self.path = path
        self._vectors = vectors
        self._retry_every = retry_every
        self._clock = clock
        self._monotonic = monotonic
        self._db: Database | None = None
        self._file: tuple[int, int] | None = None
        self._refused: tuple[float, str] | None = None

    @property
    def absent(self) -> bool:
        """No file is there, or an empty one: nothing was ever stored."""
        return self._identity() is None

    async def read(self, work: Callable[[Database], T]) -> T:
        """What `work` reads, all of it from one state of the file.

        A busy file is tried again for half a second.

        Raises:
            StoreError: the file cannot be opened or read; the next call tries anew.
        """
        for wait in (*_BUSY_WAITS, None):
            try:
                return self._read(work)
            except StoreBusy:
                if wait is None:
                    raise
                await asyncio.sleep(wait)
        raise StoreBusy(f"{self.path}: locked")

    def close(self) -> None:
        """Closes the connection; a later read opens another."""
        db, self._db, self._file = self._db, None, None
        if db is not None:
            db.close()

    def _read(self, work: Callable[[Database], T]) -> T:
        db = self._open()
        try:
            with db.snapshot():
                return work(db)
        except StoreBusy:
            raise
        except StoreError:
            self.close()
            raise

    def _open(self) -> Database:
        present = self._identity()
        if self._db is not None and present == self._file:
            return self._db
        self.close()
        now = self._monotonic()
        if self._refused is not None and now - self._refused[0] < self._retry_every:
            raise StoreUnavailable(self._refused[1])
        try:
            self._db = self._connect(present)
        except _NotYet:
            raise
        except StoreError as error:
            self._refused = (now, str(error))
            raise
        self._file, self._refused = present, None
        return self._db

    def _connect(self, present: tuple[int, int] | None) -> Database:
        if present is None:
            raise _NotYet(f"{self.path} is not there yet")
        db = Database.open(self.path, readonly=True, busy_timeout=_BUSY_TIMEOUT, clock=self._clock)
        try:
            version, newest = check_schema(db), len(migrations())
            if version < newest:
                raise _NotYet(f"{self.path} has schema version {version}, not {newest} yet")
        except StoreError:
            db.close()
            raise
        db.vector_cache = self._vectors
        return db

    def _identity(self) -> tuple[int, int] | None:
        """Which file stands at the path; None for none, or an empty one that somebody is about to fill."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino) if found.st_size else None
