"""Measures of recall against marked evidence.

A ranking is a sequence of ids, best first; evidence a non-empty set of ids. All results lie in 0..1.
"""

import math
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass


def unique(ranking: Iterable[str]) -> list[str]:
    """The ranking without repeats; the first place of each id counts."""
    return list(dict.fromkeys(ranking))


def collapse(ranking: Iterable[str], session_of: Mapping[str, str] | Callable[[str], str]) -> list[str]:
    """Sessions in the order in which the ranking first meets them."""
    look = session_of if callable(session_of) else session_of.__getitem__
    return unique(look(item) for item in ranking)


def recall_at(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """Share of the evidence found in the first `k`."""
    wanted = set(evidence)
    return len(wanted.intersection(unique(ranking)[:k])) / len(wanted)


def hit_at(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """1 if any evidence is in the first `k`."""
    return float(not set(evidence).isdisjoint(unique(ranking)[:k]))


def full_at(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """1 if all evidence is in the first `k`."""
    return float(set(evidence) <= set(unique(ranking)[:k]))


def reciprocal_rank(ranking: Sequence[str], evidence: Collection[str]) -> float:
    """1 over the place of the first evidence, 0 if none is found."""
    wanted = set(evidence)
    return next((1 / place for place, item in enumerate(unique(ranking), 1) if item in wanted), 0.0)


def ndcg_at(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """Discounted gain of the first `k` over that of the best possible order, each evidence worth 1."""
    wanted = set(evidence)
    gain = sum(1 / math.log2(place + 1) for place, item in enumerate(unique(ranking)[:k], 1) if item in wanted)
    best = sum(1 / math.log2(place + 1) for place in range(1, min(len(wanted), k) + 1))
    return gain / best


@dataclass(frozen=True, slots=True)
class Quality:
    """Averages over `count` questions; `recall` by k."""

    count: int
    recall: Mapping[int, float]
    hit10: float
    full10: float
    mrr: float
    ndcg10: float


def measure(results: Sequence[tuple[Sequence[str], Collection[str]]], ks: Sequence[int] = (5, 10, 20)) -> Quality:
    """Averages over (ranking, evidence) pairs; all zero without any."""
    count = len(results)

    def mean(values: Iterable[float]) -> float:
        return sum(values) / count if count else 0.0

    return Quality(
        count=count,
        recall={k: mean(recall_at(r, e, k) for r, e in results) for k in ks},
        hit10=mean(hit_at(r, e, 10) for r, e in results),
        full10=mean(full_at(r, e, 10) for r, e in results),
        mrr=mean(reciprocal_rank(r, e) for r, e in results),
        ndcg10=mean(ndcg_at(r, e, 10) for r, e in results),
    )


def interval(
    values: Sequence[float], *, share: float = 0.95, rounds: int = 1_000, seed: int = 20_240_601
) -> tuple[float, float]:
    """In which bounds the mean of `values` lies in `share` of all resamples with replacement (Efron, 1979).

    The same values give the same bounds. (0, 0) without any.
    """
    if not values:
        return 0.0, 0.0
    draw = random.Random(seed)
    count = len(values)
    means = sorted(sum(draw.choices(values, k=count)) / count for _ in range(rounds))
    cut = (1.0 - share) / 2.0
    return means[math.floor(cut * (rounds - 1))], means[math.ceil((1.0 - cut) * (rounds - 1))]


def by_category(
    results: Iterable[tuple[Hashable, Sequence[str], Collection[str]]], ks: Sequence[int] = (5, 10, 20)
) -> dict[Hashable, Quality]:
    """`measure` for each category of (category, ranking, evidence), in order of first appearance."""
    groups: dict[Hashable, list[tuple[Sequence[str], Collection[str]]]] = defaultdict(list)
    for category, ranking, evidence in results:
        groups[category].append((ranking, evidence))
    return {category: measure(group, ks) for category, group in groups.items()}
