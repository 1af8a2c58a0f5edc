"""Import of what `store.scope_export` wrote: with the same ids and times, and a second time without effect.

A row that stands already, by what it is known by, is left as it is. A number that is taken here is replaced, in the row
and wherever it is referred to. Committed in slices: killed anywhere, the same import goes on.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from memory.terms import searchable, terms
from memory.types import Scope
from store import fulltext, rowcopy
from store.db import Database
from store.errors import StoreConflict, StoreError
from store.migrate import schema_version
from store.scope_export import EVENTS, FORMAT, VERSION
from store.scope_tables import TABLES, ScopeTable
from store.scopes import scope_id
from store.sessions import owner
from store.tombstones import Erased

_SLICE = 200


@dataclass(slots=True)
class Imported:
    """Rows by table that were written, and how many stood there already."""

    written: dict[str, int] = field(default_factory=dict)
    present: int = 0


def load(db: Database, lines: Iterable[str], *, embed_min_chars: int) -> Imported:
    """Writes an export's rows.

    Raises:
        StoreError: it is no export, or of a newer program; a line that cannot be read is named.
        StoreConflict: a session of the same id belongs to another user here, or the user or a guest was erased since.
    """
    numbered = enumerate(lines, 1)
    header = _header(db, numbered)
    scope = Scope(user_id=header["user_id"], namespace=header["namespace"])
    erased, made_at = Erased(db), header["exported_at"]
    if erased.since(scope.namespace, scope.user_id, header["session_id"], made_at):
        raise StoreConflict(f"user {scope.user_id!r} was erased after this export was made")
    rows = _grouped(numbered)
    for guest in sorted(_guests(rows.get("main_messages", ()))):
        if erased.since(scope.namespace, guest, None, made_at):
            raise StoreConflict(f"user {guest!r}, who speaks in it, was erased after this export was made")
    for row in rows.get("sessions", ()):
        holder = owner(db, scope.namespace, row["session_id"])
        if holder is not None and holder[0] != scope.user_id:
            raise StoreConflict(f"session {row['session_id']!r} belongs to another user here")
    with db.atomic():
        pk = scope_id(db, scope.namespace, scope.user_id)
    loader = _Loader(db, scope.namespace, pk, embed_min_chars)
    for table in TABLES:
        loader.table(table, rows.get(table.name, []))
    loader.ledger(rows.get(EVENTS, []))
    return loader.result


def _guests(rows: Iterable[dict[str, Any]]) -> set[str]:
    """Who said something in the user's sessions besides the user; events of theirs name them."""
    named = (json.loads(row["metadata"]).get("user_id") for row in rows)
    return {user for user in named if isinstance(user, str)}


