"""Vectors in sqlite-vec: written by DELETE and INSERT, searched within one scope's partition."""

import json
from collections.abc import Sequence
from typing import TypeAlias

from memory.types import Candidate, Kind, Scope
from store import kinds as kind_codes
from store.db import Database
from store.errors import VectorsUnavailable
from store.scopes import find_scope
from store.spaces import Space

VectorRow: TypeAlias = tuple[Kind, int, int, int, bytes]
"""(kind, id, scope id, session pk, float32 little-endian vector of unit length)."""


def upsert(db: Database, space: Space, rows: Sequence[VectorRow]) -> None:
    """Writes vectors, replacing those that stand.

    Raises:
        VectorsUnavailable: sqlite-vec is not loaded.
    """
    _need_vec(db)
    keyed = [(kind_codes.key(row[0], row[1]), row) for row in rows]
    with db.atomic():
        db.many("vectors_delete", [(key,) for key, _ in keyed], table=space.table)
        db.many(
            "vectors_insert",
            [
                (key, scope, kind_codes.code(kind), session, vector, vector)
                for key, (kind, _, scope, session, vector) in keyed
            ],
            table=space.table,
        )


def remove(db: Database, space: Space, kind: Kind, ids: Sequence[int]) -> None:
    """Deletes vectors; ids that have none do no harm.

    Raises:
        VectorsUnavailable: sqlite-vec is not loaded.
    """
    _need_vec(db)
    db.many("vectors_delete", [(kind_codes.key(kind, i),) for i in ids], table=space.table)


def knn(
    db: Database,
    space: Space,
    scope: Scope,
    query: bytes,
    k: int,
    kinds: Sequence[Kind] = ("message", "summary"),
) -> list[Candidate]:
    """The `k` nearest of the scope, nearest first; score is the cosine similarity. Empty without
    sqlite-vec."""
    pk = find_scope(db, scope)
    if pk is None or not db.has_vec or not kinds:
        return []
    rows = db.tuples(
        "vectors_exact",
        {"query": query, "k": k, "scope_id": pk, "kinds": json.dumps(kind_codes.codes(kinds))},
        table=space.table,
    )
    return [Candidate(*kind_codes.split(key), 1.0 - distance) for key, distance in rows]


def fetch(db: Database, space: Space, kind: Kind, ids: Sequence[int]) -> dict[int, bytes]:
    """Vectors by id, for those that stand."""
    if not db.has_vec:
        return {}
    keys = json.dumps([kind_codes.key(kind, i) for i in ids])
    return {
        kind_codes.split(key)[1]: vector
        for key, vector in db.tuples("vectors_fetch", {"keys": keys}, table=space.table)
    }


def count(db: Database, space: Space) -> int:
    """How many vectors the space holds."""
    return int(db.tuples("vectors_count", table=space.table)[0][0]) if db.has_vec else 0


def _need_vec(db: Database) -> None:
    if not db.has_vec:
        raise VectorsUnavailable("sqlite-vec could not be loaded, so no vector can be written")
