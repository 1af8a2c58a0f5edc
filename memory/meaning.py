"""How near candidates are to a query by their vectors, each together with its neighbours.

A turn says little alone ("Yes, last week!"), so that a share of the vectors before and after it is added to its own. And
some texts are near to every query, which an embedding model's common direction makes: part of the mean is therefore
taken out of the query (hubness; Dinu, Lazaridou and Baroni, 2015, take it out of all pairs).
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory.ranking import NOWHERE, Numbers, Places, Weights

Vectors = NDArray[np.float32]
_BLOCK = 32
"""Candidates at a time: their sums stay in the processor's cache, which is twice as fast."""


class Lines(Protocol):
    """Vectors that are taken out a few at a time: a matrix, or what becomes one as it is asked."""

    def __getitem__(self, places: Places, /) -> Vectors:
        """(places, dimensions)."""
        ...


def nearness(
    query: Vectors,
    vectors: Lines,
    own: Places,
    before: Places,
    after: Places,
    by: Weights,
    centre: Vectors | None = None,
) -> Numbers:
    """A cosine for each candidate, NaN for those without a vector.

    Args:
        query: of unit length, as are all vectors.
        vectors: (any, dimensions) of candidates and neighbours.
        own, before, after: for each candidate the row of its vector and of its neighbours'; NOWHERE for none.
        by: its `blend` and `common` count.
        centre: mean of the memory's vectors; None to take their own.
    """
    found = np.full(len(own), np.nan)
    held = np.flatnonzero(own != NOWHERE)
    if not held.size:
        return found
    common = vectors[own[held]].mean(axis=0) if centre is None else centre
    asked = (query - np.float32(by.common) * common).astype(np.float32)
    for start in range(0, len(held), _BLOCK):
        some = held[start : start + _BLOCK]
        rows = vectors[own[some]].astype(np.float32, copy=False)
        for beside in (before[some], after[some]):
            has = np.flatnonzero(beside != NOWHERE)
            rows[has] += np.float32(by.blend) * vectors[beside[has]]
        lengths = np.sqrt(np.vecdot(rows, rows))
        found[some] = np.vecdot(rows, asked) / np.maximum(lengths, np.float32(1e-9))
    return found
