"""The vectors of one large scope in memory: found by their bits, ranked by an 8-bit copy of themselves.

Three steps, each over fewer rows: the bits of the first dimensions for all, all bits for the best of these, and the
cosine to the 8-bit vectors for the best of those. A bit is a sign against the space's centre, as in sqlite-vec
(store/vectors.py). The bits of the first step stand column by column, so that numpy's `bitwise_count` runs along them:
measured at 100,000 x 1,024, a third of the time of whole rows one after the other. A vector takes `dimensions`
bytes for the last step and a quarter of that at most for the others: 1.2 KB at 1,024.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import repeat
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]
Places: TypeAlias = NDArray[np.intp]

WIDE = 1_024
"""At least so many rows are compared by their cosines: measured with real embeddings, 512 held .96 of the true ten and
1,024 .98."""
_FIRST_WORDS = 4
_FIRST_SHARE = 25
"""The first step hands one row in so many to the second, and never fewer than eight times what the third takes."""
_BLOCK = 16_384
"""Rows that are counted in one go: their counters and words stay in the processor's cache."""
_CONVERTED = 128
"""Vectors that are made floats in one go, for the same reason."""
_GONE = -1


@dataclass(frozen=True, slots=True)
class _Rows:
    """Arrays of one capacity, of which `count` rows are filled; a reader keeps the one that it began with."""

    count: int
    keys: Ints
    sessions: Ints
    first: Words
    bits: Words
    small: NDArray[np.int8]
    scales: Floats

    def resized(self, capacity: int, kept: Places) -> "_Rows":
        """A copy of the rows at `kept` with room for `capacity`."""
        made = _empty(capacity, self.bits.shape[1], self.small.shape[1])
        count = len(kept)
        for name in ("keys", "sessions", "bits", "small", "scales"):
            getattr(made, name)[:count] = getattr(self, name)[kept]
        made.first[:, :count] = self.first[:, kept]
        return replace(made, count=count)


@dataclass(frozen=True, slots=True)
class Lines:
    """Vectors of eight bits a dimension that become floats as they are asked for, so that few stand in memory."""

    small: NDArray[np.int8]
    scales: Floats

    def __getitem__(self, places: Ints) -> Floats:
        """(places, dimensions), of unit length."""
        found: Floats = self.small[places] * self.scales[places, None]
        return found


