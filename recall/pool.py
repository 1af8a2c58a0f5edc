"""From what the store knows of candidates to the columns that ranking works on."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from memory.ranking import NOWHERE, Flags, Numbers, Places, Pool, inverse_frequency
from memory.terms import terms
from store import kinds as kind_codes
from store.features import Features, ScopeSize, SessionSize


@dataclass(frozen=True, slots=True)
class Measured:
    """What was counted: rows that hold each term, the scope, and the sessions of the candidates."""

    counts: Numbers
    scope: ScopeSize
    sessions: Mapping[int, SessionSize] = field(default_factory=dict)


def assemble(
    rows: Sequence[Features],
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
    place = {row.key: n for n, row in enumerate(rows)}
    return Pool(
        keys=[kind_codes.split(row.key) for row in rows],
        matches=matches,
        idf=inverse_frequency(measured.counts, float(scope.messages)),
        sizes=_numbers(row.size for row in rows),
        mean_size=scope.tokens / scope.messages if scope.messages else 0.0,
        meaning=np.full(len(rows), np.nan) if meaning is None else meaning,
        session=_sessions(rows, measured.sessions),
        before=_places(place.get(row.before, NOWHERE) if row.before else NOWHERE for row in rows),
        after=_places(place.get(row.after, NOWHERE) if row.after else NOWHERE for row in rows),
        asks=np.array([bool(row.asks) for row in rows], dtype=np.bool_),
        named=_named([row.name for row in rows], words),
        at=_numbers(row.at for row in rows),
        prior=_numbers(row.prior for row in rows),
        session_sizes=_numbers(session.tokens for session in measured.sessions.values()),
        mean_session=scope.tokens / scope.sessions if scope.sessions else 0.0,
        sessions=scope.sessions,
    )


def _sessions(rows: Sequence[Features], sessions: Mapping[int, SessionSize]) -> Places:
    """The number of each row's session; a session of one message says nothing that the message does not."""
    number = {pk: n if size.messages > 1 else NOWHERE for n, (pk, size) in enumerate(sessions.items())}
    return _places(NOWHERE if row.session_pk is None else number.get(row.session_pk, NOWHERE) for row in rows)


def _named(names: Sequence[str | None], words: Collection[str]) -> Flags:
    """Whose speaker the query names, where it names one alone."""
    parts = {name: terms(name) for name in dict.fromkeys(names) if name}
    hit = {name for name, said in parts.items() if said and all(term in words for term in said)}
    one = len(hit) == 1
    return np.array([one and name in hit for name in names], dtype=np.bool_)


def _numbers(values: Iterable[float]) -> Numbers:
    return np.array(list(values), dtype=np.float64)


def _places(values: Iterable[int]) -> Places:
    return np.array(list(values), dtype=np.int64)
