"""Which of the facts that an answer was given it used: by the words that it owes to them, and by meaning.

Words of the question tell little, since an answer repeats them anyway; names and numbers tell most. A term that
several of the given facts hold tells little about which of them was used. Meaning decides only where words leave it
open: a cosine's scale says nothing across models, so a fact must stand out among those that were given.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory.salience import term_weights
from memory.terms import terms

USED_FROM = 0.4
"""Of a fact's own words, by weight, an answer that used it holds a larger share than this."""
MAYBE_FROM = 0.2
STANDS_OUT = 1.0
"""Standard deviations above the given facts' mean cosine at which meaning decides what words leave open."""
_ENOUGH = 3
_ASKED_WEIGHT = 0.25
_SUBJECT = re.compile(r"\b(?:the )?users?(?:'s|’s)?\b|用户的?", re.IGNORECASE)
"""Whom nearly every fact is about; the words for that tell nothing."""


@dataclass(frozen=True, slots=True)
class Given:
    """A fact that an answer was given; `similarity` is its cosine with the answer, where both are embedded."""

    memory_id: str
    content: str
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """Whether an answer used a fact; `score` is 0 to 1, the share of the fact's words that it holds."""

    memory_id: str
    used: bool
    score: float


def uses(question: str, answer: str, given: Sequence[Given]) -> list[Use]:
    """For each of `given`, in order, whether `answer` used it. An empty answer used nothing."""
    said, asked = set(terms(answer)), set(terms(question))
    weighed = [term_weights(_SUBJECT.sub(" ", fact.content), ()) for fact in given]
    holders = Counter(term for weights in weighed for term in weights)
    outstanding = _outstanding([fact.similarity for fact in given])
    found = []
    for fact, weights, stands_out in zip(given, weighed, outstanding, strict=True):
        score = _share(weights, said, asked, holders)
        used = score > USED_FROM or (score >= MAYBE_FROM and stands_out)
        found.append(Use(fact.memory_id, used, round(score, 4)))
    return found


def _share(weights: Mapping[str, float], said: set[str], asked: set[str], holders: Mapping[str, int]) -> float:
    """By weight, the share of the fact's words that the answer holds."""
    own = {t: weight / holders[t] * (_ASKED_WEIGHT if t in asked else 1.0) for t, weight in weights.items()}
    total = sum(own.values())
    return sum(weight for term, weight in own.items() if term in said) / total if total else 0.0


def _outstanding(similarities: Sequence[float | None]) -> list[bool]:
    known = [s for s in similarities if s is not None]
    if len(known) < _ENOUGH:
        return [False] * len(similarities)
    mean = math.fsum(known) / len(known)
    deviation = math.sqrt(math.fsum((s - mean) ** 2 for s in known) / len(known))
    if deviation < 1e-6:
        return [False] * len(similarities)
    return [s is not None and (s - mean) / deviation >= STANDS_OUT for s in similarities]
