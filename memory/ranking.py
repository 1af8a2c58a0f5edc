"""Ranking of what the search arms found: calibrated scores added, not ranks.

A pool holds the candidates of one search as columns. Words are weighed as BM25 does (Robertson and Zaragoza, 2009), over
the counts of the searched memory alone. A cosine counts by how far it stands out among the candidates, in standard
deviations: its scale says nothing across models. To both come what a conversation is made of: an answer stands beside
its question, and what belongs together stands in one session. What each step gives is written down in docs/recall.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory.timehints import Span
from memory.types import Kind

Key: TypeAlias = tuple[Kind, int]
Numbers: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

CANDIDATES = 400
"""Candidates that an arm should give; the weights are set for about so many."""
NOWHERE = -1
"""A place that stands for no candidate."""
FACT_SHARE = 0.6
"""Of a fact's score, where it stands beside what was said: at par, facts took places of marked turns."""
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part counts beside the best text score of a search, which counts 1.

    Attributes:
        meaning: one standard deviation of the cosine.
        blend: share of each neighbour's vector that is added to a candidate's own before they are compared.
        common: share of the memory's mean vector that is taken out of the query before.
        saturation, size: k1 and b of BM25.
        asked: share of the terms of the question just before that an answer inherits.
        near: share of the better neighbour's text and meaning.
        session: the best session.
        speaker: being said by the one person that the query names.
        time: lying in a span that the query names.
        asking: taken off from what is itself a question.
        length: each doubling of the size.
        recency: being said just now; half of it after `recency_half` seconds.
        prior: confidence, importance and weight of a fact or summary, all 1.
    """

    meaning: float = 0.2
    blend: float = 0.5
    common: float = 0.6
    saturation: float = 0.9
    size: float = 0.4
    asked: float = 0.4
    near: float = 0.15
    session: float = 0.4
    speaker: float = 0.5
    time: float = 0.5
    asking: float = 0.2
    length: float = 0.015
    recency: float = 0.05
    recency_half: float = 7 * _DAY
    prior: float = 0.1


ENGLISH = Weights()
CHINESE = Weights(meaning=0.45)


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates of one search; row `i` of each column is candidate `i`.

    Attributes:
        matches: (candidates, terms) 1 where the candidate holds the term of the query.
        idf: of each term, over the searched memory.
        sizes: tokens; `mean_size` is the memory's mean.
        meaning: how near its vector is to the query's (memory.meaning); NaN where it has none.
        session: number of its session, from 0; NOWHERE for none, or where it is all that the session holds.
        before, after: place of the message just before and after in its session; NOWHERE where that is no candidate.
        asks: is itself a question.
        named: was said by the one person whom the query names.
        at: unix seconds.
        prior: confidence, importance and weight together, 0 to 1; 0 for messages.
        session_sizes: tokens of each session; `mean_session` is the mean of all the memory's sessions.
        sessions: how many sessions the memory has.
    """

    keys: Sequence[Key]
    matches: Numbers
    idf: Numbers
    sizes: Numbers
    mean_size: float
    meaning: Numbers
    session: Places
    before: Places
    after: Places
    asks: Flags
    named: Flags
    at: Numbers
    prior: Numbers
    session_sizes: Numbers
    mean_session: float
    sessions: int


@dataclass(frozen=True, slots=True)
class Scored:
    """A ranked candidate. `score` is in 0..1, `parts` adds up to it, `place` is its row in the pool."""

    kind: Kind
    id: int
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    place: int = NOWHERE


def weights(language: str) -> Weights:
    """The weights for a query's language; in Chinese meaning leads."""
    return ENGLISH if language == "en" else CHINESE


def rank(pool: Pool, by: Weights = ENGLISH, *, spans: Sequence[Span] = (), now: float = 0.0) -> Iterator[Scored]:
    """The candidates, best first; of equal ones that with the higher id. Scores are relative to the best.

    Args:
        spans: times that the query names.
        now: the moment of asking, unix seconds.
    """
    parts = score_parts(pool, by, spans, now)
    return _best_first(pool, parts, np.arange(len(pool.keys)))


def rank_by_words(
    pool: Pool, by: Weights = ENGLISH, *, spans: Sequence[Span] = (), now: float = 0.0, recent: bool = False
) -> Iterator[Scored]:
    """As `rank`, without vectors: the rule of keyword and age is two fifths of the score.

    What the query does not speak for is left out, unless it asks for what is `recent`.
    """
    parts = score_parts(pool, by, spans, now)
    told = (parts["text"] > 0) | (parts["time"] > 0) | recent
    top = max(float(np.sum(list(parts.values()), axis=0).max(initial=0.0)), 1e-9)
    rule = keyword_score(pool.matches.sum(axis=1) > 0, now - pool.at)
    parts = {name: 0.6 * part / top for name, part in parts.items()} | {"keyword_age": 0.4 * rule}
    return _best_first(pool, parts, np.flatnonzero(told), scale=1.0)


def _shares(pool: Pool) -> Numbers:
    """What counts of each candidate: of a fact beside what was said, a part."""
    facts = np.array([kind == "fact" for kind, _ in pool.keys], dtype=np.bool_)
    return np.where(facts & (not facts.all()), FACT_SHARE, 1.0)


