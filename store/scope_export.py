"""Export of a scope as JSON lines: everything that SQLite holds of one user, or of one session of theirs.

The first line is a header: `{"format": "sidestream-export", "version": 1, "schema": ..., "namespace": ..., "user_id":
..., "session_id": ..., "exported_at": ...}`; each further line `{"table": ..., "row": {...}}`, parents before children.
Vectors are left out: they are made again from the text.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from memory.types import Scope
from store import rowcopy
from store.db import Database
from store.errors import NotFound
from store.migrate import schema_version
from store.scope_tables import SCOPE, TABLES, ScopeTable
from store.scopes import find_scope

FORMAT: Final = "sidestream-export"
VERSION: Final = 1
EVENTS: Final = "events"


def export(db: Database, scope: Scope, now: float) -> Iterator[str]:
    """The lines, without their ends. What is read is one moment of the database.

    Raises:
        NotFound: nothing is stored of the user, or of the session.
    """
    pk = find_scope(db, scope)
    if pk is None:
        raise NotFound(f"nothing is stored of user {scope.user_id!r} of namespace {scope.namespace!r}")
    with db.snapshot():
        header = {
            "format": FORMAT,
            "version": VERSION,
            "schema": schema_version(db),
            "namespace": scope.namespace,
            "user_id": scope.user_id,
            "session_id": scope.session_id,
            "exported_at": now,
            "left_out": left_out(db, scope),
        }
        yield _line(header)
        ids: dict[str, list[int]] = {SCOPE: [pk]}
        event_ids: list[str] = []
        for table in TABLES:
            rows = _rows(db, table, scope, ids)
            ids[table.name] = [row["id"] for row in rows]
            event_ids += [row["event_id"] for row in rows if row.get("event_id") and table.name.endswith("_messages")]
            for row in rows:
                yield _line({"table": table.name, "row": row})
        for row in _ledger(db, scope.namespace, event_ids):
            yield _line({"table": EVENTS, "row": row})


def left_out(db: Database, scope: Scope) -> dict[str, int]:
    """What an export of the scope is without: `jobs` that are not done and `generations` of facts of its user, and the
    namespace's `archive_files`."""
    return dict(db.run("scope_left_out", namespace=scope.namespace, scope_id=find_scope(db, scope))[0])


def _rows(db: Database, table: ScopeTable, scope: Scope, ids: dict[str, list[int]]) -> list[dict[str, Any]]:
    column, parent = table.of
    rows = rowcopy.of_parent(db, table.name, column, ids[parent])
    if scope.session_id is None:
        return rows
    if table.name == "sessions":
        found = [row for row in rows if row["session_id"] == scope.session_id]
        if not found:
            raise NotFound(f"user {scope.user_id!r} has no session {scope.session_id!r}")
        return found
    sessions, facts = set(ids["sessions"]), set(ids.get("long_term_memories", ()))
    if "session_pk" in table.refers and table.name != "memory_usage_log":
        return [row for row in rows if row["session_pk"] in sessions]
    if table.name == "long_term_memories":
        return [row for row in rows if row["source_session"] in sessions]
    if table.name in ("memory_history", "memory_usage_log"):
        known = {row["memory_id"] for row in rowcopy.by_ids(db, "long_term_memories", sorted(facts))}
        return [row for row in rows if row["memory_id"] in known]
    return rows


def _ledger(db: Database, namespace: str, event_ids: list[str]) -> list[dict[str, Any]]:
    names = rowcopy.columns(db, EVENTS)
    rows = db.tuples("rows_ledger", {"namespace": namespace, "ids": json.dumps(event_ids)})
    return [dict(zip(names, row, strict=True)) for row in rows]


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
