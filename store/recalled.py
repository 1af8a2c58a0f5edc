"""Rows of long-term memory that a search chose: what may be found was decided before (store.selection)."""

import json
from collections.abc import Sequence

from memory.facts.model import Fact
from memory.types import Scope, TimelineEntry
from store.db import Database
from store.scopes import find_scope


def facts(db: Database, scope: Scope, ids: Sequence[int]) -> list[Fact]:
    """Those of `ids` that are in the scope (and of its session, if it names one), whatever their status."""
    pk = find_scope(db, scope)
    if pk is None or not ids:
        return []
    rows = db.run("recalled_facts", ids=json.dumps(list(ids)), scope_id=pk, session_id=scope.session_id)
    return [Fact.of_row(row) for row in rows]


def timeline(db: Database, scope: Scope, ids: Sequence[int]) -> list[TimelineEntry]:
    """Those of `ids` that are in the scope (and of its session, if it names one)."""
    pk = find_scope(db, scope)
    if pk is None or not ids:
        return []
    rows = db.run("recalled_timeline", ids=json.dumps(list(ids)), scope_id=pk, session_id=scope.session_id)
    return [TimelineEntry(**{**row, "source_ids": tuple(json.loads(row["source_ids"]))}) for row in rows]
