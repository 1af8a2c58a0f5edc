"""English rules for what somebody has, was given an appointment for, or bought."""

import re
from collections.abc import Iterator

from memory.facts.english_actions import dangling, event
from memory.facts.english_clauses import Clause
from memory.facts.english_plans import DATE, SOON, plan
from memory.facts.english_tastes import cut, each, items
from memory.facts.english_verbs import Predicate
from memory.facts.english_words import EVERYDAY, VAGUE
from memory.facts.keys import key, key_terms
from memory.facts.meaning import Meaning

_IDLE = re.compile(
    r"^(?:so|much|more|most|enough|quite|all|plenty|tons|lots|a ton|a lot|each|yet"
    r"|the (?:right|best|chance|opportunity|perfect|same))\b",
    re.I,
)
_QUALITY = re.compile(
    r"^(?:an?|some|the) (?:good|great|bad|nice|tough|long|busy|lot|hard|rough|blast|real|wonderful|amazing|lovely|fantastic"
    r"|feeling|way|new found|quick|couple|bunch)\b",
    re.I,
)
_DATES = frozenset(
    """appointment interview exam flight deadline wedding surgery meeting test concert reservation presentation session
    class visit checkup""".split()  # noqa: SIM905 - word lists read best as text
)
_ILLNESSES = frozenset(
    "diabetes asthma allergy allergies celiac migraines hypertension arthritis insomnia adhd".split()  # noqa: SIM905
)


def have(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """Possessions, pets, relatives, illnesses, appointments."""
    said, polarity = cut(p.rest), -1 if p.negated else 1
    if p.tense == "past":
        yield from event(p, c)
    elif p.tense == "progressive" and DATE.search(c.text):
        yield from plan(p, c)
    elif not (_IDLE.match(said) or dangling(said) or p.word == "having" or p.tense not in ("present", "perfect")):
        if re.match(r"^no\b", said, re.I):
            said, polarity = said[2:].strip(), -1
        if not (p.negated and p.tense == "perfect"):
            yield from _held(said, polarity, p, c)


def _held(said: str, polarity: int, p: Predicate, c: Clause) -> Iterator[Meaning]:
    head = re.split(r"\s+(?:named|called|with|who|that|and|of|on|at|in|from|for|whose)\b|,", said)[0]
    nouns = key_terms(re.sub(r"^(?:an?|the|one|any|my|our|two|three|four|five|six|\d+)\s+", "", head, flags=re.I))
    last = (head.lower().split() or [""])[-1]
    if not nouns or last in EVERYDAY or last in VAGUE:
        return
    if last in _DATES:
        if DATE.search(p.rest) and not SOON.search(p.rest):
            yield Meaning("date", key(p.rest), nouns[-1], "open_loop", polarity, True, episodic=True, confidence=0.75)
        return
    if _QUALITY.match(said) and last not in ("dog", "cat"):
        return
    kind = "constraint" if last in _ILLNESSES else "fact"
    if len(items(said)) > 1 and kind == "fact" and not re.search(r"named|called", said):
        yield from each(said, c, Meaning("have", memory_type=kind, polarity=polarity))
    else:
        ends = ("",) if p.over and polarity < 0 else ()
        yield Meaning("have", key(said), nouns[-1], kind, polarity, ends=ends)


def acquire(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """ "I bought a bike", "we adopted two cats": from then on it is had."""
    match = re.match(
        r"^(?:myself |ourselves )?(?:an?|my first|our first|the|another|my own|one|two|three|four|\d+) (?:brand )?(?:new )?(?P<v>.+)$",
        p.rest,
        re.I,
    )
    said = cut(match["v"]) if match else ""
    head = re.split(r"\s+(?:named|called|with|who|that|and|of|on|at|in|from|for|last|this|yesterday|to)\b|,|\(", said)[
        0
    ]
    if (
        match
        and not p.negated
        and p.tense in ("past", "perfect")
        and key_terms(head)
        and head.lower().split()[-1] not in EVERYDAY | VAGUE
    ):
        yield Meaning("have", key(f"{p.rest.split()[0]} {said}"), key_terms(head)[-1], confidence=0.75)
    else:
        yield from event(p, c)
