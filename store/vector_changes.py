"""What changed of a scope's vectors, by number: written with each change, read by who keeps them in memory."""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from store.db import Database
from store.spaces import Space
from store.vector_index import Floats, Ints

KEPT = 10_000
"""Changes of a scope for which a removed vector's row stays: a reader that is further behind reads all anew."""


class Mark(NamedTuple):
    """How a scope's vectors stand: `version` counts the writes, `vectors` how many there are; `centred` is the
    space's."""

    version: int
    vectors: int
    centred: int


class Changes(NamedTuple):
    """Vectors to put, row by row (`floats` is (rows, dimensions)), and keys that are gone."""

    keys: Ints
    sessions: Ints
    floats: Floats
    gone: Ints


def mark(db: Database, space: Space, scope_id: int) -> Mark | None:
    """How the scope's vectors stand; None where it never had any."""
    rows = db.tuples("vectors_mark", {"space_id": space.id, "scope_id": scope_id})
    return Mark(*rows[0]) if rows else None


def written(db: Database, space: Space, rows: Iterable[tuple[int, int, int]]) -> None:
    """Notes vectors, as (scope id, key, session pk), in the transaction that writes them."""
    for scope_id, some in groupby(sorted(set(rows)), key=lambda row: row[0]):
        version = _next_version(db, space, scope_id)
        put = [(space.id, scope_id, key, session, version) for _, key, session in some]
        more = len(put) - len(_standing(db, space, scope_id, [row[2] for row in put]))
        db.many("vectors_put_key", put)
        db.run("vectors_count_scope", space_id=space.id, scope_id=scope_id, more=more)


def removed(db: Database, space: Space, keys: Sequence[int]) -> None:
    """Notes that vectors go, in the transaction that removes them and before they are."""
    found = db.tuples("vectors_scopes_of", {"keys": json.dumps(list(dict.fromkeys(keys)))}, table=space.table)
    for scope_id, some in groupby(sorted(found), key=lambda row: row[0]):
        version = _next_version(db, space, scope_id)
        gone = _standing(db, space, scope_id, [key for _, key in some])
        db.many("vectors_key_gone", [(version, space.id, scope_id, key) for key in gone])
        db.run("vectors_count_scope", space_id=space.id, scope_id=scope_id, more=-len(gone))
        db.run("vectors_forget_gone", space_id=space.id, scope_id=scope_id, before=version - KEPT)


def since(db: Database, space: Space, scope_id: int, version: int, limit: int) -> Changes | None:
    """What changed after `version`; None if that is more than `limit` rows."""
    rows = db.tuples(
        "vectors_changed",
        {"space_id": space.id, "scope_id": scope_id, "version": version, "limit": limit + 1},
        table=space.table,
    )
    if len(rows) > limit:
        return None
    put = [row for row in rows if row[2] is not None]
    return Changes(*_arrays(space, put), np.array([row[0] for row in rows if row[2] is None], np.int64))


def load(db: Database, space: Space, scope_id: int, after: int, limit: int) -> Changes:
    """The next `limit` vectors of the scope with a key above `after`; none at the end."""
    rows = db.tuples(
        "vectors_load",
        {"space_id": space.id, "scope_id": scope_id, "after": after, "limit": limit},
        table=space.table,
    )
    return Changes(*_arrays(space, rows), np.empty(0, np.int64))


def centre(db: Database, space: Space) -> Floats:
    """What the space's bits are signs against."""
    return np.frombuffer(db.value("vectors_centre", id=space.id), "<f4")


def _arrays(space: Space, rows: Sequence[tuple[int, int, bytes]]) -> tuple[Ints, Ints, Floats]:
    floats = np.frombuffer(b"".join(row[2] for row in rows), "<f4").reshape(len(rows), space.dimensions)
    return np.array([r[0] for r in rows], np.int64), np.array([r[1] for r in rows], np.int64), floats


def _next_version(db: Database, space: Space, scope_id: int) -> int:
    return int(db.value("vectors_next_version", space_id=space.id, scope_id=scope_id))


def _standing(db: Database, space: Space, scope_id: int, keys: Sequence[int]) -> list[int]:
    found = db.tuples("vectors_standing", {"space_id": space.id, "scope_id": scope_id, "keys": json.dumps(list(keys))})
    return [key for (key,) in found]