class _Loader:
    def __init__(self, db: Database, namespace: str, scope: int, embed_min_chars: int) -> None:
        self._db = db
        self._namespace = namespace
        self._scope = scope
        self._min_chars = embed_min_chars
        self._ids: dict[str, dict[int, int]] = {}
        self.result = Imported()

    def table(self, table: ScopeTable, rows: list[dict[str, Any]]) -> None:
        """Coarser entries of the timeline first: the finer ones refer to them."""
        if table.name == "timeline":
            rows = sorted(rows, key=lambda row: row["id"], reverse=True)
        new = self._assign(table, rows)
        for start in range(0, len(new), _SLICE):
            with self._db.atomic():
                for row in new[start : start + _SLICE]:
                    self._write(table, row)
        self.result.present += len(rows) - len(new)

    def ledger(self, rows: list[dict[str, Any]]) -> None:
        for start in range(0, len(rows), _SLICE):
            with self._db.atomic():
                self._count(EVENTS, sum(rowcopy.insert(self._db, EVENTS, row) for row in rows[start : start + _SLICE]))

    def _assign(self, table: ScopeTable, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Gives each row its number here; those that are new."""
        ids = self._ids[table.name] = {}
        for row in rows:
            self._point(table, row)
        taken = {i for (i,) in self._run("rows_taken", table, ids=json.dumps([row["id"] for row in rows]))}
        highest = max([self._highest(table), *(row["id"] for row in rows)], default=0)
        new = []
        for row in rows:
            standing = self._find(table, row)
            old = row["id"]
            if standing is None:
                if old in taken:
                    highest += 1
                    row["id"] = highest
                new.append(row)
            ids[old] = row["id"] if standing is None else standing
        for row in new:
            for column, other in table.lists.items():
                row[column] = json.dumps([self._ids[other].get(i, i) for i in json.loads(row[column])])
            for column, other in table.refers.items():
                if other == table.name and row[column] is not None:
                    row[column] = ids.get(row[column])
        return new

    def _point(self, table: ScopeTable, row: dict[str, Any]) -> None:
        if "scope_id" in row:
            row["scope_id"] = self._scope
        for column, other in table.refers.items():
            if other != table.name and row.get(column) is not None:
                row[column] = self._ids[other].get(row[column])

    def _find(self, table: ScopeTable, row: dict[str, Any]) -> int | None:
        known = " AND ".join(f"{column} IS :{column}" for column in table.known_by)
        found = self._db.tuples("rows_find", {c: row[c] for c in table.known_by}, table=f"{table.name} WHERE {known}")
        return int(found[0][0]) if found else None

    def _highest(self, table: ScopeTable) -> int:
        return int(self._run("rows_highest", table, name=table.name)[0][0])

    def _run(self, statement: str, table: ScopeTable, **params: object) -> list[tuple[Any, ...]]:
        return self._db.tuples(statement, params, table=table.name)

    def _write(self, table: ScopeTable, row: dict[str, Any]) -> None:
        embedded = row.get("has_embedding")
        if embedded == 1:
            row["has_embedding"] = 0
        if not rowcopy.insert(self._db, table.name, row):
            raise StoreConflict(f"{table.name}: a row with the number {row['id']} came in meanwhile; import again")
        self._count(table.name, 1)
        if table.indexed is not None and _searched(table, row):
            self._index(table, row, embedded)

    def _index(self, table: ScopeTable, row: dict[str, Any], embedded: Any) -> None:
        assert table.indexed is not None
        name = json.loads(row["metadata"]).get("name") if "metadata" in row else None
        words = " ".join(terms(searchable(name if isinstance(name, str) else None, row["content"])))
        if words:
            fulltext.index(self._db, [(table.indexed, row["id"], self._scope, words)])
        if embedded != 2 and len(row["content"]) > self._min_chars:
            subject = f"{table.indexed}:{row['id']}"
            self._db.run("archive_owe_embedding", subject=subject, namespace=self._namespace, now=self._db.clock())

    def _count(self, table: str, by: int) -> None:
        self.result.written[table] = self.result.written.get(table, 0) + by


def _searched(table: ScopeTable, row: dict[str, Any]) -> bool:
    if table.indexed == "message":
        return bool(row["role"] != "system")
    return bool(row["in_recall"]) if table.indexed == "summary" else bool(row["status"] == "active")


def _header(db: Database, numbered: Iterator[tuple[int, str]]) -> dict[str, Any]:
    found = _read(*next(numbered, (1, "")))
    if found.get("format") != FORMAT:
        raise StoreError(f"line 1: no export: its format is {found.get('format')!r}, not {FORMAT!r}")
    if found.get("version") != VERSION or found.get("schema", 0) > schema_version(db):
        raise StoreError("line 1: a newer program wrote this export: import it with that one")
    return found


def _grouped(numbered: Iterator[tuple[int, str]]) -> dict[str, list[dict[str, Any]]]:
    known = {table.name for table in TABLES} | {EVENTS}
    rows: dict[str, list[dict[str, Any]]] = {}
    for number, line in numbered:
        found = _read(number, line)
        if found.get("table") not in known or not isinstance(found.get("row"), dict):
            raise StoreError(f"line {number}: a table and a row are needed; tables are {', '.join(sorted(known))}")
        rows.setdefault(found["table"], []).append(found["row"])
    return rows


def _read(number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise StoreError(f"line {number}: no JSON: {error}") from error
    if not isinstance(found, dict):
        raise StoreError(f"line {number}: a JSON object is needed")
    return found
