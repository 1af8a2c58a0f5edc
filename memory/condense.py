"""Shortening of lines to a length by keeping the sentences that tell most, in their own words and order."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.clauses import sentences
from memory.salience import term_weights

_REPEATED = 0.25
"""Share of its weight that a word still has once an earlier sentence has said it."""
_OVERHEAD = 12
"""Characters added to each sentence's length when sentences are compared, so that not only the shortest are kept."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    line: int
    text: str
    value: float


def condense(lines: Sequence[str], length: int) -> str:
    """At most `length` characters of `lines`: whole sentences, one output line for each line of which one was kept.

    Where not even one sentence fits, the beginning of the one that tells most. A line that stands there twice is
    kept once, and one that only greets goes first.
    """
    lines = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    whole = "\n".join(lines)
    if len(whole) <= length:
        return whole
    found = _sentences(lines)
    order = sorted(range(len(found)), key=lambda i: (-found[i].value / (len(found[i].text) + _OVERHEAD), i))
    kept: list[int] = []
    used = 0
    for index in order:
        size = len(found[index].text) + 1
        if used + size <= length + 1 and (found[index].value > 0 or not kept):
            kept.append(index)
            used += size
    if not kept:
        return found[order[0]].text[: max(0, length)].rstrip() if found else whole[: max(0, length)]
    return _joined([found[i] for i in sorted(kept)])


def _sentences(lines: Sequence[str]) -> list[_Sentence]:
    known: set[str] = set()
    found = []
    for number, line in enumerate(lines):
        for text in sentences(line):
            weights = term_weights(text, ())
            value = sum(weight * (_REPEATED if term in known else 1.0) for term, weight in weights.items())
            known.update(weights)
            found.append(_Sentence(number, text, value))
    return found


def _joined(kept: Sequence[_Sentence]) -> str:
    parts: list[str] = []
    last = -1
    for sentence in kept:
        parts.append(("\n" if sentence.line != last else " ") + sentence.text)
        last = sentence.line
    return "".join(parts).strip()
