"""Vectors of rows that are known already, as one matrix, and the mean of their space."""

import json
from typing import TypeAlias

import numpy as np

from memory.meaning import Lines
from store.db import Database
from store.spaces import Space
from store.vector_index import Floats, Ints

NONE = -1
"""A key, or a line, that stands for none."""
Found: TypeAlias = tuple[Ints, Lines]


def lines(db: Database, space: Space, keys: Ints, scope_id: int | None = None) -> Found:
    """The line of each key, NONE where it has no vector, and the lines; keys come from rows of a scope.

    With that scope's id, a large one that is in memory is not read from the file; it has eight bits a dimension there.
    """
    if not db.has_vec:
        return np.full(len(keys), NONE), np.zeros((0, space.dimensions), dtype=np.float32)
    if scope_id is not None and db.vector_cache is not None:
        index = db.vector_cache.index(db, space, scope_id)
        if index is not None:
            return index.fetch(keys)
    rows = db.tuples("vectors_fetch", {"keys": json.dumps(np.unique(keys).tolist())}, table=space.table)
    matrix = np.frombuffer(b"".join(vector for _, vector in rows), dtype="<f4").reshape(len(rows), space.dimensions)
    line = {key: number for number, (key, _) in enumerate(rows)}
    return np.array([line.get(key, NONE) for key in keys.tolist()], dtype=np.int64), matrix


def centre(db: Database, space: Space) -> Floats:
    """The mean of the space's first vectors; zeros while there are too few."""
    return np.frombuffer(db.value("vector_rows_centre", id=space.id), dtype="<f4")
