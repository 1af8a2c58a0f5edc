"""Writes the database anew: the smallest file that holds it, and one that gives free pages back every night."""

from dataclasses import dataclass

from store.db import Database


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """Bytes of the file before and after. `cut` False: a reader kept the write-ahead log, and with it the old size."""

    before: int
    after: int
    cut: bool


def vacuum(db: Database) -> Vacuumed:
    """Vacuums the file; writers wait meanwhile, readers do not.

    A file from before free pages were given back can do so from then on: SQLite changes that only by a VACUUM.

    Raises:
        StoreBusy: another writer held the lock for too long; nothing was changed.
        StoreFull: there is no room for a second copy of the file; nothing was changed.
    """
    before = _size(db)
    db.script("vacuum", "PRAGMA auto_vacuum = 2; VACUUM")
    busy, _, _ = db.tuples("wal_checkpoint")[0]
    return Vacuumed(before, _size(db), not busy)


def _size(db: Database) -> int:
    return int(db.pragma("page_count")) * int(db.pragma("page_size"))
