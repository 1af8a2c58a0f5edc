"""Vectors: found by their bits in sqlite-vec within one scope's partition, ranked by the floats themselves.

The bits (one a dimension) make the first pass; the best of it, and in a small scope that is everything,
are compared again in full. A bit is the sign of a dimension against the space's centre, since many models
keep all their vectors in one narrow cone: measured with multilingual-e5-small, 100 candidates held 58 % of
the true ten without a centre and 97 % with one, made of the first few hundred vectors. Floats stand in a
plain table: measured, vec0's own float column took 1.5 to 3 times the time and up to 2.6 times the space,
and gave less of it back.
"""

import json
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from memory.types import Candidate, Kind, Scope
from store import kinds as kind_codes
from store import vector_changes
from store.db import Database
from store.errors import VectorsUnavailable
from store.narrowing import narrow
from store.spaces import Space

VectorRow: TypeAlias = tuple[Kind, int, int, int, bytes]
"""(kind, id, scope id, session pk, float32 little-endian vector of unit length)."""

RESCORED = 256
"""At least so many of the first pass are compared in full; a scope with no more vectors is searched
exactly."""
CENTRED_AT = RESCORED
"""With so many vectors a space gets its centre. With fewer every search is exact, whatever the bits are."""
HEAD = 32
"""Of what was found in memory twice so many are compared again in full: eight bits a dimension confuse
near-duplicates."""
MAX_K = 4_096
"""sqlite-vec's own bound of one search."""


def upsert(db: Database, space: Space, rows: Sequence[VectorRow]) -> None:
    """Writes vectors, replacing those that stand.

    Raises:
        VectorsUnavailable: sqlite-vec is not loaded.
        ValueError: a vector is not of the space's length.
    """
    _need_vec(db)
    for kind, row_id, _, _, vector in rows:
        if len(vector) != 4 * space.dimensions:
            raise ValueError(f"{kind} {row_id}: {len(vector)} bytes are no vector of {space.dimensions} dimensions")
    keyed = [(kind_codes.key(row[0], row[1]), row) for row in rows]
    with db.atomic():
        db.many("vectors_delete_bits", [(key,) for key, _ in keyed], table=space.table)
        bits = [(key, r[2], kind_codes.code(r[0]), r[3], r[4], space.id) for key, r in keyed]
        db.many("vectors_insert_bits", bits, table=space.table)
        db.many("vectors_put_floats", [(key, r[4]) for key, r in keyed], table=space.table)
        vector_changes.written(db, space, [(r[2], key, r[3]) for key, r in keyed])
        if not db.value("spaces_centred", id=space.id) and count(db, space) >= CENTRED_AT:
            _centre(db, space)


def remove(db: Database, space: Space, kind: Kind, ids: Sequence[int]) -> None:
    """Deletes vectors; ids that have none do no harm.

    Raises:
        VectorsUnavailable: sqlite-vec is not loaded.
    """
    _need_vec(db)
    keys = [(kind_codes.key(kind, i),) for i in ids]
    with db.atomic():
        vector_changes.removed(db, space, [key for (key,) in keys])
        db.many("vectors_delete_bits", keys, table=space.table)
        db.many("vectors_delete_floats", keys, table=space.table)


def knn(
    db: Database,
    space: Space,
    scope: Scope,
    query: bytes,
    k: int,
    kinds: Sequence[Kind] = ("message", "summary"),
    *,
    head: int = HEAD,
) -> list[Candidate]:
    """The `k` (at most 4,096) nearest of the scope, nearest first; score is the cosine similarity, -1 to 1.

    A `session_id` or `agent_id` in the scope narrows the search before the nearest are chosen. Empty without
    sqlite-vec. A large scope that the connection's cache holds is searched there: behind the first few, its cosines
    are right to about .001; `head` 0 leaves all so, for who ranks them anew.

    Raises:
        ValueError: the query is not of the space's length.
    """
    if len(query) != 4 * space.dimensions:
        raise ValueError(f"query: {len(query)} bytes are not {space.dimensions} dimensions")
    narrowed = narrow(db, scope)
    if narrowed is None or not db.has_vec or not kinds or k < 1:
        return []
    k = min(k, MAX_K)
    if db.vector_cache is not None and scope.agent_id is None:
        index = db.vector_cache.index(db, space, narrowed.scope_id)
        if index is not None:
            near = index.near(np.frombuffer(query, "<f4"), k + head, kind_codes.codes(kinds), narrowed.session_pk)
            best = (_exact_head(db, space, query, near) if head else near)[:k]
            return [Candidate(*kind_codes.split(key), cosine) for key, cosine in best]
    rows = db.tuples(
        _statement(scope),
        {
            "query": query,
            "space_id": space.id,
            "k": k,
            "wide": min(max(RESCORED, 4 * k), MAX_K),
            "kinds": json.dumps(kind_codes.codes(kinds)),
            "scope_id": narrowed.scope_id,
            "session_pk": narrowed.session_pk,
            "agent_id": scope.agent_id,
        },
        table=space.table,
    )
    return [Candidate(*kind_codes.split(key), 1.0 - distance) for key, distance in rows]


def fetch(db: Database, space: Space, kind: Kind, ids: Sequence[int]) -> dict[int, bytes]:
    """Vectors by id, for those that stand; ids come from a search within a scope."""
    if not db.has_vec:
        return {}
    keys = json.dumps([kind_codes.key(kind, i) for i in ids])
    rows = db.tuples("vectors_fetch", {"keys": keys}, table=space.table)
    return {kind_codes.split(key)[1]: vector for key, vector in rows}


def count(db: Database, space: Space) -> int:
    """How many vectors the space holds."""
    return int(db.tuples("vectors_count", table=space.table)[0][0]) if db.has_vec else 0


def _exact_head(db: Database, space: Space, query: bytes, near: list[tuple[int, float]]) -> list[tuple[int, float]]:
    keys = json.dumps([key for key, _ in near[: 2 * HEAD]])
    rows = db.tuples("vectors_cosines", {"keys": keys, "query": query}, table=space.table)
    return sorted(rows, key=lambda row: (-row[1], row[0])) + near[2 * HEAD :]


def _centre(db: Database, space: Space) -> None:
    rows = db.tuples("vectors_all", table=space.table)
    mean = np.mean([np.frombuffer(row[4], "<f4") for row in rows], axis=0, dtype=np.float64)
    db.run("spaces_set_centre", id=space.id, centre=mean.astype("<f4").tobytes(), centred=len(rows))
    db.many("vectors_delete_bits", [(row[0],) for row in rows], table=space.table)
    db.many("vectors_insert_bits", [(*row, space.id) for row in rows], table=space.table)


def _statement(scope: Scope) -> str:
    if scope.agent_id is not None:
        return "vectors_near_of_agent"
    return "vectors_near" if scope.session_id is None else "vectors_near_in_session"


def _need_vec(db: Database) -> None:
    if not db.has_vec:
        raise VectorsUnavailable("sqlite-vec could not be loaded, so no vector can be written")
