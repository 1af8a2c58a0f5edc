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
DENSE_WEIGHT = 0.2
DENSE_WEIGHT_ZH = 0.5
NEIGHBOUR_WEIGHT = 0.3
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
    neighbours: Mapping[Key, Sequence[Key]] | None = None,
    neighbour_weight: float = NEIGHBOUR_WEIGHT,
) -> list[Scored]:
    """Candidates of both arms, best first; either arm may be empty. Equal scores: the newer id first.

    Text scores are BM25 with higher better, dense ones cosines. `neighbours` names for a candidate those just
    before and after it in its session: part of the better one's score is added, since an answer often stands
    beside the words that were asked for.
    """
    lexical = _relative(text)
    meaning = _standing_out(dense)
    base = {k: lexical.get(k, 0.0) + weight * meaning.get(k, 0.0) for k in {**lexical, **meaning}}
    beside: dict[Key, float] = {}
    for key in base if neighbours else ():
        near = [base.get(n, 0.0) for n in (neighbours or {}).get(key, ())]
        beside[key] = neighbour_weight * max(near, default=0.0)
    top = max((base[k] + beside.get(k, 0.0) for k in base), default=0.0)
    scored = []
    for (kind, number), value in base.items():
        key = (kind, number)
        parts = {
            "text": lexical.get(key, 0.0),
            "dense": weight * meaning.get(key, 0.0),
            "near": beside.get(key, 0.0),
        }
        parts = {name: _round(part / top) for name, part in parts.items() if part and top}
        total = (value + beside.get(key, 0.0)) / top if top else 0.0
        scored.append(Scored(kind, number, _round(min(total, 1.0)), parts))
    return sorted(scored, key=order)


def order(item: Scored) -> tuple[float, int, str]:
    """Sort key: best first, then the newer id, then the kind, so that the same data gives the same order."""
    return (-item.score, -item.id, item.kind)


def keyword_score(matched: bool, age: float) -> float:
    """Score without vectors, in 0..1: keyword match + 50, decay 100 x (1 - days / 180), + 30 within 30 minutes.

    `age` in seconds; a negative one (clock jumped) counts as 0.
    """
    age = max(age, 0.0)
    points = 50.0 * matched + 100.0 * max(0.0, 1.0 - age / _DAY / 180.0) + 30.0 * (age <= 1800.0)
    return points / 180.0


def rank_by_keyword(text: Sequence[Candidate], recent: Mapping[Key, float], *, now: float) -> list[Scored]:
    """The fallback without vectors: text matches first of all, then what is recent.

    `recent` gives the time (unix seconds) of every candidate, matched or not. A match's own text score decides
    among matches, age only in small steps; what did not match follows by age.
    """
    lexical = _relative(text)
    scored = []
    for (kind, number), at in recent.items():
        key = (kind, number)
        rule = keyword_score(key in lexical, now - at)
        parts = {"text": 0.6 * lexical.get(key, 0.0), "keyword_age": 0.4 * rule}
        parts = {name: _round(part) for name, part in parts.items() if part}
        scored.append(Scored(kind, number, _round(sum(parts.values())), parts))
    return sorted(scored, key=order)


def _relative(found: Sequence[Candidate]) -> dict[Key, float]:
    best = max((c.score for c in found), default=0.0)
    if best <= 0.0:
        return {(c.kind, c.id): 0.0 for c in found}
    return {(c.kind, c.id): max(c.score, 0.0) / best for c in found}


def _standing_out(found: Sequence[Candidate]) -> dict[Key, float]:
    """Standard deviations above the weakest candidate; one candidate alone counts as one deviation."""
    if not found:
        return {}
    scores = [c.score for c in found]
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((s - mean) ** 2 for s in scores) / len(scores))
    if deviation < 1e-9:
        return {(c.kind, c.id): 1.0 for c in found}
    low = min(scores)
    return {(c.kind, c.id): (c.score - low) / deviation for c in found}


def _round(value: float) -> float:
    return round(value, 6)
