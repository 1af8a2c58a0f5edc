"""Fusion of the search arms: calibrated scores added, not ranks.

A text score counts relative to the best of its question, a cosine as its distance from the mean in standard
deviations: a cosine's scale says nothing across models, how far it stands out does.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from memory.types import Candidate, Kind

Key: TypeAlias = tuple[Kind, int]
DENSE_WEIGHT = 0.15
DENSE_WEIGHT_ZH = 0.45
NEIGHBOUR_WEIGHT = 0.3
CANDIDATES = 200
"""Candidates an arm should give; the weights are set for about so many."""

_SHORT = 20.0
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Scored:
    """A fused candidate. `score` is in 0..1, `parts` adds up to it."""

    kind: Kind
    id: int
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


def dense_weight(language: str) -> float:
    """Weight of one standard deviation of the cosine against the best text score; meaning leads in Chinese."""
    return DENSE_WEIGHT if language == "en" else DENSE_WEIGHT_ZH


def fuse(
    text: Sequence[Candidate],
    dense: Sequence[Candidate],
    *,
    weight: float = DENSE_WEIGHT,
    lengths: Mapping[Key, int] | None = None,
    neighbours: Mapping[Key, Sequence[Key]] | None = None,
    neighbour_weight: float = NEIGHBOUR_WEIGHT,
    limit: int | None = None,
) -> list[Scored]:
    """The best `limit` candidates of both arms, best first; either arm may be empty. Equal scores: newer id first.

    Text scores are BM25 with higher better, dense ones cosines. `lengths` gives tokens: the BM25 of SQLite favours
    the shortest messages by more than they are worth, and with lengths given that is mostly taken back.
    `neighbours` names for a candidate those just before and after it in its session: part of the better one's
    score is added, since an answer often stands beside the words that were asked for.
    """
    lexical = _relative(_evened(text, lengths) if lengths else _scores(text))
    meaning = {key: weight * value for key, value in _standing_out(_scores(dense)).items()}
    base = lexical | {key: lexical.get(key, 0.0) + value for key, value in meaning.items()}
    near = _beside(base, neighbours, neighbour_weight) if neighbours else {}
    total = {key: value + near.get(key, 0.0) for key, value in base.items()}
    top = max(total.values(), default=0.0) or 1.0
    best = sorted(total, key=lambda key: (-total[key], -key[1], key[0]))[:limit]
    scored = []
    for key in best:
        parts = (("text", lexical.get(key)), ("dense", meaning.get(key)), ("near", near.get(key)))
        scored.append(_scored(key, total[key] / top, {name: part / top for name, part in parts if part}))
    return scored


def keyword_score(matched: bool, age: float) -> float:
    """Score without vectors, in 0..1: keyword match + 50, decay 100 x (1 - days / 180), + 30 within 30 minutes.

    `age` in seconds; a negative one (clock jumped) counts as 0.
    """
    age = max(age, 0.0)
    points = 50.0 * matched + 100.0 * max(0.0, 1.0 - age / _DAY / 180.0) + 30.0 * (age <= 1800.0)
    return points / 180.0


def rank_by_keyword(
    text: Sequence[Candidate], recent: Mapping[Key, float], *, now: float, limit: int | None = None
) -> list[Scored]:
    """The fallback without vectors: text matches first of all, then what is recent.

    `recent` gives the time (unix seconds) of every candidate, matched or not. A match's own text score decides
    among matches, age only in small steps; what did not match follows by age.
    """
    lexical = _relative(_scores(text))
    rule = {key: 0.4 * keyword_score(key in lexical, now - at) for key, at in recent.items()}
    total = {key: value + 0.6 * lexical.get(key, 0.0) for key, value in rule.items()}
    best = sorted(total, key=lambda key: (-total[key], -key[1], key[0]))[:limit]
    return [_scored(key, total[key], {"text": 0.6 * lexical.get(key, 0.0), "keyword_age": rule[key]}) for key in best]


def _scored(key: Key, score: float, parts: Mapping[str, float]) -> Scored:
    rounded = {name: round(part, 6) for name, part in parts.items()}
    return Scored(key[0], key[1], round(min(score, 1.0), 6), rounded)


def _scores(found: Sequence[Candidate]) -> dict[Key, float]:
    return {(c.kind, c.id): c.score for c in found}


def _evened(found: Sequence[Candidate], lengths: Mapping[Key, int]) -> dict[Key, float]:
    """Text scores with those of short messages lowered: to 0.5 of it at 6 tokens, 0.7 at 20."""
    size = {(c.kind, c.id): max(1, lengths.get((c.kind, c.id), 1_000)) for c in found}
    return {key: score * math.sqrt(size[key] / (size[key] + _SHORT)) for key, score in _scores(found).items()}


def _relative(scores: Mapping[Key, float]) -> dict[Key, float]:
    """Shares of the best score; nothing is below 0."""
    best = max(scores.values(), default=0.0)
    return {key: max(score, 0.0) / best if best > 0.0 else 0.0 for key, score in scores.items()}


def _standing_out(scores: Mapping[Key, float]) -> dict[Key, float]:
    """Standard deviations above the weakest candidate; where all are equal, one for each."""
    if not scores:
        return {}
    mean = math.fsum(scores.values()) / len(scores)
    deviation = math.sqrt(math.fsum((s - mean) ** 2 for s in scores.values()) / len(scores))
    if deviation < 1e-9:
        return dict.fromkeys(scores, 1.0)
    low = min(scores.values())
    return {key: (score - low) / deviation for key, score in scores.items()}


def _beside(base: Mapping[Key, float], neighbours: Mapping[Key, Sequence[Key]], weight: float) -> dict[Key, float]:
    return {key: weight * max((base.get(n, 0.0) for n in neighbours.get(key, ())), default=0.0) for key in base}
