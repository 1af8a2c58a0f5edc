"""The vector arm: what is nearest to the query, and how near every candidate is."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from memory.meaning import nearness
from memory.ranking import NOWHERE, Numbers, Weights
from memory.types import Candidate, Degraded, Scope
from store import kinds as kind_codes
from store import spaces, vector_rows, vectors
from store.db import Database
from store.errors import StoreError
from store.features import Features
from store.selection import Selection
from store.spaces import Space

_EXACT = 4_096
"""So many listed rows are compared one by one; of more the nearest of the whole scope are looked at first."""


@dataclass(frozen=True, slots=True)
class QuerySpace:
    """A query's vector and the embedding space that it belongs to."""

    vector: bytes
    model: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Nearest:
    """Keys, nearest first; `space` is None where vectors cannot be compared."""

    keys: list[int] = field(default_factory=list)
    space: Space | None = None
    degraded: list[Degraded] = field(default_factory=list)


def nearest(db: Database, scope: Scope, chosen: Selection, query: QuerySpace, limit: int) -> Nearest:
    """The nearest `limit` rows that may be found."""
    space = spaces.active_space(db)
    if not db.has_vec:
        return Nearest(degraded=[Degraded("vectors", "sqlite-vec is not loaded")])
    if space is None:
        # Nothing was ever embedded; that is a lag and no fault.
        return Nearest()
    if (space.model, space.dimensions) != (query.model, query.dimensions):
        reason = f"memories are embedded by {space.model}, the query by {query.model}"
        return Nearest(degraded=[Degraded("vectors", reason)])
    try:
        found = _open(db, space, scope, chosen, query, limit) + _listed(db, space, scope, chosen, query, limit)
    except StoreError as error:
        # A space without its table; anything graver would show in every other statement too.
        if type(error) is not StoreError:
            raise
        return Nearest(degraded=[Degraded("vectors", str(error))])
    found.sort(key=lambda c: (-c.score, -c.id, c.kind))
    return Nearest([kind_codes.key(c.kind, c.id) for c in found[:limit]], space)


def of_pool(
    db: Database, space: Space, query: QuerySpace, rows: Sequence[Features], by: Weights, total: int, scope_id: int
) -> Numbers:
    """How near each candidate is together with its neighbours; NaN for those without a vector. All are of one scope.

    What is common to all is the mean of the pool where that is most of the scope (`total` messages) and large enough,
    else the space's.
    """
    beside = {key for row in rows for key in (row.key, row.before, row.after) if key is not None}
    lines, matrix = vector_rows.matrix(db, space, sorted(beside), scope_id)
    own, before, after = (
        np.array([NOWHERE if key is None else lines.get(key, NOWHERE) for key in column], dtype=np.int64)
        for column in ([r.key for r in rows], [r.before for r in rows], [r.after for r in rows])
    )
    own_mean = len(rows) >= vectors.CENTRED_AT and 2 * len(rows) >= total
    centre = None if own_mean else vector_rows.centre(db, space)
    return nearness(np.frombuffer(query.vector, dtype="<f4"), matrix, own, before, after, by, centre)


def _open(
    db: Database, space: Space, scope: Scope, chosen: Selection, query: QuerySpace, limit: int
) -> list[Candidate]:
    """Of the kinds of which everything may be found."""
    kinds = chosen.open_kinds
    wide = Scope(scope.user_id, scope.namespace)
    return vectors.knn(db, space, wide, query.vector, limit, kinds) if kinds else []


def _listed(
    db: Database, space: Space, scope: Scope, chosen: Selection, query: QuerySpace, limit: int
) -> list[Candidate]:
    """Of what is listed: all of it where it is little, else what is listed among the nearest, if that is enough."""
    listed = chosen.listed
    if len(listed) > _EXACT:
        wide = Scope(scope.user_id, scope.namespace)
        kinds = [kind for kind, keys in chosen.keys.items() if keys is not None]
        near = vectors.knn(db, space, wide, query.vector, vectors.MAX_K, kinds)
        allowed = set(listed.tolist())
        found = [c for c in near if kind_codes.key(c.kind, c.id) in allowed]
        if len(found) >= limit:
            return found[:limit]
    best: list[Candidate] = []
    asked = np.frombuffer(query.vector, dtype="<f4")
    for start in range(0, len(listed), _EXACT):
        lines, matrix = vector_rows.matrix(db, space, listed[start : start + _EXACT].tolist())
        cosines = (matrix @ asked).tolist()
        best += [Candidate(*kind_codes.split(key), cosines[line]) for key, line in lines.items()]
        best = sorted(best, key=lambda c: (-c.score, -c.id))[:limit]
    return best
