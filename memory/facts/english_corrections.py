"""English sentences that take back, or put right, what was said before."""

import re
from collections.abc import Iterator

from memory.facts.english_clauses import CORRECTION, Clause
from memory.facts.english_tastes import concrete, cut
from memory.facts.english_verbs import expanded
from memory.facts.keys import key
from memory.facts.meaning import Meaning

_FIXED = re.compile(
    r"\b(?:it is|it was|it will be|it should be|that is|that should be|should be|make (?:it|that)|i meant|i mean|meant|to|rather) (?:actually |really |on |at |in |for |the )*(?P<v>[^,.;]{1,60}?)(?:,? (?:and )?not (?:on |at |in )?(?P<o>[^,.;]{1,40}))?(?: after all| instead| now)?$",
    re.I,
)
_NOT_BUT = re.compile(
    r"\bnot (?:on |at |in |an? )?(?P<o>[^,.;]{1,40}?),? but (?:rather )?(?:on |at |in )?(?P<v>[^,.;]{1,60})$", re.I
)
_BACK = re.compile(
    r"\b(?:scratch that|never ?mind (?:that|what i said)|forget (?:that|what i (?:just )?said|about that|it)|ignore (?:that|what i (?:just )?said)|disregard (?:that|what i (?:just )?said)|i take (?:that|it) back|that(?:'s| is| was) (?:not true|no longer true|not true anymore|no longer the case|wrong|a joke|a mistake|a lie|old news|outdated)"
    r"|i was (?:only |just )?(?:kidding|joking|lying)|(?:just )?kidding|i made that up)\b",
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
    match = _NOT_BUT.search(last) or _FIXED.search(last)
    if (
        match
        and concrete(match["v"])
        and not re.match(r"^\W*(?:i|we|my|our) (?!mean)", re.sub(r"^(?:\w+,? ){0,3}", "", last), re.I)
    ):
        old = key(cut(match["o"])) if match["o"] else ""
        yield (
            Clause(text.strip(), "", correction=True),
            Meaning("", key(cut(match["v"])), ends=(old,) if old else (), back=True, single=True),
        )
