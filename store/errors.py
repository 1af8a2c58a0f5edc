"""Every error that the store raises.

StoreError
├── StoreBusy            another writer held the lock for longer than the busy timeout; can pass
├── StoreFull            the disk (or the page limit) is full; nothing of the transaction was kept
├── StoreCorrupt         the file is damaged or is no database
├── StoreUnavailable     the file cannot be opened, read or written
├── StoreConflict        a constraint of the schema was broken
├── SchemaTooNew         the file was written by a newer version of the program
├── SchemaChanged        a migration that was applied is not the one in this checkout
├── ForkedConnection     the connection was opened by another process
├── LeaseLost            somebody else holds the lease now; the transaction must not commit
├── NotFound             no such row in this scope
├── WrongState           what was asked does not go with the state that the row is in
├── ArchiveUnavailable   the archive's folder or bucket cannot be read or written
├── ArchiveDamaged       an archive file is not there, cut short or altered; what can be read of it is read
├── LegalHold            what is to be destroyed is under a legal hold
├── VectorsUnavailable   sqlite-vec could not be loaded, so no vector can be written
└── EmbeddedRedisError   the embedded Redis did not start or stop; carries the end of its log
"""

import apsw


class StoreError(Exception):
    """Root of the package's error tree."""


class StoreBusy(StoreError):  # noqa: N818 - named for what happened, as the whole tree
    """Another writer held the lock for longer than the busy timeout. Trying again is right."""


class StoreFull(StoreError):  # noqa: N818
    """The disk, or the database's page limit, is full; the transaction was rolled back."""


class StoreCorrupt(StoreError):  # noqa: N818
    """The file is damaged or is no database."""


class StoreUnavailable(StoreError):  # noqa: N818
    """The file cannot be opened, read or written."""


class StoreConflict(StoreError):  # noqa: N818
    """A constraint of the schema was broken; the statement had no effect."""


class SchemaTooNew(StoreError):  # noqa: N818
    """The file's schema is newer than this code knows. The message names both versions."""


class SchemaChanged(StoreError):  # noqa: N818
    """An applied migration differs from the file of that number in this checkout."""


class ForkedConnection(StoreError):  # noqa: N818
    """The connection was opened by another process; each process opens its own after the fork."""


class LeaseLost(StoreError):  # noqa: N818
    """Somebody else holds the lease now. Let it pass through `atomic()`, so that nothing is written."""


class NotFound(StoreError):  # noqa: N818
    """No such row in the given scope."""


class WrongState(StoreError):  # noqa: N818
    """What was asked does not go with the state that the row is in; the message names both."""


class ArchiveUnavailable(StoreError):  # noqa: N818
    """The archive's folder or bucket cannot be read or written; nothing was deleted for it."""


class ArchiveDamaged(StoreError):  # noqa: N818
    """An archive file is not there, cut short or altered."""


class LegalHold(StoreError):  # noqa: N818
    """What is to be destroyed is under a legal hold; the message names it."""


class VectorsUnavailable(StoreError):  # noqa: N818
    """sqlite-vec could not be loaded; see `Database.has_vec`."""


class EmbeddedRedisError(StoreError):
    """The embedded Redis did not start or stop. The message carries the end of its log."""


_BY_APSW: tuple[tuple[type[Exception], type[StoreError]], ...] = (
    (apsw.BusyError, StoreBusy),
    (apsw.LockedError, StoreBusy),
    (apsw.FullError, StoreFull),
    (apsw.CorruptError, StoreCorrupt),
    (apsw.NotADBError, StoreCorrupt),
    (apsw.CantOpenError, StoreUnavailable),
    (apsw.ReadOnlyError, StoreUnavailable),
    (apsw.IOError, StoreUnavailable),
    (apsw.PermissionsError, StoreUnavailable),
    (apsw.ConnectionClosedError, StoreUnavailable),
    (apsw.ConstraintError, StoreConflict),
)


def translate(error: apsw.Error, where: str) -> StoreError:
    """The store's error for one of SQLite's; `where` is a statement name or a path."""
    for theirs, ours in _BY_APSW:
        if isinstance(error, theirs):
            return ours(f"{where}: {error}")
    return StoreError(f"{where}: {type(error).__name__}: {error}")
