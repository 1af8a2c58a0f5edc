"""Facts as people and agents ask for them: one, many by what they are, those of an earlier moment, the core ones."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from memory.facts.model import Fact, Status
from memory.types import Scope
from memory.weights import Standing, WeightPolicy, is_core
from store.db import Database, Row
from store.scopes import find_scope


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact, and what decides how long it lives."""

    fact: Fact
    standing: Standing


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts. With `as_of` (unix seconds) those held at that moment, whatever became of them; then `statuses` says
    nothing. `types` empty: any; `tags`: all of them; a `data_source` finds what holds for it or for all sources."""

    statuses: tuple[Status, ...] = ("active",)
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    min_confidence: float = 0.0
    data_source: str | None = None
    as_of: float | None = None


@dataclass(frozen=True, slots=True)
class Uses:
    """What the usage log says of a fact."""

    given: int
    used: int
    last_used: float | None


EVERY = FactFilter()


def one(db: Database, scope: Scope, memory_id: str) -> KnownFact | None:
    """A fact of the scope, whatever its status."""
    pk = find_scope(db, scope)
    return None if pk is None else one_in(db, pk, memory_id)


def one_in(db: Database, scope_id: int, memory_id: str) -> KnownFact | None:
    """As `one`, by the scope's number; for the workers."""
    row = db.one("fact_reading_one", memory_id=memory_id, scope_id=scope_id)
    return None if row is None else _known(row)


def by_ids(db: Database, scope: Scope, ids: Sequence[int], now: float, which: FactFilter = EVERY) -> list[KnownFact]:
    """Those of `ids` that are active in the scope, not expired and wanted, in that order."""
    pk = find_scope(db, scope)
    if pk is None or not ids:
        return []
    params = {"ids": json.dumps(list(ids)), "scope_id": pk, "now": now, **_wanted(scope, which)}
    return [_known(row) for row in db.run_on("", "fact_reading_by_ids", params)]


def page(db: Database, scope: Scope, which: FactFilter, limit: int, offset: int = 0) -> tuple[list[KnownFact], int]:
    """Facts of the scope, pinned ones first, then the heaviest; and how many there are in all."""
    pk = find_scope(db, scope)
    if pk is None:
        return [], 0
    params = {"scope_id": pk, "limit": limit, "offset": offset, **_wanted(scope, which)}
    if which.as_of is None:
        rows = db.run_on("", "fact_reading_page", {**params, "statuses": json.dumps(which.statuses)})
    else:
        rows = db.run_on("", "fact_reading_page_as_of", {**params, "as_of": which.as_of})
    return [_known(row) for row in rows], rows[0]["total"] if rows else 0


def core(
    db: Database, scope: Scope, policy: WeightPolicy, now: float, *, data_source: str | None = None
) -> list[KnownFact]:
    """The scope's core facts, pinned ones first, then the heaviest; no more than the policy lets be core."""
    pk = find_scope(db, scope)
    if pk is None:
        return []
    params = {"scope_id": pk, "core_from": policy.core_from, "limit": policy.core_limit}
    rows = db.run("fact_reading_core", **params, now=now, data_source=data_source)
    known = [_known(row) for row in rows]
    return [k for k in known if is_core(k.standing, now, policy)][: policy.core_limit]


def superseded(db: Database, scope: Scope, memory_id: str) -> list[KnownFact]:
    """The facts whose place it took."""
    pk = find_scope(db, scope)
    if pk is None:
        return []
    return [_known(row) for row in db.run("fact_reading_superseded", memory_id=memory_id, scope_id=pk)]


def uses(db: Database, scope: Scope, memory_id: str) -> Uses:
    """How often answers were given it and used it, as far as the log goes back."""
    pk = find_scope(db, scope)
    row = None if pk is None else db.one("fact_reading_use", memory_id=memory_id, scope_id=pk)
    return Uses(0, 0, None) if row is None else Uses(row["given"], row["used"], row["last_used"])


def _wanted(scope: Scope, which: FactFilter) -> dict[str, object]:
    return {
        "session_id": scope.session_id,
        "types": json.dumps(which.types) if which.types else None,
        "tags": json.dumps(which.tags),
        "min_confidence": which.min_confidence,
        "data_source": which.data_source,
    }


def _known(row: Row) -> KnownFact:
    standing = Standing(row["weight"], row["weighed"], row["importance"], bool(row["pinned"]), bool(row["weight_held"]))
    return KnownFact(Fact.of_row(row), standing)
