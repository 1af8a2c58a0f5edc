"""English sentences that take back, or put right, what was said before."""

import re
from collections.abc import Iterator

from memory.facts.english_clauses import CORRECTION, Clause
from memory.facts.english_tastes import concrete, cut
from memory.facts.english_verbs import expanded
from memory.facts.keys import key
from memory.facts.meaning import Meaning

_LEADS = r"^\W*(?:(?:oh|oops|sorry|correction|actually|no|wait|well|my mistake|my bad|in fact|i was wrong|typo|hmm|ah)\b[,:!. -]*)*"
_FIXED = re.compile(
    _LEADS
    + r"(?:it is|it was|it will be|it should be|that is|that should be|should be|make (?:it|that)|i meant(?: to say)?|i mean|rather)"
    r" (?:actually |really |on |at |in |for |the )*(?P<v>[^,.;]{1,40}?)(?:,? (?:and )?not (?:on |at |in )?(?P<o>[^,.;]{1,40}))?(?: after all| instead| now)?$",
    re.I,
)
_DEFINITE = re.compile(r"\d|\b[A-Z]|\b(?:noon|midnight)\b")
_NOT_BUT = re.compile(
    r"\bnot (?:on |at |in |an? )?(?P<o>[^,.;]{1,40}?),? but (?:rather )?(?:on |at |in )?(?P<v>[^,.;]{1,60})$", re.I
)
_BACK = re.compile(
    r"\b(?:scratch that|never ?mind what i said|(?:forget|ignore|disregard) what i (?:just )?said|i take (?:that|it) back|i made that up"
    r"|that(?:'s| is| was) (?:not true|no longer true|a joke|a lie)|i was (?:only |just )?(?:kidding|joking|lying)|(?:just|only) (?:kidding|joking))\b",
    re.I,
)


def corrections(text: str) -> Iterator[tuple[Clause, Meaning]]:
    """ "Actually it is on the 12th, not the 11th", "scratch that": what was said last is meant."""
    said = expanded(text.strip(" .!\n"))
    if "?" in said:
        return
    if match := _BACK.search(said):
        yield Clause(text.strip(), "", correction=True), Meaning("", back=True, ends=("",))
        return
    last = re.split(r"(?<=[.!])\s+", said)[-1]
    if not CORRECTION.search(said):
        return
    match = _NOT_BUT.search(last) or _FIXED.match(last)
    if match and concrete(match["v"]) and (match["o"] or "meant" in last.lower() or _DEFINITE.search(match["v"])):
        old = key(cut(match["o"])) if match["o"] else ""
        yield (
            Clause(text.strip(), "", correction=True),
            Meaning("", key(cut(match["v"])), ends=(old,) if old else (), back=True, single=True),
        )
