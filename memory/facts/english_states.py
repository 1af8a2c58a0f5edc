"""English rules for what somebody is and is called."""

import re
from collections.abc import Iterator

from memory.facts.english_clauses import USER, Clause
from memory.facts.english_tastes import concrete, cut, each, liking, thing
from memory.facts.english_verbs import Predicate, stem
from memory.facts.english_words import (
    ABSTRACT_STARTS,
    COLOURS,
    DIETS,
    EVERYDAY,
    MARITAL,
    MOODS,
    NUMBERS,
    OCCUPATIONS,
    SINGLE_NOUNS,
    STATES,
    VAGUE,
)
from memory.facts.keys import key, key_terms
from memory.facts.meaning import Meaning

_NAME = re.compile(r"^(?:called |named )?(?P<v>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2})(?=$|[,.]| and\b| by the way)")
_AGE = re.compile(r"^(?:turning |almost )?(?P<v>\d{1,3}|[a-z]+(?:-[a-z]+)?)(?: years?[ -]old| yo\b|$)", re.I)
_PLACE = re.compile(
    r"^(?:to |in |at |near |outside |around |over to |back to |back in |(?:down|up|out) (?:in|to) |just outside |based in |located in |the )*(?P<v>[A-Z][\w'’.-]+(?:,? (?:[A-Z][\w'’.-]+|de|of|do|la|upon|am|the))*)"
)
_ALLERGIC = re.compile(r"^(?:\w+ )?(?:allergic|intolerant) to (?P<v>.+)$", re.I)
_FAN = re.compile(
    r"^(?:an? )?(?:\w+ ){0,2}?(?:fan|lover|admirer) of (?P<v>.+)$|^(?:really |so |very |totally |big )*(?:into|fond of|keen on|crazy about|mad about|passionate about|obsessed with|hooked on|partial to|interested in|fascinated (?:by|with)|awed by|drawn to|inspired by|enthusiastic about) (?P<w>.+)$",
    re.I,
)
_SICK = re.compile(r"^(?:sick (?:and tired )?of|tired of|fed up with|bored of|bored with|over) (?P<v>.+)$", re.I)
_FEAR = re.compile(r"^(?:terrified|scared|afraid|frightened|petrified) of (?P<v>.+)$", re.I)
_JOB = re.compile(
    r"^(?:now |currently |working as )?an? (?P<v>[^,.;]+?)(?=$|,| (?:at|in|for|with|who|from|by|on|and|of)\b)", re.I
)
_DEGREE = re.compile(
    r"^(?:good|great|bad|terrible|skilled|proficient|fluent|experienced|better) (?:at|in|with) (?P<v>.+)$", re.I
)
FAVOURITE = re.compile(r"\b(?:all-time )?fav(?:ou?rite|e|s)?\b", re.I)

_AT_VALUE = re.compile(
    r"^(?:(?:on|at|in|from|due|set|scheduled|planned|slated|fixed|now|by|called|named|being|around|about)(?: (?:to|for|on|at|by))?|from .+? to"
    r"|(?:now )?(?:moved|pushed|postponed|rescheduled|delayed|brought|changed|put)(?: (?:back|forward|off|up))? (?:to|until|till))\s+",
    re.I,
)
_TIMED = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|January|February|March|April|May\b|June|July|August|September"
    r"|October|November|December|noon|midnight",
    re.I,
)
_MOVED = frozenset(map(stem, ("move", "change", "push")))
_SHIFTED = re.compile(r"^(?:moved|pushed|postponed|rescheduled|delayed|brought|changed|put)\b", re.I)
_AIMS = ("goal", "dream", "plan", "aim", "ambition", "resolution", "hope")
_SAME_AS = {
    "name": "name",
    "full name": "name",
    "first name": "name",
    "real name": "name",
    "job": "job",
    "occupation": "job",
}


