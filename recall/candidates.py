"""What the search arms find in SQLite, put together as a pool to rank."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from memory.filters import EVERYTHING, Filter
from memory.ranking import CANDIDATES, ENGLISH, Key, Numbers, Pool, Weights, inverse_frequency
from memory.terms import terms as terms_of
from memory.timehints import Span
from memory.types import Degraded, Kind, Scope, StoredMessage
from recall.meaning_arm import Nearest, QuerySpace, nearest, of_pool
from recall.pool import Columns, Measured, assemble, columns
from recall.tail_arm import Pending, pending
from store import features, fulltext, selection
from store import kinds as kind_codes
from store.db import Database
from store.features import ScopeSize
from store.fulltext import Postings
from store.narrowing import Narrowed, narrow
from store.selection import Keys, Selection

LARGE = 2_000
"""Messages from which on a memory is large."""
FEWER = 100
_NEWEST = 20
_WITHIN = 100
_MOST_UNINDEXED = 1_000
_SPANS = 8
LOW_CONFIDENCE = 0.4
"""Below it a fact or summary only fills up what is left."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the arms look for.

    Attributes:
        terms: of the query (memory.terms.query_terms); `words` are all its terms, names among them.
        vector: the query's embedding, None to go by words alone.
        spans: times that it names.
        breadth: candidates of each arm; `narrow` in a memory so large that its vectors are many to read.
        without: stored rows that are left out.
        recent: what is new is looked at whatever it holds.
    """

    terms: Sequence[str]
    words: Collection[str]
    vector: QuerySpace | None
    kinds: Sequence[Kind]
    spans: Sequence[Span] = ()
    breadth: int = CANDIDATES
    narrow: int = FEWER
    filter: Filter = EVERYTHING
    without: Collection[Key] = field(default_factory=frozenset)
    recent: bool = False
    now: float = 0.0
    by: Weights = ENGLISH


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates; `ranks` gives each arm's keys, best first, and `pending` the rows that are not stored yet."""

    pool: Pool
    pending: dict[Key, StoredMessage] = field(default_factory=dict)
    ranks: dict[str, list[int]] = field(default_factory=dict)
    low: Collection[Key] = frozenset()
    degraded: list[Degraded] = field(default_factory=list)
    by_meaning: bool = False


def find(db: Database, scope: Scope, asked: Asked, tail: Sequence[StoredMessage] = ()) -> Found:
    """The candidates of all arms within the scope and its filter."""
    narrowed = narrow(db, scope)
    if narrowed is None:
        return of_tail(asked, tail)
    chosen = selection.select(db, narrowed, scope, asked.filter, asked.kinds, asked.now)
    barred = {kind_codes.key(kind, row_id) for kind, row_id in asked.without}
    held = _with_unindexed(db, narrowed, chosen, fulltext.postings(db, narrowed.scope_id, asked.terms), asked)
    size = features.scope_size(db, narrowed.scope_id)
    breadth = asked.breadth if size.messages <= LARGE else min(asked.breadth, asked.narrow)
    lexical = _by_words(held, chosen, barred, breadth)
    near = nearest(db, scope, chosen, asked.vector, breadth) if asked.vector else Nearest()
    timed = _by_time(db, narrowed, asked, chosen)
    keys = [key for key in dict.fromkeys([*lexical, *near.keys, *timed]) if key not in barred]
    fresh = _pending(asked, tail, held.terms)
    stored = features.of_keys(db, narrowed.scope_id, keys)
    rows = columns([*stored, *(item.features for item in fresh)])
    meaning = None
    if near.space and asked.vector:
        meaning = of_pool(db, near.space, asked.vector, rows, asked.by, size.messages, narrowed.scope_id)
    sessions = features.session_sizes(db, sorted({pk for pk in rows.session_pks if pk is not None}))
    counts = np.array([len(found) for found in held.keys], dtype=np.float64)
    pool = _pool(rows, _matches(held, rows.keys), fresh, asked, Measured(counts, size, sessions), meaning)
    return Found(
        pool,
        _by_key(fresh),
        {"text": lexical, "meaning": near.keys, "time": timed},
        set(map(kind_codes.split, rows.keys[rows.confidence < LOW_CONFIDENCE].tolist())),
        near.degraded,
        by_meaning=bool(near.keys),
    )


