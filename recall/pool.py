"""From what the store knows of candidates to the columns that ranking works on."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memory.ranking import NOWHERE, Flags, Numbers, Places, Pool, inverse_frequency
from memory.terms import terms
from store import kinds as kind_codes
from store.features import Features, ScopeSize, SessionSize


@dataclass(frozen=True, slots=True)
class Columns:
    """What `store.features` tells of candidates, column by column; `before` and `after` are keys, NOWHERE for none."""

    keys: Places
    session_pks: Sequence[int | None]
    before: Places
    after: Places
    sizes: Numbers
    at: Numbers
    names: Sequence[str | None]
    asks: Flags
    prior: Numbers
    confidence: Numbers


@dataclass(frozen=True, slots=True)
class Measured:
    """What was counted: rows that hold each term, the scope, and the sessions of the candidates."""

    counts: Numbers
    scope: ScopeSize
    sessions: Mapping[int, SessionSize] = field(default_factory=dict)


def columns(rows: Sequence[Features]) -> Columns:
    """The rows' columns."""
    every: list[Sequence[Any]] = list(zip(*rows, strict=True)) if rows else [()] * len(Features._fields)
    keys, sessions, before, after, sizes, at, names, asks, prior, confidence = every
    return Columns(
        keys=np.array(keys, dtype=np.int64),
        session_pks=sessions,
        before=_or_nowhere(before),
        after=_or_nowhere(after),
        sizes=np.array(sizes, dtype=np.float64),
        at=np.array(at, dtype=np.float64),
        names=names,
        asks=np.array(asks, dtype=np.bool_),
        prior=np.array(prior, dtype=np.float64),
        confidence=np.array(confidence, dtype=np.float64),
    )


def assemble(
    rows: Columns,
    matches: Numbers,
    words: Collection[str],
    measured: Measured,
    meaning: Numbers | None = None,
) -> Pool:
    """The pool of candidates.

    Args:
        matches: (rows, terms) 1 where a row holds the term.
        words: all terms of the query, names among them.
        meaning: how near each row is; None where nothing was compared.
    """
    scope = measured.scope
    keys = rows.keys.tolist()
    place = {key: n for n, key in enumerate(keys)}
    return Pool(
        keys=list(map(kind_codes.split, keys)),
        matches=matches,
        idf=inverse_frequency(measured.counts, float(scope.messages)),
        sizes=rows.sizes,
        mean_size=scope.tokens / scope.messages if scope.messages else 0.0,
        meaning=np.full(len(keys), np.nan) if meaning is None else meaning,
        session=_sessions(rows.session_pks, measured.sessions),
        before=_places(place, rows.before),
        after=_places(place, rows.after),
        asks=rows.asks,
        named=_named(rows.names, words),
        at=rows.at,
        prior=rows.prior,
        session_sizes=np.array([session.tokens for session in measured.sessions.values()], dtype=np.float64),
        mean_session=scope.tokens / scope.sessions if scope.sessions else 0.0,
        sessions=scope.sessions,
    )


def _sessions(pks: Sequence[int | None], sessions: Mapping[int, SessionSize]) -> Places:
    """The number of each row's session; a session of one message says nothing that the message does not."""
    number = {pk: n if size.messages > 1 else NOWHERE for n, (pk, size) in enumerate(sessions.items())}
    return np.array([NOWHERE if pk is None else number.get(pk, NOWHERE) for pk in pks], dtype=np.int64)


def _named(names: Sequence[str | None], words: Collection[str]) -> Flags:
    """Whose speaker the query names, where it names one alone."""
    parts = {name: terms(name) for name in dict.fromkeys(names) if name}
    hit = {name for name, said in parts.items() if said and all(term in words for term in said)}
    one = len(hit) == 1
    return np.array([one and name in hit for name in names], dtype=np.bool_)


def _or_nowhere(keys: Sequence[int | None]) -> Places:
    return np.array([NOWHERE if key is None else key for key in keys], dtype=np.int64)


def _places(place: Mapping[int, int], keys: Places) -> Places:
    return np.array([place.get(key, NOWHERE) for key in keys.tolist()], dtype=np.int64)
