"""Vectors of rows that are known already, as one matrix, and the mean of their space."""

import json
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from store.db import Database
from store.spaces import Space


def matrix(
    db: Database, space: Space, keys: Iterable[int], scope_id: int | None = None
) -> tuple[dict[int, int], NDArray[np.float32]]:
    """The line of each key that has a vector, and the lines; keys come from rows of a scope.

    With that scope's id, a large one that is in memory is not read from the file; it has eight bits a dimension there.
    """
    if not db.has_vec:
        return {}, np.zeros((0, space.dimensions), dtype=np.float32)
    if scope_id is not None and db.vector_cache is not None:
        index = db.vector_cache.index(db, space, scope_id)
        if index is not None:
            return index.fetch(keys)
    rows = db.tuples("vectors_fetch", {"keys": json.dumps(list(keys))}, table=space.table)
    lines = np.frombuffer(b"".join(vector for _, vector in rows), dtype="<f4").reshape(len(rows), space.dimensions)
    return {key: line for line, (key, _) in enumerate(rows)}, lines


def centre(db: Database, space: Space) -> NDArray[np.float32]:
    """The mean of the space's first vectors; zeros while there are too few."""
    return np.frombuffer(db.value("vector_rows_centre", id=space.id), dtype="<f4")
