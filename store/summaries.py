"""Summaries of turns: short-term memory. The newest few of a session stay in recall, the rest only in the
table."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from memory.types import Scope, Summary
from store import fulltext, spaces, vectors
from store.db import Database
from store.scopes import find_scope


@dataclass(frozen=True, slots=True)
class SummaryText:
    """What the workers need of a summary to embed it."""

    id: int
    scope_id: int
    session_pk: int
    content: str
    occurred_at: float


def insert(
    db: Database,
    *,
    session_pk: int,
    scope_id: int,
    turn_first: int,
    turn_last: int,
    content: str,
    source_count: int,
    confidence: float,
    method: str,
    occurred_at: float,
    now: float,
    keep: int,
    terms: str | None = None,
) -> int | None:
    """Writes the summary of a turn range, once.

    The newest `keep` of the session stay in recall; older ones leave full-text and vectors. Where the new
    one is itself too old (it came late), it is written out of recall. With `terms` (memory.terms) it is
    indexed here.

    Returns:
        Its id, or None where a summary of these turns stands already.
    """
    with db.atomic():
        new = db.value(
            "summaries_insert",
            session_pk=session_pk,
            scope_id=scope_id,
            turn_first=turn_first,
            turn_last=turn_last,
            content=content,
            source_count=source_count,
            confidence=confidence,
            method=method,
            occurred_at=occurred_at,
            now=now,
        )
        if new is None:
            return None
        gone = [i for (i,) in db.tuples("summaries_retire", {"session_pk": session_pk, "keep": keep})]
        if terms is not None and new not in gone:
            fulltext.index(db, [("summary", new, scope_id, terms)])
        _forget(db, [i for i in gone if i != new])
        return int(new)


def recent(db: Database, scope: Scope, limit: int) -> list[Summary]:
    """The newest summaries in recall, oldest first: of the session that `scope` names, else of all the
    user's."""
    pk = find_scope(db, scope)
    if pk is None:
        return []
    name = "summaries_recent" if scope.session_id is None else "summaries_recent_of_session"
    params = {"scope_id": pk, "limit": limit, "namespace": scope.namespace, "session_id": scope.session_id}
    rows = db.run_on("", name, params)
    return [Summary(**row) for row in reversed(rows)]


def by_ids(db: Database, scope: Scope, ids: Sequence[int]) -> list[Summary]:
    """Those of `ids` that are in the scope (and in its session, if it names one) and in recall, in that
    order."""
    pk = find_scope(db, scope)
    if pk is None or not ids:
        return []
    rows = db.run("summaries_by_ids", ids=json.dumps(list(ids)), scope_id=pk, session_id=scope.session_id)
    return [Summary(**row) for row in rows]


def contents(db: Database, ids: Sequence[int]) -> dict[int, SummaryText]:
    """Texts by id, for those that are in recall; for the workers."""
    rows = db.run("summaries_contents", ids=json.dumps(list(ids)))
    return {row["id"]: SummaryText(**row) for row in rows}


def mark_embedded(db: Database, ids: Sequence[int]) -> None:
    """Says that their vectors stand; in the transaction that writes these."""
    db.many("summaries_mark_embedded", [(i,) for i in ids])


def _forget(db: Database, ids: list[int]) -> None:
    if not ids:
        return
    fulltext.remove(db, "summary", ids)
    for space in spaces.all_spaces(db) if db.has_vec else ():
        vectors.remove(db, space, "summary", ids)
