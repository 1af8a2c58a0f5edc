"""The vector arm: what is nearest to the query, and how near every candidate is."""

from dataclasses import dataclass, field

import numpy as np

from memory.meaning import nearness
from memory.ranking import Numbers, Weights
from memory.types import Candidate, Degraded, Scope
from recall.pool import Columns
from store import kinds as kind_codes
from store import spaces, vector_rows, vectors
from store.db import Database
from store.errors import StoreError
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
    db: Database, space: Space, query: QuerySpace, rows: Columns, by: Weights, total: int, scope_id: int
) -> Numbers:
    """How near each candidate is together with its neighbours; NaN for those without a vector. All are of one scope.

    What is common to all is the mean of the pool where that is most of the scope (`total` messages) and large enough,
    else the space's.
    """
    count = len(rows.keys)
    line, lines = vector_rows.lines(db, space, np.concatenate([rows.keys, rows.before, rows.after]), scope_id)
    own_mean = count >= vectors.CENTRED_AT and 2 * count >= total
    centre = None if own_mean else vector_rows.centre(db, space)
    asked = np.frombuffer(query.vector, dtype="<f4")
    return nearness(asked, lines, line[:count], line[count : 2 * count], line[2 * count :], by, centre)


def _open(
    db: Database, space: Space, scope: Scope, chosen: Selection, query: QuerySpace, limit: int
) -> list[Candidate]:
    """Of the kinds of which everything may be found."""
    kinds = chosen.open_kinds
    wide = Scope(scope.user_id, scope.namespace)
    return vectors.knn(db, space, wide, query.vector, limit, kinds, head=0) if kinds else []


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
        some = listed[start : start + _EXACT]
        line, lines = vector_rows.lines(db, space, some)
        held = line != vector_rows.NONE
        cosines = (lines[line[held]] @ asked).tolist()
        pairs = zip(some[held].tolist(), cosines, strict=True)
        best += [Candidate(*kind_codes.split(key), cosine) for key, cosine in pairs]
        best = sorted(best, key=lambda c: (-c.score, -c.id))[:limit]
    return best
