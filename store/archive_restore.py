"""Search in the archive, and the way back from it into SQLite."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memory.retention import Type
from memory.terms import searchable, terms
from memory.types import Scope
from store import fulltext, rowcopy
from store.archive import Archive, Problem, text_of
from store.archive_file import Item
from store.archive_kinds import KINDS
from store.db import Database
from store.scopes import scope_id
from store.sessions import load_many
from store.tombstones import Erased

_BATCH = 100
_LOOSE = {"timeline": {"rolled_into": "timeline"}, "long_term_memories": {"source_session": "sessions"}}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which items are meant. The scope is never left out: a user's archive is as private as their memory.

    `ids` are item ids such as `message:17`; `text` must have all its words in the item; times are unix seconds.
    """

    scope: Scope
    ids: frozenset[str] = frozenset()
    text: str = ""
    kind: Type | None = None
    since: float | None = None
    until: float | None = None


@dataclass(slots=True)
class Restored:
    """Items that came back, that stood there already, and that could not come back, with the reasons."""

    restored: int = 0
    present: int = 0
    refused: list[Problem] = field(default_factory=list)


def search(archive: Archive, wanted: Wanted, problems: list[Problem], limit: int = 1_000) -> list[Item]:
    """Items that fit, newest first; what cannot be read goes to `problems`.

    Raises:
        ArchiveUnavailable: the folder cannot be read.
    """
    found = sorted(_matching(archive, wanted, problems), key=lambda item: item["starts_at"], reverse=True)
    return found[:limit]


def restore(
    archive: Archive, wanted: Wanted, problems: list[Problem], *, until: float, now: float, embed_min_chars: int
) -> Restored:
    """Brings items back with their own ids and times, in short transactions; they stay at least until `until`.

    Messages are searched again at once, and by vectors when their embedding, which is owed anew, is done.

    Raises:
        ArchiveUnavailable: the folder cannot be read.
        StoreError: SQLite refused; what was restored before stands, and asking again goes on.
    """
    result = Restored()
    items = list(_matching(archive, wanted, problems))
    # Ids only grow, so that this is the order in which things happened.
    items.sort(key=lambda item: (item["kind"], item["row"]["id"]))
    for start in range(0, len(items), _BATCH):
        with archive.db.atomic():
            erased = Erased(archive.db)
            for item in items[start : start + _BATCH]:
                if erased.since(item["namespace"], item["user_id"], item["session_id"], item["ends_at"]):
                    result.refused.append(Problem(item["id"], "its user was erased"))
                    continue
                _restore_one(archive.db, item, result, until, now, embed_min_chars)
    return result


def _matching(archive: Archive, wanted: Wanted, problems: list[Problem]) -> Iterator[Item]:
    scope = wanted.scope
    needed = set(terms(wanted.text))
    rows = archive.files(namespace=scope.namespace, kind=wanted.kind, since=wanted.since, until=wanted.until)
    for item in archive.items(rows, problems):
        if (item["namespace"], item["user_id"]) != (scope.namespace, scope.user_id):
            continue
        if scope.session_id is not None and item["session_id"] != scope.session_id:
            continue
        if wanted.ids and item["id"] not in wanted.ids:
            continue
        if wanted.since is not None and item["ends_at"] < wanted.since:
            continue
        if wanted.until is not None and item["starts_at"] > wanted.until:
            continue
        if needed <= set(terms(text_of(item))) if needed else True:
            yield item


def _restore_one(db: Database, item: Item, result: Restored, until: float, now: float, embed_min_chars: int) -> None:
    kind = KINDS[item["kind"]]
    row = dict(item["row"])
    if "scope_id" in row:
        row["scope_id"] = scope_id(db, item["namespace"], item["user_id"])
    if "session_pk" in row and item["session_id"] is not None:
        key = (item["namespace"], item["session_id"])
        session = load_many(db, [key]).get(key)
        if session is None:
            result.refused.append(Problem(item["id"], f"its session {item['session_id']!r} is gone"))
            return
        row["session_pk"] = session.id
    _loosen(db, kind.table, row)
    if kind.name == "summary":
        # Readable, but it does not come before what the session has in recall now.
        row["in_recall"] = row["has_embedding"] = 0
    if not rowcopy.insert(db, kind.table, row):
        result.present += 1
        return
    if kind.child is not None:
        for child in item.get(kind.child.table, []):
            rowcopy.insert(db, kind.child.table, child | ({"scope_id": row["scope_id"]} if "scope_id" in child else {}))
    db.run("archive_mark_restored", kind=kind.name, row_id=row["id"], until=until)
    if kind.name == "message":
        _revive_message(db, item, row, now, embed_min_chars)
    result.restored += 1


def _loosen(db: Database, table: str, row: dict[str, Any]) -> None:
    """Lets go of rows that it names and that are gone, as deleting them would have done."""
    for column, other in _LOOSE.get(table, {}).items():
        if row.get(column) is not None and not rowcopy.by_ids(db, other, [row[column]]):
            row[column] = None


def _revive_message(db: Database, item: Item, row: dict[str, object], now: float, embed_min_chars: int) -> None:
    """As when it came in: counted, indexed, and its embedding owed."""
    db.run("archive_count_message", id=row["session_pk"])
    content, message_id = str(row["content"]), int(str(row["id"]))
    name = json.loads(str(row["metadata"])).get("name")
    words = " ".join(terms(searchable(name if isinstance(name, str) else None, content)))
    if row["role"] != "system" and words:
        fulltext.index(db, [("message", message_id, int(str(row["scope_id"])), words)])
    if row["has_embedding"] != 2 and len(content) > embed_min_chars:
        db.run_on("main_messages", "archive_not_embedded", {"id": message_id})
        db.run("archive_owe_embedding", subject=f"message:{message_id}", namespace=item["namespace"], now=now)
