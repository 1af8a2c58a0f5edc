"""Opens an apsw connection with every pragma set, read back and asserted, and sqlite-vec loaded where it
can be."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw

from store.errors import StoreBusy, StoreError, StoreUnavailable, translate

try:
    import sqlite_vec
except ImportError:  # the wheel does not exist for every platform
    sqlite_vec = None

BUSY_POLL = 0.0005
_SYNCHRONOUS = {"NORMAL": 1, "FULL": 2}
_INCREMENTAL = 2
_CACHE_KIB = 32 * 1024
_STATEMENTS = 256


def connect(
    path: Path, *, readonly: bool, synchronous: str, busy_timeout: float, poll_busy: bool
) -> tuple[apsw.Connection, bool]:
    """The connection, and whether sqlite-vec is loaded.

    Raises:
        StoreUnavailable: the file cannot be opened, or a pragma did not take.
        StoreCorrupt: it is no database.
        StoreBusy: it stayed locked for `busy_timeout` seconds.
    """
    flags = apsw.SQLITE_OPEN_READWRITE | (0 if readonly else apsw.SQLITE_OPEN_CREATE)
    try:
        conn = apsw.Connection(str(path), flags=flags, statementcachesize=_STATEMENTS)
    except apsw.Error as error:
        raise translate(error, str(path)) from error
    try:
        _set_busy(conn, busy_timeout, poll_busy)
        _set_pragmas(conn, path, readonly=readonly, synchronous=synchronous, busy_timeout=busy_timeout)
        return conn, load_vec(conn)
    except apsw.Error as error:
        conn.close(True)
        raise translate(error, str(path)) from error
    except StoreError:
        conn.close(True)
        raise


def load_vec(conn: apsw.Connection) -> bool:
    """Loads sqlite-vec; False where there is none or it does not load here."""
    if sqlite_vec is None:
        return False
    try:
        conn.enable_load_extension(True)
        try:
            conn.load_extension(sqlite_vec.loadable_path())
        finally:
            conn.enable_load_extension(False)
    except (apsw.Error, AttributeError):
        return False
    return True


def _set_busy(conn: apsw.Connection, busy_timeout: float, poll_busy: bool) -> None:
    if poll_busy:
        conn.set_busy_handler(_poller(busy_timeout))
    else:
        conn.set_busy_timeout(int(busy_timeout * 1000))


def _poller(busy_timeout: float) -> Callable[[int], bool]:
    # SQLite's own handler backs off to 100 ms, and then loses the lock again and again to a writer that comes
    # back at once.
    started = 0.0

    def again(tries: int) -> bool:
        nonlocal started
        now = time.monotonic()
        if tries == 0:
            started = now
        if now - started >= busy_timeout:
            return False
        time.sleep(BUSY_POLL)
        return True

    return again


def _set_pragmas(conn: apsw.Connection, path: Path, *, readonly: bool, synchronous: str, busy_timeout: float) -> None:
    if not readonly:
        _give_back_pages(conn)
    _set_wal(conn, path, busy_timeout)
    wanted = {
        "foreign_keys": 1,
        "synchronous": _SYNCHRONOUS[synchronous],
        "query_only": int(readonly),
        "cache_size": -_CACHE_KIB,
        "temp_store": 2,
        "recursive_triggers": 1,
    }
    for name, value in wanted.items():
        conn.pragma(name, value)
        found = conn.pragma(name)
        if found != value:
            raise StoreUnavailable(f"{path}: pragma {name} is {found!r} where {value!r} was asked for")
    conn.pragma("journal_size_limit", 64 * 1024 * 1024)


def _give_back_pages(conn: apsw.Connection) -> None:
    """Lets the nightly run give free pages back; only a file in which nothing stands yet can be made so."""
    # Whoever holds the lock on an empty file is about to do the same.
    with suppress(apsw.BusyError):
        if conn.pragma("page_count") == 0:
            conn.pragma("auto_vacuum", _INCREMENTAL)


def _set_wal(conn: apsw.Connection, path: Path, busy_timeout: float) -> None:
    # The change to WAL needs the file alone, and SQLite does not call the busy handler for it.
    deadline = time.monotonic() + busy_timeout
    while True:
        try:
            mode = conn.pragma("journal_mode")
            if mode != "wal":
                mode = conn.pragma("journal_mode", "wal")
        except apsw.BusyError as error:
            if time.monotonic() >= deadline:
                raise StoreBusy(f"{path}: locked while it was opened") from error
            time.sleep(0.005)
            continue
        if mode != "wal":
            raise StoreUnavailable(f"{path}: journal mode is {mode!r}, not WAL")
        return
