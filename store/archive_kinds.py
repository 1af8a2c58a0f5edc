"""What can be archived: each kind's table, what belongs to it, and how its rows are found and described."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory.retention import Type
from memory.types import Kind
from store import fulltext, rowcopy, spaces, vectors
from store.archive_file import Item
from store.db import Database


@dataclass(frozen=True, slots=True)
class Child:
    """Rows of another table that go with an item: `column` there holds the item's `parent` column."""

    table: str
    column: str
    parent: str


@dataclass(frozen=True, slots=True)
class ArchiveKind:
    """One kind. `indexed` is its kind in full text and vectors; `started` and `ended` are columns with its time."""

    name: Type
    table: str
    started: str
    ended: str
    indexed: Kind | None = None
    child: Child | None = None


KINDS: dict[Type, ArchiveKind] = {
    kind.name: kind
    for kind in (
        ArchiveKind("message", "main_messages", "occurred_at", "occurred_at", indexed="message"),
        ArchiveKind("summary", "short_term_memories", "occurred_at", "occurred_at", indexed="summary"),
        ArchiveKind(
            "run", "subagent_runs", "started_at", "finished_at", child=Child("subagent_messages", "run_pk", "id")
        ),
        ArchiveKind("timeline", "timeline", "starts_at", "ends_at"),
        ArchiveKind(
            "fact",
            "long_term_memories",
            "valid_from",
            "updated_at",
            indexed="fact",
            child=Child("memory_history", "memory_id", "memory_id"),
        ),
        ArchiveKind("dead_letter", "dead_letters", "created_at", "updated_at"),
    )
}


def due(
    db: Database, kind: Type, namespace: str, *, before: float, now: float, after: int = 0, limit: int = -1
) -> list[tuple[int, float | None]]:
    """(id, importance) of what is older than `before`, in order of id from `after` on; nothing under a legal hold,
    nor what was restored until later than `now`."""
    params = {"namespace": namespace, "before": before, "now": now, "after": after, "limit": limit}
    return [(row[0], row[1]) for row in db.tuples(f"retention_due_{kind}", params)]


def items(db: Database, kind: ArchiveKind, ids: Sequence[int]) -> list[Item]:
    """The rows with all that belongs to them, each with its owner's names, in order of id."""
    rows = rowcopy.by_ids(db, kind.table, ids)
    owners = {row["id"]: row for row in db.run_on("", f"archive_owners_{kind.name}", {"ids": json.dumps(list(ids))})}
    children = _children(db, kind, rows)
    found = []
    for row in rows:
        owner = owners[row["id"]]
        item: Item = {
            "kind": kind.name,
            "id": f"{kind.name}:{row['id']}",
            "namespace": owner["namespace"],
            "user_id": owner["user_id"],
            "session_id": owner["session_id"],
            "starts_at": row[kind.started],
            "ends_at": row[kind.ended] if row[kind.ended] is not None else row[kind.started],
            "row": row,
        }
        if kind.child is not None:
            item[kind.child.table] = children.get(row[kind.child.parent], [])
        found.append(item)
    return found


def delete(db: Database, kind: ArchiveKind, ids: Sequence[int]) -> int:
    """Deletes rows with their full text, vectors and what belongs to them; how many rows there were."""
    if kind.name == "message":
        db.run("archive_uncount_messages", ids=json.dumps(list(ids)))
    if kind.indexed is not None:
        fulltext.remove(db, kind.indexed, ids)
        for space in spaces.all_spaces(db) if db.has_vec else ():
            vectors.remove(db, space, kind.indexed, ids)
    if kind.name == "fact":
        db.run("archive_delete_history", ids=json.dumps(list(ids)))
    db.many("archive_unmark_restored", [(kind.name, i) for i in ids])
    return rowcopy.delete(db, kind.table, ids)


def _children(db: Database, kind: ArchiveKind, rows: Sequence[dict[str, Any]]) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = {}
    if kind.child is not None:
        child = kind.child
        for row in rowcopy.of_parent(db, child.table, child.column, [r[child.parent] for r in rows]):
            found.setdefault(row[child.column], []).append(row)
    return found