class VectorIndex:
    """Vectors by key. Any thread may search while one adds or drops."""

    def __init__(self, centre: Floats, capacity: int = 1_024) -> None:
        """`centre` has the space's length, a multiple of 8."""
        self.dimensions = len(centre)
        self._centre = centre
        self._lock = Lock()
        self._gone = 0
        self._codes: set[int] = set()
        self._places: dict[int, int] = {}
        self._rows = _empty(max(1, capacity), (self.dimensions + 63) // 64, self.dimensions)

    def __len__(self) -> int:
        return self._rows.count - self._gone

    @property
    def size_bytes(self) -> int:
        """Memory that it holds."""
        rows = self._rows
        return sum(a.nbytes for a in (rows.keys, rows.sessions, rows.first, rows.bits, rows.small, rows.scales))

    def add(self, keys: Ints, sessions: Ints, vectors: Floats) -> None:
        """Adds rows, in place of those of the same keys; `vectors` is (rows, dimensions), of unit length."""
        if not len(keys):
            return
        bits, small, scales = _words(vectors > self._centre), *_small(vectors)
        with self._lock:
            self._remove(keys)
            rows = self._with_room(len(keys))
            new = slice(rows.count, rows.count + len(keys))
            rows.keys[new], rows.sessions[new] = keys, sessions
            rows.bits[new], rows.small[new], rows.scales[new] = bits, small, scales
            rows.first[:, new] = bits[:, : len(rows.first)].T
            self._codes |= set(np.unique(keys & 3).tolist())
            self._places.update(zip(keys.tolist(), range(new.start, new.stop), strict=True))
            # Last: from here on readers see them.
            self._rows = replace(rows, count=new.stop)

    def drop(self, keys: Ints) -> None:
        """Takes rows out; keys that are not there do no harm."""
        with self._lock:
            self._remove(keys)

    def near(
        self, query: Floats, k: int, codes: Collection[int], session_pk: int | None = None
    ) -> list[tuple[int, float]]:
        """The `k` nearest rows as (key, cosine), nearest first.

        Args:
            query: of unit length.
            codes: kinds of rows (store.kinds) that may be found.
            session_pk: only rows of this session.
        """
        rows, wide = self._rows, max(WIDE, 4 * k)
        allowed = self._allowed(rows, codes, session_pk)
        if (rows.count if allowed is None else len(allowed)) > wide:
            allowed = _by_bits(rows, allowed, _words(query[None] > self._centre)[0], wide)
        found = np.arange(rows.count) if allowed is None else allowed
        cosines = _cosines(rows, found, query)
        order = np.lexsort((rows.keys[found], -cosines))[:k]
        keys = rows.keys[found[order]].tolist()
        return [pair for pair in zip(keys, cosines[order].tolist(), strict=True) if pair[0] != _GONE]

    def fetch(self, keys: Ints) -> tuple[Ints, "Lines"]:
        """The line of each key, -1 where it is not here, and the lines: of unit length, to eight bits a dimension."""
        rows = self._rows
        at = np.array(list(map(self._places.get, keys.tolist(), repeat(_GONE))), np.int64)
        # What came, went, or moved to another place since the rows were taken is not among them.
        at[at >= rows.count] = _GONE
        at[rows.keys[at] != keys] = _GONE
        return at, Lines(rows.small, rows.scales)

    def _allowed(self, rows: _Rows, codes: Collection[int], session_pk: int | None) -> Places | None:
        """Which rows may be found; None for all of them."""
        if session_pk is None and not self._gone and self._codes <= set(codes):
            return None
        kinds = np.isin(np.arange(4), list(codes))
        keys = rows.keys[: rows.count]
        mask = kinds[keys & 3] & (keys != _GONE)
        if session_pk is not None:
            mask &= rows.sessions[: rows.count] == session_pk
        return np.flatnonzero(mask)

    def _remove(self, keys: Ints) -> None:
        rows = self._rows
        at = [place for key in keys.tolist() if (place := self._places.pop(key, None)) is not None]
        rows.keys[at] = _GONE
        self._gone += len(at)
        if self._gone > rows.count // 4:
            kept = np.flatnonzero(rows.keys[: rows.count] != _GONE)
            self._rows, self._gone = rows.resized(len(rows.keys), kept), 0
            self._places = {key: place for place, key in enumerate(self._rows.keys[: len(kept)].tolist())}

    def _with_room(self, more: int) -> _Rows:
        rows = self._rows
        if rows.count + more <= len(rows.keys):
            return rows
        capacity = max(rows.count + more, len(rows.keys) + len(rows.keys) // 4)
        return rows.resized(capacity, np.arange(rows.count))


def size_of(dimensions: int, rows: int) -> int:
    """Bytes that an index of so many rows takes."""
    words = (dimensions + 63) // 64
    return rows * (20 + dimensions + 8 * (words + min(words, _FIRST_WORDS)))


def _empty(capacity: int, words: int, dimensions: int) -> _Rows:
    return _Rows(
        count=0,
        keys=np.full(capacity, _GONE, np.int64),
        sessions=np.zeros(capacity, np.int64),
        first=np.zeros((min(words, _FIRST_WORDS), capacity), np.uint64),
        bits=np.zeros((capacity, words), np.uint64),
        small=np.zeros((capacity, dimensions), np.int8),
        scales=np.zeros(capacity, np.float32),
    )


def _words(signs: NDArray[np.bool_]) -> Words:
    """Rows of signs as 64-bit words; what the last word has too much is 0 in every row."""
    packed = np.packbits(signs, axis=1)
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64)


def _small(vectors: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Vectors in 8 bits a dimension, and what makes each of them one of unit length."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    whole = np.rint(vectors * (127.0 / np.maximum(largest, 1e-30)))
    lengths = np.maximum(np.linalg.norm(whole, axis=1), 1e-30)
    return whole.astype(np.int8), (1.0 / lengths).astype(np.float32)


def _by_bits(rows: _Rows, allowed: Places | None, query: Words, wide: int) -> Places:
    """The `wide` of the allowed rows whose bits differ least from the query's, in no order."""
    found = allowed
    if found is None or len(query) > len(rows.first):
        differing = _first_differing(rows, query)
        many = max(8 * wide, rows.count // _FIRST_SHARE)
        found = _least(differing, many) if found is None else found[_least(differing[found], many)]
    # As floats: a product with ones adds sixteen small numbers a row in a fifth of the time that a sum takes.
    ones = np.bitwise_count(rows.bits[found] ^ query).astype(np.float32)
    return found[_least((ones @ np.ones(len(query), np.float32)).astype(np.uint16), wide)]


def _cosines(rows: _Rows, found: Places, query: Floats) -> Floats:
    cosines = np.empty(len(found), np.float32)
    for start in range(0, len(found), _CONVERTED):
        some = found[start : start + _CONVERTED]
        # Not `@`: BLAS would start threads for so little.
        np.vecdot(rows.small[some].astype(np.float32), query, out=cosines[start : start + _CONVERTED])
    return cosines * rows.scales[found]


def _first_differing(rows: _Rows, query: Words) -> NDArray[np.uint16]:
    counted = np.zeros(rows.count, np.uint16)
    words, ones = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint8)
    for start in range(0, rows.count, _BLOCK):
        part = counted[start : start + _BLOCK]
        some, few = words[: len(part)], ones[: len(part)]
        for column, word in zip(rows.first[:, start : start + len(part)], query, strict=False):
            np.bitwise_xor(column, word, out=some)
            np.bitwise_count(some, out=few)
            np.add(part, few, out=part)
    return counted


def _least(values: NDArray[Any], count: int) -> Places:
    """Places of the `count` smallest values, in no order; of equal ones at the edge the first."""
    if len(values) <= count:
        return np.arange(len(values))
    up_to = np.cumsum(np.bincount(values))
    edge = int(np.searchsorted(up_to, count))
    below = int(up_to[edge - 1]) if edge else 0
    found = np.flatnonzero(values <= edge)
    at_edge = values[found] == edge
    kept: Places = found[~at_edge | (np.cumsum(at_edge) <= count - below)]
    return kept