def be(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """What somebody is."""
    rest, low = p.rest, p.rest.lower()
    polarity = -1 if p.negated else 1
    if match := _ALLERGIC.match(rest):
        make = Meaning("allergy", memory_type="constraint", polarity=polarity, importance=0.9)
        yield from each(cut(match["v"]), c, make)
    elif match := _FAN.match(rest):
        yield from liking(cut(match["v"] or match["w"]), p, c, polarity)
    elif (
        (match := _SICK.match(rest))
        and not p.negated
        and concrete(cut(match["v"]))
        and "ing" not in match["v"].split()[0]
    ):
        yield from liking(cut(match["v"]), p, c, -1)
    elif match := _FEAR.match(rest):
        yield Meaning("fear", thing(cut(match["v"])), thing(cut(match["v"])), polarity=polarity)
    elif p.tense in ("present", "perfect"):
        yield from _is(p, c, low, polarity)
    elif low.startswith("born"):
        yield from _born(rest)
    elif p.tense == "past":
        yield from passive(p, c)


def _is(p: Predicate, c: Clause, low: str, polarity: int) -> Iterator[Meaning]:
    rest = p.rest
    first = (low.split() or [""])[0].strip(",.")
    kind = re.sub(r"^(?:an? |strict |strictly |fully |mostly )+", "", low).split()[:1]
    if (match := _AGE.match(cut(rest))) and (match["v"].isdigit() or match["v"].lower() in NUMBERS):
        yield Meaning("age", key(match["v"]), "age", polarity=polarity, single=c.unique)
    elif kind and kind[0].strip(",.") in DIETS:
        yield Meaning("diet", kind[0].strip(",."), "diet", "constraint", polarity, True, importance=0.8)
    elif first in MARITAL:
        yield Meaning("marital", key(first), "marital", polarity=polarity, single=True, importance=0.7)
    elif first in STATES or (kind and kind[0] in STATES):
        yield Meaning(
            "is",
            first if first in STATES else kind[0],
            first if first in STATES else kind[0],
            polarity=polarity,
            ends=("job",) if first in ("retired", "unemployed") else (),
        )
    elif match := re.match(r"^(?:originally |really )?from (?P<v>.+)$", rest):
        if place := _PLACE.match(cut(match["v"])):
            yield Meaning("origin", key(place["v"]), "origin", polarity=polarity, single=True)
    elif match := re.match(r"^(?:now )?(?:at|with) (?P<v>[A-Z][\w&.]*(?: [A-Z][\w&.]*)*)(?P<w>.*)$", rest):
        if re.search(r"\b(?:now|as an?|these days)\b", match["w"]) or "now" in p.adverbs:
            yield Meaning("employer", key(match["v"]), "employer", polarity=polarity, single=c.unique)
    elif match := re.match(r"^(?:now |currently )?(?:based|located|settled) in (?P<v>.+)$", rest, re.I):
        yield from home(match["v"], c, polarity)
    elif low.startswith(("called", "named", "known as")):
        if match := _NAME.match(re.sub(r"^(?:called|named|known as) ", "", rest)):
            yield Meaning("name", key(match["v"]), "name", polarity=polarity, single=c.unique, importance=0.9)
    elif low.startswith("born"):
        yield from _born(rest)
    elif match := _JOB.match(rest):
        yield from _role(match["v"], rest, c, polarity)
    elif match := _DEGREE.match(rest):
        yield Meaning("skill", thing(cut(match["v"])), thing(cut(match["v"])), polarity=polarity)
    elif (match := _NAME.match(rest)) and (c.subject == USER or c.subject.count(" ") == 0):
        yield from _named(match["v"], c, polarity)
    elif p.tense == "perfect":
        yield from been(p, c)
    elif first.endswith(("ed", "wn")) and first not in MOODS and len(rest.split()) > 2:
        yield from passive(p, c)


def _named(value: str, c: Clause, polarity: int) -> Iterator[Meaning]:
    if value.lower().endswith(("ish", "ese", "ian", "can", "ench", "utch", "reek", "man")) and " " not in value:
        yield Meaning("nationality", key(value), "nationality", polarity=polarity)
    elif value.lower() not in MOODS and c.subject == USER:
        yield Meaning("name", key(value), "name", polarity=polarity, single=True, importance=0.9)
    elif c.subject != USER:
        yield Meaning("name", key(value), "name", polarity=polarity, single=c.unique, importance=0.7)


def _role(value: str, rest: str, c: Clause, polarity: int) -> Iterator[Meaning]:
    head = value.lower().split()[-1]
    if head in OCCUPATIONS or head.rstrip("s") in OCCUPATIONS:
        yield Meaning("job", key(value), "job", polarity=polarity, single=c.unique or c.cue, importance=0.7)
        if match := re.search(r"\b(?:at|for) (?P<v>[A-Z].+)$", rest):
            yield Meaning("employer", key(cut(match["v"])), "employer", polarity=polarity, single=c.unique or c.cue)
    elif (
        head not in EVERYDAY
        and head
        not in (
            "person",
            "mess",
            "wreck",
            "pain",
            "joke",
            "shame",
            "pity",
            "mother",
            "bummer",
            "relief",
            "reminder",
            "example",
        )
        and concrete(value)
    ):
        yield Meaning("is", key(rest), key(value), polarity=polarity)


def _born(rest: str) -> Iterator[Meaning]:
    said = re.sub(r"^born (?:and raised )?", "", rest, flags=re.I)
    if re.search(r"\d|January|February|March|April|May|June|July|August|September|October|November|December", said):
        yield Meaning("birthday", key(said), "birthday", single=True, importance=0.7)
    if (match := _PLACE.match(said)) and not re.match(
        r"(?:in |on )(?:January|February|March|April|May|June|July|August|September|October|November|December)\b", said
    ):
        yield Meaning("birthplace", key(match["v"]), "birthplace", single=True)


def been(p: Predicate, _c: Clause) -> Iterator[Meaning]:
    """ "I have been to Rome", "I have never been to Japan"."""
    if (match := re.match(r"^(?:to|in) (?P<v>.+)$", p.rest)) and (place := _PLACE.match(match["v"])):
        yield Meaning(
            "visited", key(place["v"]), key(place["v"]), polarity=-1 if p.negated else 1, episodic=not p.negated
        )


def passive(p: Predicate, _c: Clause) -> Iterator[Meaning]:
    """ "I was promoted to X", "I got fired", "I was diagnosed with X"."""
    low = p.rest.lower()
    if match := re.match(
        r"^(?:promoted|hired|appointed|elected|named|made) (?:to |as )?(?:an? |the )?(?P<v>.+)$", p.rest, re.I
    ):
        role = re.split(r"\b(?:at|by|of|in|last|this|on|yesterday)\b", match["v"])[0]
        if concrete(role) and not p.negated:
            yield Meaning("job", key(role), "job", single=True, importance=0.7)
    elif match := re.match(r"^diagnosed with (?P<v>.+)$", p.rest, re.I):
        yield Meaning("health", key(cut(match["v"])), key(cut(match["v"])), "constraint", importance=0.8)
    elif re.match(r"^(?:fired|laid off|let go|made redundant)\b", low):
        yield Meaning("job", "lost", "job", single=True, ends=("job", "employer"), importance=0.7)
    elif (
        re.match(
            r"^(?:accepted|selected|chosen|invited|awarded|offered|admitted|featured|published|raised|married|injured|robbed|nominated|given|born)\b",
            low,
        )
        and len(key_terms(p.rest)) >= 2
    ):
        yield Meaning("event", key(p.rest), episodic=True, confidence=0.7)


def home(said: str, c: Clause, polarity: int, ends: tuple[str, ...] = ()) -> Iterator[Meaning]:
    """Where somebody lives: one place, if it has a name."""
    if place := _PLACE.match(said):
        yield Meaning(
            "home", key(place["v"]), "home", polarity=polarity, single=c.unique or c.cue, ends=ends, importance=0.8
        )
    elif concrete(cut(said)):
        yield Meaning("dwelling", key(cut(said)), key(cut(said)), polarity=polarity, ends=ends)


_PASSING = re.compile(
    r"\b(?:today|tonight|right now|at the moment|this (?:morning|afternoon|evening))\b", re.IGNORECASE
)


def _passes(value: str) -> bool:
    """Whether it is a state of today, such as "slow today", and no time of day."""
    rest = _PASSING.sub("", value).strip(" ,.")
    return rest not in ("", value.strip(" ,.")) and not re.search(r"\d|\b(?:at|from|until|noon)\b", rest)


def noun_value(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """ "My birthday is on May 5", "the deadline moved to Friday", "my favourite colour is green"."""
    own, noun = not c.noun.startswith("the "), c.noun.removeprefix("the ").lower()
    said = _AT_VALUE.sub("", p.rest)
    moved = p.verb in _MOVED
    value = cut(re.sub(r"^to\s+", "", said, flags=re.I) if moved else said)
    if not value or not concrete(value) or _passes(value) or not _tells(p, noun, value, moved):
        return
    if value.lower().startswith("to "):
        if own and noun.split()[-1] in _AIMS:
            yield Meaning(f"my {key(noun) or noun}", key(value), key(value), "project", importance=0.6)
        return
    timed, listed = bool(_TIMED.search(value)), noun.split()[-1] in SINGLE_NOUNS
    favourite, changed = bool(FAVOURITE.search(noun)), c.cue or c.correction
    if not (timed or listed or (own and (favourite or changed or re.match(r"(?:an? |[A-Z])", value)))):
        return
    colour = bool(set(value.lower().split()) & COLOURS)
    name = bool(re.match(r"^(?:called|named)\b", p.rest, re.I))
    attribute = f"my {'favourite ' + key(FAVOURITE.sub('', noun)) if favourite else key(noun) or noun}"
    attribute += " name" if name else " colour" if colour and not favourite else ""
    attribute = _SAME_AS.get(noun, attribute)
    yield Meaning(
        attribute,
        " ".join(key_terms(value)),
        attribute if noun in _SAME_AS else key(FAVOURITE.sub("", noun)) or noun,
        "preference" if favourite else "fact",
        -1 if p.negated else 1,
        favourite or listed or timed or name or colour or changed,
        importance=0.6,
    )


def _tells(p: Predicate, noun: str, value: str, moved: bool) -> bool:
    """Whether the predicate gives the noun a value, and no mood or opinion."""
    first = value.split()[0].lower()
    shifted = moved or _SHIFTED.match(p.rest) is not None
    if p.tense in ("modal", "once") or not (p.verb == "be" or moved) or (p.tense == "past" and not shifted):
        return False
    if noun.split()[0] in VAGUE or noun.split()[-1] in EVERYDAY - {"plan", "phone", "email"} - SINGLE_NOUNS:
        return False
    return not (first in ABSTRACT_STARTS or first in MOODS or first.endswith("ing"))