def _best_first(pool: Pool, parts: dict[str, Numbers], places: Places, scale: float | None = None) -> Iterator[Scored]:
    share = _shares(pool)
    parts = {name: part * share for name, part in parts.items()}
    total = np.sum(list(parts.values()), axis=0)[places]
    if scale is None:
        top = float(total.max(initial=0.0))
        scale = 1.0 / top if top > 0.0 else 0.0
    ids = np.array([pool.keys[i][1] for i in places.tolist()], dtype=np.int64)
    for i in np.lexsort((-ids, -total)).tolist():
        place = int(places[i])
        kind, row_id = pool.keys[place]
        shown = {name: round(float(part[place]) * scale, 6) for name, part in parts.items() if part[place]}
        yield Scored(kind, row_id, round(min(1.0, max(0.0, float(total[i]) * scale)), 6), shown, place)


def score_parts(pool: Pool, by: Weights, spans: Sequence[Span], now: float) -> dict[str, Numbers]:
    """What each part adds to each candidate, in shares of the best text score."""
    text = _text(pool, by)
    meaning = by.meaning * standing_out(pool.meaning)
    near = by.near * np.maximum(0.0, np.maximum(*_beside(pool, text + meaning)))
    session = by.session * _sessions(pool, by)
    age = np.maximum(0.0, now - pool.at)
    parts: dict[str, Numbers] = {
        "text": text,
        "meaning": meaning,
        "near": near,
        "session": session,
        "speaker": by.speaker * pool.named.astype(np.float64),
        "time": by.time * _within(pool.at, spans).astype(np.float64),
        "asking": -by.asking * pool.asks.astype(np.float64),
        "length": by.length * np.log2(np.maximum(pool.sizes, 1.0)),
        "recency": by.recency * np.exp2(-age / by.recency_half),
        "prior": by.prior * pool.prior,
    }
    return parts


def inverse_frequency(counts: Numbers, total: float) -> Numbers:
    """How much a term says that `counts` of `total` texts hold; never below 0."""
    return np.log1p((np.maximum(total - counts, 0.0) + 0.5) / (counts + 0.5))


def standing_out(values: Numbers) -> Numbers:
    """Standard deviations from the mean; what has no value counts as the least of those that have."""
    known = values[~np.isnan(values)]
    if not known.size:
        return np.zeros(len(values))
    filled = np.where(np.isnan(values), known.min(), values)
    deviation = float(filled.std())
    return (filled - filled.mean()) / deviation if deviation > 1e-9 else np.zeros(len(values))


def _text(pool: Pool, by: Weights) -> Numbers:
    """BM25 relative to the best; an answer takes part of the terms of the question before it."""
    counts = pool.matches
    asked = np.flatnonzero((pool.before != NOWHERE) & pool.asks[pool.before])
    if asked.size and by.asked:
        counts = counts.copy()
        counts[asked] += by.asked * pool.matches[pool.before[asked]]
    return _relative(_bm25(counts, pool.idf, pool.sizes / (pool.mean_size or 1.0), by))


def _sessions(pool: Pool, by: Weights) -> Numbers:
    """BM25 of each candidate's session, taken as one text, relative to the best session."""
    inside = np.flatnonzero(pool.session != NOWHERE)
    if not inside.size:
        return np.zeros(len(pool.keys))
    held = np.zeros((len(pool.session_sizes), len(pool.idf)))
    np.add.at(held, pool.session[inside], pool.matches[inside])
    rarity = inverse_frequency((held > 0).sum(axis=0).astype(np.float64), float(pool.sessions))
    scores = _relative(_bm25(held, rarity, pool.session_sizes / (pool.mean_session or 1.0), by))
    found = np.zeros(len(pool.keys))
    found[inside] = scores[pool.session[inside]]
    return found


def _bm25(counts: Numbers, idf: Numbers, size: Numbers, by: Weights) -> Numbers:
    weight = by.saturation * (1.0 - by.size + by.size * size)
    found: Numbers = (counts * (by.saturation + 1.0) / (counts + weight[:, None])) @ idf
    return found


def _relative(scores: Numbers) -> Numbers:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0.0 else np.zeros(len(scores))


def _beside(pool: Pool, values: Numbers) -> tuple[Numbers, Numbers]:
    before = np.where(pool.before == NOWHERE, 0.0, values[pool.before])
    return before, np.where(pool.after == NOWHERE, 0.0, values[pool.after])


def _within(at: Numbers, spans: Sequence[Span]) -> Flags:
    inside = np.zeros(len(at), dtype=np.bool_)
    for span in spans:
        inside |= (at >= span.start) & (at < span.end)
    return inside


def keyword_score(matched: Flags, age: Numbers) -> Numbers:
    """Score without vectors, in 0..1: keyword match + 50, decay 100 x (1 - days / 180), + 30 within 30 minutes.

    `age` in seconds; a negative one (clock jumped) counts as 0.
    """
    age = np.maximum(age, 0.0)
    decay = np.maximum(0.0, 1.0 - age / _DAY / 180.0)
    points: Numbers = (50.0 * matched + 100.0 * decay + 30.0 * (age <= 1800.0)) / 180.0
    return points
