"""Large scopes' vectors in memory, for all readers of a process: filled when first asked for, bounded in bytes.

A reader asks within its snapshot of the file, and gets an index only if that holds what the snapshot holds (or what is
newer: rows that the snapshot lacks are not found in it when they are loaded). Every write to a scope's vectors raises
the scope's version in the same transaction, whichever process writes; a reader that finds the index behind applies the
few changes itself, or has them loaded in the background and searches the file meanwhile. Small scopes are not kept:
the file answers them in less than a millisecond.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from config.logging import get_logger
from store import vector_changes
from store.db import Database
from store.errors import StoreError
from store.spaces import Space
from store.vector_changes import Mark
from store.vector_index import VectorIndex, size_of

SMALLEST = 2_000
"""Scopes with fewer vectors are searched in the file."""
AT_ONCE = 500
"""Changes that a reader applies on its way; each costs it about 10 µs."""
_CHUNK = 1_000
_RETRY = 30.0
"""Seconds after which a scope that could not be loaded is tried again."""

Key: TypeAlias = tuple[Path, int, int, int, int]
"""A file (path, inode and device: a restored one is another), space id, scope id."""

_log = get_logger("store")


@dataclass(slots=True)
class _Entry:
    """An index, which version of its scope it holds, and of which centre its bits are."""

    index: VectorIndex
    version: int
    centred: int
    lock: threading.Lock = field(default_factory=threading.Lock)


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="vector-cache", daemon=True).start()


class VectorCache:
    """Indexes by scope, those least used dropped first. Any thread may ask."""

    def __init__(
        self,
        max_bytes: int,
        *,
        smallest: int = SMALLEST,
        start: Callable[[Callable[[], None]], None] = _in_background,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            max_bytes: memory for all indexes together; a scope that does not fit in is searched in the file.
            smallest: fewest vectors of a scope that is kept.
            start: runs what loads a scope, off the reader's path.
        """
        self.max_bytes = max_bytes
        self._smallest = smallest
        self._start = start
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._pending: set[Key] = set()
        self._failed: dict[Key, float] = {}

    @property
    def size_bytes(self) -> int:
        """Memory that the indexes hold."""
        with self._lock:
            return sum(entry.index.size_bytes for entry in self._entries.values())

    def index(self, db: Database, space: Space, scope_id: int) -> VectorIndex | None:
        """The scope's vectors as `db`'s snapshot has them; None where the file itself must be searched.

        Raises:
            StoreError: the file cannot be read.
        """
        mark = vector_changes.mark(db, space, scope_id)
        if mark is None or mark.vectors < self._smallest:
            return None
        key = (db.path, *db.identity, space.id, scope_id)
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
        if entry is not None and self._caught_up(db, space, scope_id, entry, mark):
            return entry.index
        self._ask_for(key, space, mark)
        return None

    def _caught_up(self, db: Database, space: Space, scope_id: int, entry: _Entry, mark: Mark) -> bool:
        if entry.centred != mark.centred or entry.version < mark.version - vector_changes.KEPT:
            return False
        if entry.version >= mark.version:
            return True
        with entry.lock:
            if entry.version >= mark.version:
                return True
            changes = vector_changes.since(db, space, scope_id, entry.version, AT_ONCE)
            if changes is None:
                return False
            entry.index.drop(changes.gone)
            entry.index.add(changes.keys, changes.sessions, changes.floats)
            entry.version = mark.version
        return True

    def _ask_for(self, key: Key, space: Space, mark: Mark) -> None:
        size = size_of(space.dimensions, mark.vectors)
        if size > self.max_bytes:
            self._fail(key, f"{mark.vectors} vectors take {size} bytes, more than the cache may hold")
            return
        with self._lock:
            if key in self._pending or self._monotonic() - self._failed.get(key, -_RETRY) < _RETRY:
                return
            self._pending.add(key)
        self._start(lambda: self._load(key, space))

    def _load(self, key: Key, space: Space) -> None:
        try:
            with self._loading:
                started = self._monotonic()
                entry = _read(key, space)
            if entry is not None:
                self._keep(key, entry)
                took = round(self._monotonic() - started, 3)
                _log.info("vectors_in_memory", scope_id=key[4], vectors=len(entry.index), seconds=took)
        except StoreError as error:
            self._fail(key, repr(error))
        finally:
            with self._lock:
                self._pending.discard(key)

    def _keep(self, key: Key, entry: _Entry) -> None:
        with self._lock:
            self._failed.pop(key, None)
            self._entries[key] = entry
            self._entries.move_to_end(key)
            held = sum(e.index.size_bytes for e in self._entries.values())
            while held > self.max_bytes and len(self._entries) > 1:
                _, dropped = self._entries.popitem(last=False)
                held -= dropped.index.size_bytes

    def _fail(self, key: Key, reason: str) -> None:
        now = self._monotonic()
        with self._lock:
            recent = now - self._failed.get(key, -_RETRY) < _RETRY
            if not recent:
                self._failed[key] = now
            self._entries.pop(key, None)
        if not recent:
            _log.warning("vectors_not_in_memory", scope_id=key[4], error=reason)


def _read(key: Key, space: Space) -> _Entry | None:
    """The scope as the file has it now; None if the file is another one by now, or the scope has nothing."""
    path, inode, device, _, scope_id = key
    with Database.open(path, readonly=True) as db, db.snapshot():
        mark = vector_changes.mark(db, space, scope_id)
        if mark is None or db.identity != (inode, device):
            return None
        # Room for what comes: it would be copied as a whole when it is full.
        index = VectorIndex(vector_changes.centre(db, space), mark.vectors + mark.vectors // 16 + _CHUNK)
        after = -1
        while len((some := vector_changes.load(db, space, scope_id, after, _CHUNK)).keys):
            index.add(some.keys, some.sessions, some.floats)
            after = int(some.keys[-1])
        return _Entry(index, mark.version, mark.centred)


_shared: VectorCache | None = None
_shared_lock = threading.Lock()


def shared_cache(max_bytes: int) -> VectorCache | None:
    """The one cache of this process, made by the first who asks, who says how large; None for 0 bytes."""
    global _shared
    with _shared_lock:
        if _shared is None and max_bytes > 0:
            _shared = VectorCache(max_bytes)
        return _shared if max_bytes > 0 else None
