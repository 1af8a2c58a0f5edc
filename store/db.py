"""One connection to the SQLite file: transactions, named statements, and the checks that keep both honest.

A `Database` belongs to the process that opened it and to one thread at a time. Writers use `atomic()`; a
reader that needs several statements to agree uses `snapshot()`.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import apsw

from store import connection
from store.callbacks import run_all
from store.errors import ForkedConnection, StoreError, translate
from store.gate import Gate
from store.sqlfiles import for_rows, statements
from store.term_shares import TermShares

if TYPE_CHECKING:
    from store.vector_cache import VectorCache

Clock: TypeAlias = Callable[[], float]
Row: TypeAlias = dict[str, Any]
Synchronous: TypeAlias = Literal["NORMAL", "FULL"]
_ROWS = 20


class Database:
    """A connection; make one with `Database.open` or `store.opening.open_database`.

    Attributes:
        path: the file.
        readonly: no statement may write.
        has_vec: sqlite-vec is loaded; without it everything but vectors works.
        clock: unix seconds.
        identity: inode and device of the file; a restored one is another.
        vector_cache: large scopes' vectors in memory, for a connection that searches; None to search the file.
        term_shares: what searches of large scopes found out about terms.
    """

    def __init__(
        self,
        conn: apsw.Connection,
        path: Path,
        *,
        readonly: bool,
        has_vec: bool,
        gate: Gate | None,
        clock: Clock,
    ) -> None:
        self.path = path
        self.readonly = readonly
        self.has_vec = has_vec
        self.clock = clock
        self._conn = conn
        self.identity = path.stat()[1:3]
        self.vector_cache: VectorCache | None = None
        self.term_shares = TermShares()
        self._gate = gate
        self._pid = os.getpid()
        self._depth = 0
        self._after: list[Callable[[], object]] = []
        self._sql = statements()
        self._columns: dict[str, tuple[str, ...]] = {}

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        readonly: bool = False,
        synchronous: Synchronous = "NORMAL",
        busy_timeout: float = 5.0,
        poll_busy: bool = False,
        gate: bool = False,
        clock: Clock = time.time,
    ) -> "Database":
        """Opens the file as it stands, without migrating it (see `open_database`).

        Args:
            path: the SQLite file; created where it is missing, unless `readonly`.
            readonly: refuse every write.
            synchronous: FULL where a commit must survive a power cut (the consumer), NORMAL elsewhere.
            busy_timeout: seconds to wait for a lock.
            poll_busy: ask for the lock every half millisecond, to win it over writers that back off.
            gate: wait at `<path>.gate` before each transaction, so that only one such writer competes.
            clock: unix seconds.

        Raises:
            StoreUnavailable, StoreCorrupt, StoreBusy.
        """
        path = Path(path)
        conn, has_vec = connection.connect(
            path, readonly=readonly, synchronous=synchronous, busy_timeout=busy_timeout, poll_busy=poll_busy
        )
        door = Gate(path.with_name(path.name + ".gate"), busy_timeout) if gate and not readonly else None
        return cls(conn, path, readonly=readonly, has_vec=has_vec, gate=door, clock=clock)

    # transactions

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """All or nothing: the outermost is `BEGIN IMMEDIATE`, a nested one a savepoint.

        Raises:
            StoreBusy: the lock did not come free in time.
            StoreFull, StoreUnavailable, StoreCorrupt: from the commit; everything is rolled back.
        """
        self._check_process()
        depth, registered = self._depth, len(self._after)
        outermost = depth == 0
        # An exception from a signal handler (a task's time limit) may strike between any two lines, so that
        # whatever has to be undone stands inside.
        try:
            self._depth = depth + 1
            if outermost and self._gate is not None:
                self._gate.enter()
            self._execute("begin", "BEGIN IMMEDIATE" if outermost else f"SAVEPOINT s{self._depth}")
            yield
            self._execute("commit", "COMMIT" if outermost else f"RELEASE s{self._depth}")
        except BaseException:
            del self._after[registered:]
            self._roll_back(outermost)
            raise
        finally:
            self._depth = depth
            if outermost and self._gate is not None:
                self._gate.leave()
        if outermost:
            self._run_after()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Statements inside see one state of the file. Inside a transaction it adds nothing."""
        self._check_process()
        if self._depth or self._conn.in_transaction:
            yield
            return
        self._execute("begin", "BEGIN")
        try:
            yield
        finally:
            if self._conn.in_transaction:
                self._execute("commit", "COMMIT")

    def after_commit(self, callback: Callable[[], object]) -> None:
        """Runs `callback` once the outermost transaction is committed, never if it (or its savepoint) rolls back.

        Outside a transaction it runs at once. Callbacks run in order; if one raises, the others still run and
        the first error is raised: the transaction stands.
        """
        if self._depth == 0:
            callback()
        else:
            self._after.append(callback)

    @property
    def in_transaction(self) -> bool:
        """A write transaction is open."""
        return self._depth > 0

    # statements

    def run(self, name: str, /, **params: object) -> list[Row]:
        """Rows of the named statement as dicts; an empty list where it returns none."""
        return self.run_on("", name, params)

    def one(self, name: str, /, **params: object) -> Row | None:
        """The first row, or None."""
        rows = self.run_on("", name, params)
        return rows[0] if rows else None

    def value(self, name: str, /, **params: object) -> Any:
        """The first column of the first row, or None."""
        rows = self.tuples(name, params)
        return rows[0][0] if rows else None

    def tuples(
        self, name: str, params: Mapping[str, object] | Sequence[object] = (), *, table: str = ""
    ) -> list[tuple[Any, ...]]:
        """Rows as tuples, for the hot paths."""
        cursor = self._execute(name, self._text(name, table), params)
        try:
            return cursor.fetchall()
        except apsw.Error as error:
            raise translate(error, name) from error

    def run_on(self, table: str, name: str, params: Mapping[str, object]) -> list[Row]:
        """As `run`, for a statement that has `{table}` in place of a table's name."""
        cursor = self._execute(name, self._text(name, table), params)
        columns = self._columns.get(name)
        try:
            if columns is None:
                try:
                    columns = tuple(column[0] for column in cursor.get_description())
                except apsw.ExecutionCompleteError:
                    return []
                self._columns[name] = columns
            return [dict(zip(columns, row, strict=True)) for row in cursor]
        except apsw.Error as error:
            raise translate(error, name) from error

    def many(self, name: str, rows: Iterable[Mapping[str, object] | Sequence[object]], *, table: str = "") -> int:
        """Runs the statement for each of `rows`, all in one transaction; how many rows it changed. Inside a transaction
        it adds no savepoint (a fifth of the consumer's speed): if it raises, let the transaction roll back."""
        if not self._depth:
            with self.atomic():
                return self.many(name, rows, table=table)
        self._check_process()
        before = self._conn.total_changes()
        try:
            self._conn.executemany(self._text(name, table), rows)
        except apsw.Error as error:
            raise translate(error, name) from error
        return self._conn.total_changes() - before

    def insert(self, name: str, rows: Sequence[Sequence[object]]) -> int:
        """As `many`, for `INSERT ... VALUES (?, ...)`: several rows a statement, which spares most of them the way from
        the root of every index. Not for virtual tables."""
        if not self._depth:
            with self.atomic():
                return self.insert(name, rows)
        text, whole, changed = self._text(name, ""), len(rows) - len(rows) % _ROWS, 0
        for first in range(0, whole, _ROWS):
            self._execute(name, for_rows(text, _ROWS), tuple(chain.from_iterable(rows[first : first + _ROWS])))
            changed += self.changes
        return changed + self.many(name, rows[whole:])

    def script(self, label: str, sql: str) -> None:
        """Runs SQL text that is not in store/sql: migrations and the tables of embedding spaces."""
        self._execute(label, sql)

    def pragma(self, name: str) -> Any:
        """A pragma's value."""
        self._check_process()
        try:
            return self._conn.pragma(name)
        except apsw.Error as error:
            raise translate(error, f"pragma {name}") from error

    @property
    def changes(self) -> int:
        """Rows that the last INSERT, UPDATE or DELETE changed."""
        return self._conn.changes()

    def close(self) -> None:
        """Closes the connection; in another process than the one that opened it, nothing, since SQLite's clean-up
        there would take the parent's files away."""
        if self._pid != os.getpid():
            return
        try:
            self._conn.close()
        except apsw.Error as error:
            raise translate(error, str(self.path)) from error
        finally:
            if self._gate is not None:
                self._gate.close()

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # inside

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            raise ForkedConnection(f"{self.path} belongs to process {self._pid}: open it anew after the fork")

    def _text(self, name: str, table: str) -> str:
        try:
            text = self._sql[name]
        except KeyError:
            raise StoreError(f"no statement is named {name}") from None
        return text.replace("{table}", table) if table else text

    def _execute(self, name: str, sql: str, params: Mapping[str, object] | Sequence[object] = ()) -> apsw.Cursor:
        self._check_process()
        try:
            return self._conn.execute(sql, params or None)
        except apsw.Error as error:
            raise translate(error, name) from error

    def _roll_back(self, outermost: bool) -> None:
        # SQLite rolls back by itself on some errors (full, I/O); then there is nothing left to undo.
        if not self._conn.in_transaction:
            return
        name = f"s{self._depth}"
        for sql in ["ROLLBACK"] if outermost else [f"ROLLBACK TO {name}", f"RELEASE {name}"]:
            self._execute("rollback", sql)

    def _run_after(self) -> None:
        callbacks, self._after = self._after, []
        run_all(callbacks)
