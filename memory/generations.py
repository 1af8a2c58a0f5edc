"""What a new generation of facts changes: what is gone, what is new, what both say."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memory.facts.model import Draft, Fact
from memory.terms import terms

_Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """`gone`: facts that the new generation does not have; `new`: drafts that the old one has not; `same`: facts that both
    have, each with its draft."""

    gone: Sequence[Fact]
    new: Sequence[Draft]
    same: Sequence[tuple[Fact, Draft]]


def difference(old: Iterable[Fact], new: Iterable[Draft]) -> Difference:
    """Facts and drafts that say the same: the same of the same subject, or the same words."""
    left = list(new)
    gone: list[Fact] = []
    same: list[tuple[Fact, Draft]] = []
    for fact in old:
        keys = {_meaning(fact), _words(fact.content)}
        match = next((d for d in left if keys & {_meaning(d), _words(d.content)}), None)
        if match is None:
            gone.append(fact)
        else:
            left.remove(match)
            same.append((fact, match))
    return Difference(gone, left, same)


def _meaning(item: Fact | Draft) -> _Key:
    """What is said of whom; where nobody could tell, the words."""
    if not item.attribute or not item.value:
        return _words(item.content)
    return ("meaning", item.subject, item.attribute, item.topic, item.value, item.polarity)


def _words(content: str) -> _Key:
    return ("words", *sorted(terms(content)))
