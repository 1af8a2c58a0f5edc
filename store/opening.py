"""Opens the database file ready for use: folder made, schema migrated."""

import os
import time
from contextlib import suppress
from pathlib import Path

from store.db import Clock, Database, Synchronous
from store.errors import StoreUnavailable
from store.migrate import check_schema, migrate


def open_database(
    path: Path | str,
    *,
    readonly: bool = False,
    synchronous: Synchronous = "NORMAL",
    busy_timeout: float = 5.0,
    poll_busy: bool = False,
    gate: bool = False,
    clock: Clock = time.time,
) -> Database:
    """The database at `path`, its folder (0700), file (0600) and schema made first where they are missing.

    A `readonly` connection is preceded by a writing one that migrates, so that a reader may be first to
    start. The arguments are those of `Database.open`.

    Raises:
        StoreUnavailable: the folder or the file cannot be made or opened.
        StoreCorrupt: the file is damaged or is no database.
        StoreBusy: another process held the lock for `busy_timeout` seconds.
        SchemaTooNew, SchemaChanged: the file does not fit this program.
    """
    path = Path(path)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_private(path)
    except OSError as error:
        raise StoreUnavailable(f"{path.parent}: {error.strerror}") from error
    if readonly:
        open_database(path, busy_timeout=busy_timeout, clock=clock).close()
    db = Database.open(
        path,
        readonly=readonly,
        synchronous=synchronous,
        busy_timeout=busy_timeout,
        poll_busy=poll_busy,
        gate=gate,
        clock=clock,
    )
    try:
        check_schema(db) if readonly else migrate(db)
    except BaseException:
        db.close()
        raise
    return db


def _make_private(path: Path) -> None:
    """Makes the file for its owner alone; SQLite gives the files beside it the same mode."""
    # One that is there is not touched: to close it would end the locks that this process holds on it.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