def of_tail(asked: Asked, tail: Sequence[StoredMessage]) -> Found:
    """The candidates among what is not stored yet, for when there is nothing else."""
    fresh = _pending(asked, tail, asked.terms)
    measured = Measured(np.zeros(len(asked.terms)), ScopeSize(0, 0, 0))
    rows = columns([item.features for item in fresh])
    return Found(_pool(rows, np.zeros((len(fresh), len(asked.terms))), fresh, asked, measured), _by_key(fresh))


def _pool(
    rows: Columns,
    matches: Numbers,
    fresh: Sequence[Pending],
    asked: Asked,
    measured: Measured,
    meaning: Numbers | None = None,
) -> Pool:
    """What is stored and, behind it, what is not yet; in `matches` the latter have no terms yet."""
    if fresh:
        added = np.array([item.held for item in fresh], dtype=np.float64)
        scope = measured.scope
        scope = ScopeSize(
            scope.sessions, scope.messages + len(fresh), scope.tokens + sum(f.features.size for f in fresh)
        )
        measured = Measured(measured.counts + added.sum(axis=0), scope, measured.sessions)
        matches[len(matches) - len(fresh) :] = added
    return assemble(rows, matches, asked.words, measured, meaning)


def _pending(asked: Asked, tail: Sequence[StoredMessage], wanted: Sequence[str]) -> list[Pending]:
    return pending(tail if "message" in asked.kinds else (), wanted, asked.filter)


def _by_key(fresh: Sequence[Pending]) -> dict[Key, StoredMessage]:
    return {("message", item.message.id): item.message for item in fresh}


def _by_words(held: Postings, chosen: Selection, barred: Collection[int], limit: int) -> list[int]:
    """The keys whose terms say most, best first, of equal ones the newer."""
    if not held.keys:
        return []
    counts = np.array([len(found) for found in held.keys], dtype=np.float64)
    weights = np.maximum(inverse_frequency(counts, float(held.total)), 0.01)
    every = np.concatenate(held.keys)
    keys, places = np.unique(every, return_inverse=True)
    said = np.repeat(weights, counts.astype(np.int64))
    scores = np.bincount(places, weights=said, minlength=len(keys))
    allowed = selection.among(keys, chosen.allowed(keys))
    if barred:
        allowed &= ~selection.among(keys, np.array(sorted(barred), dtype=np.int64))
    keys, scores = keys[allowed], scores[allowed]
    best: list[int] = keys[np.lexsort((-keys, -scores))[:limit]].tolist()
    return best


def _with_unindexed(db: Database, narrowed: Narrowed, chosen: Selection, held: Postings, asked: Asked) -> Postings:
    """With what stands in no index: the timeline, and facts that held once."""
    past = asked.filter.as_of is not None or bool(asked.filter.include)
    keys: list[int] = []
    for kind, listed in chosen.keys.items():
        if listed is not None and (kind == "timeline" or (kind == "fact" and past)):
            keys += listed[-_MOST_UNINDEXED:].tolist()
    if not keys:
        return held
    from_text = {key: set(terms_of(text)) for key, text in features.unindexed(db, narrowed.scope_id, keys)}
    added: list[Keys] = []
    for term, found in zip(held.terms, held.keys, strict=True):
        more = [key for key, words in from_text.items() if term in words]
        added.append(np.union1d(found, np.array(more, dtype=np.int64)))
    return Postings(held.terms, added, held.total)


def _by_time(db: Database, narrowed: Narrowed, asked: Asked, chosen: Selection) -> list[int]:
    """Messages of the times that are named, and the newest ones where these are asked for."""
    if "message" not in asked.kinds:
        return []
    keys: list[int] = []
    for span in asked.spans[:_SPANS]:
        keys += features.within(db, narrowed.scope_id, span.start, span.end, _WITHIN)
    if asked.recent:
        keys += features.newest(db, narrowed.scope_id, _NEWEST)
    allowed = set(chosen.allowed(np.array(keys, dtype=np.int64)).tolist())
    return [key for key in dict.fromkeys(keys) if key in allowed]


def _matches(held: Postings, keys: Keys) -> Numbers:
    """A line for each key, with 1 for each term that its row holds."""
    if not held.keys:
        return np.zeros((len(keys), 0))
    return np.stack([selection.among(keys, found) for found in held.keys], axis=1).astype(np.float64)
