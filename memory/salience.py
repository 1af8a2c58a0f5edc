"""How much the words of a clause tell: names, numbers and uncommon words much, everyday ones little, others nothing."""

from collections.abc import Collection
from functools import lru_cache

from memory.commonwords import INTENSIFIERS, PLAIN, POLITE, WEAK_ZH
from memory.shorten import bare
from memory.stopwords import CHINESE, CHINESE_SINGLE, ENGLISH
from memory.terms import terms

_PLAIN_WEIGHT = 0.5
_NAME_WEIGHT = 1.3
_NUMBER_WEIGHT = 1.2
_WEAK_PAIR = 0.3
_LONGEST_GREETING = 6
_GREETING = INTENSIFIERS | POLITE
_NOTHING = ENGLISH | INTENSIFIERS | CHINESE | CHINESE_SINGLE


def term_weights(text: str, speakers: Collection[str]) -> dict[str, float]:
    """Weight of each term of a clause; terms of `speakers`' names tell nothing, they stand there anyway."""
    weights: dict[str, float] = {}
    if _only_greets(text):
        return weights
    for place, word in enumerate(text.split()):
        name = place > 0 and word[:1].isupper()
        for term, weight in _word_weights(word):
            if term not in speakers:
                weight = max(weight, _NAME_WEIGHT) if name and weight >= 1.0 else weight
                weights[term] = max(weights.get(term, 0.0), weight)
    return weights


def _only_greets(text: str) -> bool:
    """Thanks, greetings and praise, with at most a name of whom they are for."""
    words = text.split()
    if len(words) > _LONGEST_GREETING:
        return False
    rest = [w for w in words if bare(w) not in _GREETING]
    return len(rest) < len(words) and all(w[:1].isupper() for w in rest) and len(rest) <= 1


@lru_cache(maxsize=16_384)
def _word_weights(word: str) -> tuple[tuple[str, float], ...]:
    return tuple((term, weight) for term in terms(word) if (weight := _term_weight(term)) > 0.0)


def _term_weight(term: str) -> float:
    if term in _SILENT:
        return 0.0
    if any(c.isdigit() for c in term):
        return _NUMBER_WEIGHT
    if term.isascii():
        return _PLAIN_WEIGHT if term in _EVERYDAY else 1.0
    weak = sum(c in WEAK_ZH for c in term)
    return 1.0 if not weak else _WEAK_PAIR if weak < len(term) else 0.0


def _stems(words: Collection[str]) -> frozenset[str]:
    return frozenset(t for w in words for t in terms(w))


_SILENT = _NOTHING | _stems(_NOTHING)
_EVERYDAY = _stems(PLAIN)
