"""Which of the ranked are handed out: maximal marginal relevance (Carbonell and Goldstein, 1998) over shared terms."""

import heapq
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from memory.ranking import Key, Scored
from memory.terms import terms

PENALTY = 0.5
"""Taken off the score of what says just the same terms as something chosen before; in proportion down to `OVERLAP`."""
OVERLAP = 0.6
"""Share of common terms up to which two texts count as different."""


class Dropped(NamedTuple):
    """What was ranked and is not handed out, and why."""

    scored: Scored
    reason: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is handed out, best first, and what is not."""

    kept: list[Scored]
    dropped: list[Dropped]


@dataclass(slots=True)
class _Waiting:
    scored: Scored
    words: frozenset[str]
    overlap: float = 0.0
    seen: int = 0

    @property
    def value(self) -> float:
        penalty = PENALTY * max(0.0, self.overlap - OVERLAP) / (1.0 - OVERLAP)
        return self.scored.score - penalty


def choose(ranked: Iterable[tuple[Scored, str]], limit: int, low: Collection[Key] = ()) -> Chosen:
    """The best `limit` of `ranked` (best first, with their texts), each judged by what stands before it.

    What repeats another word for word is left out, whatever the limit. Those in `low` only fill up what is left.
    """
    stream = iter(ranked)
    heap: list[tuple[float, int, _Waiting]] = []
    kept: list[_Waiting] = []
    filling: list[Scored] = []
    dropped: list[Dropped] = []
    said: dict[str, Scored] = {}
    upcoming = next(stream, None)
    number = 0
    while len(kept) < limit:
        while upcoming is not None and (not heap or -heap[0][0] <= upcoming[0].score):
            scored, text = upcoming
            upcoming = next(stream, None)
            words = " ".join(text.split()).casefold()
            if words in said:
                dropped.append(Dropped(scored, f"says the same as {said[words].kind} {said[words].id}"))
                continue
            said[words] = scored
            if (scored.kind, scored.id) in low:
                filling.append(scored)
                continue
            number += 1
            heapq.heappush(heap, (-scored.score, number, _Waiting(scored, frozenset(terms(text)))))
        if not heap:
            break
        _, order, best = heapq.heappop(heap)
        if best.seen < len(kept):
            before = best.value
            best.overlap = max([best.overlap, *(_shared(best.words, k.words) for k in kept[best.seen :])])
            best.seen = len(kept)
            if best.value < before:
                heapq.heappush(heap, (-best.value, order, best))
                continue
        kept.append(best)
    room = limit - len(kept)
    dropped += [Dropped(w.scored, "says much the same" if w.overlap > OVERLAP else "limit") for _, _, w in sorted(heap)]
    dropped += [Dropped(scored, "low confidence") for scored in filling[room:]]
    return Chosen([_penalised(w) for w in kept] + filling[:room], dropped)


def _penalised(waiting: _Waiting) -> Scored:
    scored, taken = waiting.scored, waiting.scored.score - waiting.value
    if taken <= 0.0:
        return scored
    return replace(
        scored, score=round(max(0.0, waiting.value), 6), parts={**scored.parts, "redundancy": -round(taken, 6)}
    )


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0
