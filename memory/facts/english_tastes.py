"""English phrases taken for what they name, and the rules for what somebody likes."""

import re
from collections.abc import Iterator

from memory.facts.english_clauses import Clause
from memory.facts.english_verbs import Predicate, stem
from memory.facts.english_words import (
    UNLIKED,
    VAGUE,
)
from memory.facts.keys import key, key_terms
from memory.facts.meaning import Meaning

_TAIL = re.compile(
    r"\s*(?:,.*|\b(?:because|since|when|which|who|that's|so|as it|as they|for (?:now|sure|breakfast|years|a while)|at the moment|right now|these days|now|nowadays|anymore|any more|too|as well|instead|lately|recently|again|after all|these days|more than anything|a lot|so much|very much|the most|most of all|at all|in general|by the way|actually|though|anyway)\b.*)$",
    re.I,
)
_POINTING = re.compile(
    r"^(?:that|this|these|those|their|his|its|all|your|how|what|every|the (?![\w-]+$|[\w-]+ [\w-]+$|[A-Z]|[\w-]+ of [A-Z])|seeing|being able)\b"
)
_LIST = re.compile(r"\s*,\s*(?:and |or )?|\s+(?:and|or|&)\s+", re.I)
_WHOLE_LIST = re.compile(
    r"^(?:[\w'’-]+(?: [\w'’-]+){0,3},\s*)+(?:(?:and|or|&) )?[\w'’-]+(?: (?!and |or )[\w'’-]+){0,2}(?: (?:and|or|&) [\w'’-]+(?: [\w'’-]+){0,2})?[.!]?$",
    re.I,
)
_LISTED = re.compile(r"^(?:[\w'’-]+(?: [\w'’-]+){0,3})$")
_GERUND_FIX = re.compile(
    r"^(?:eating|drinking|having|playing|listening to|watching|going|doing|reading|to eat|to drink|to play|to listen to|to watch|to read|to go|to do) +",
    re.I,
)
LIKE = {stem(w): 1 for w in ("like", "love", "enjoy", "adore", "cherish", "treasure")} | {
    stem(w): -1 for w in ("hate", "dislike", "detest", "loathe", "despise")
}


def cut(text: str) -> str:
    """The object alone, without what trails behind it; a list stays whole."""
    if _WHOLE_LIST.match(text):
        return text.strip(" .,!")
    return _TAIL.sub("", text).strip(" .,!")


def thing(text: str) -> str:
    """The key of what is liked, eaten or played: the verb of use says nothing of its own."""
    return key(_GERUND_FIX.sub("", text))


def concrete(text: str) -> bool:
    """Whether a phrase names something, and does not only point at it."""
    said = text.lower().split()
    return bool(said) and said[0] not in VAGUE and bool(key_terms(text))


def items(text: str) -> list[str]:
    """The items of a list of short names, or the phrase itself."""
    found = [part.strip() for part in _LIST.split(re.sub(r"^(?:both|either) ", "", text)) if part.strip()]
    if len(found) > 1 and all(_LISTED.match(part) for part in found) and len(found[-1].split()) < 4:
        return found
    return [text]


def each(text: str, clause: Clause, make: Meaning) -> Iterator[Meaning]:
    """One meaning an item of the list `text`, each in words of its own."""
    listed = items(text)
    for item in listed:
        if not concrete(item):
            continue
        words = None if len(listed) == 1 else clause.text.replace(text, item) if text in clause.text else None
        if len(listed) > 1 and words is None:
            words = f"{clause.text.split(listed[0])[0]}{item}"
        yield _with(make, topic=thing(item), value=thing(item), text=words)


def liking(said: str, p: Predicate, c: Clause, polarity: int) -> Iterator[Meaning]:
    """Likes and dislikes, one a thing. What nobody likes is not believed, nor what is put with scorn."""
    low = said.lower()
    if p.tense == "once":
        polarity = -1
    scorn = (
        c.sarcastic
        or bool(set(re.findall(r"\w+", low)) & UNLIKED)
        or low.startswith(("when ", "how ", "it when", "that ", "it "))
    )
    if (polarity > 0 and scorn) or low.startswith(("to know", "to see you", "to hear", "the idea", "your", "how ")):
        return
    if _POINTING.match(said) or low.split()[-1] in ("it", "that", "them", "this", "you"):
        return
    over = ("",) if p.over and polarity < 0 else ()
    yield from each(said, c, Meaning("like", memory_type="preference", polarity=polarity, ends=over, importance=0.6))


def preferring(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """ "I prefer tea to coffee": of the two, or of the things of that name, one at a time."""
    parts = re.split(
        r"\s+(?:to|over|rather than|instead of|than)\s+(?=(?:\w+\s?){1,4}$)",
        cut(p.rest) if " instead of " not in p.rest else p.rest,
    )
    value = parts[0]
    if not concrete(value) or p.negated or value.lower().startswith("to "):
        return
    others = tuple(thing(o) for o in parts[1:])
    aim = re.search(r"\b(?:for|when|in|on|at) (?P<v>.+)$", value)
    whole = thing(value[: aim.start()] if aim else value)
    nouns = key_terms(value[: aim.start()] if aim else value)
    topic = (
        key(aim["v"])
        if aim
        else " ".join(sorted({*whole.split(), *" ".join(others).split()}))
        if others
        else (nouns[-1] if len(nouns) > 1 else whole)
    )
    yield Meaning("prefer", whole, topic, "preference", single=True, ends=others if c.cue else (), importance=0.6)


def _with(make: Meaning, *, topic: str, value: str, text: str | None) -> Meaning:
    return Meaning(
        make.attribute,
        value,
        topic,
        make.memory_type,
        make.polarity,
        make.single,
        make.ends,
        make.confidence,
        make.importance,
        make.episodic,
        text,
    )
