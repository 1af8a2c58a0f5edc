"""English rules for what somebody has and does, did, and does no longer."""

import re
from collections.abc import Iterator

from memory.facts.english_clauses import USER, Clause
from memory.facts.english_plans import DATE, FLEETING, FROM_TO, LASTING, SOON, STRONG, plan
from memory.facts.english_states import home
from memory.facts.english_tastes import concrete, cut, thing
from memory.facts.english_verbs import Predicate, predicate, stem
from memory.facts.english_words import ACTIVITIES, EVERYDAY, LIGHT_VERBS, MOODS, PARTICLES, VAGUE
from memory.facts.keys import key, key_terms, words
from memory.facts.meaning import Meaning

_AT = re.compile(r"\b(?:at|for|with) (?:the )?(?P<v>[A-Z][\w&'’.-]*(?: (?:[A-Z][\w&'’.-]*|of|and|the))*)")
_COMPANY = re.compile(r"^(?:the )?(?P<v>[A-Z][\w&'’.-]*(?: [A-Z][\w&'’.-]*)*)(?P<w>.*)$")
_AS_JOB = re.compile(r"\bas\b|company|start-?up|firm|\bteam\b")
_AGAIN = re.compile(
    r"\b(?:every|each|often|these days|nowadays|daily|weekly|weekdays|weekends|always|usually|(?:once|twice|times) a)\b|\bon \w+days\b",
    re.I,
)
_ARRANGED = frozenset(map(stem, ("go", "come", "see", "start", "take", "have")))
_OF_OTHERS = frozenset(map(stem, ("die", "pass", "marry", "move", "retire", "have", "be")))
_LIGHT_VERBS = frozenset(map(stem, LIGHT_VERBS))
_MENTAL = frozenset(
    map(stem, ("think", "wonder", "mean", "wait", "hope", "want", "feel", "talk", "try", "say", "tell", "ask"))
)
_ACTIVE = frozenset(map(stem, ACTIVITIES))
_NO_EVENT = re.compile(
    r"^(?:to (?:say|hear|know|see|the (?:store|shop|gym|bathroom))|an? (?:lot|ton|bit|great time|good time)\b(?! \w+ (?:with|at|in|about|from))"
    r"|(?:so |too )?much|plenty|some (?:great|cool|good|awesome|exciting|big)|really|that|the (?:idea|point|hang|chance))\b",
    re.I,
)
_LIGHT = frozenset(map(stem, ("get", "make", "take", "keep")))


def live(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """ "I live in Porto"; in the past it is only over."""
    said = re.sub(r"^(?:together |happily )?(?:in|at|near|on) ", "", p.rest, flags=re.I)
    if said == p.rest:
        if concrete(cut(p.rest)) and p.tense == "present":
            yield Meaning("household", key(cut(p.rest)), "household", polarity=-1 if p.negated else 1)
        return
    if p.tense == "past":
        yield Meaning("lived", key(cut(said)), episodic=True)
    elif p.tense in ("present", "progressive", "perfect", "once"):
        yield from home(said, c, -1 if p.negated else 1)


def move(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """ "I moved from Berlin to Oslo"; a future move is a plan."""
    if p.negated:
        return
    match = FROM_TO.search(p.rest)
    new = cut(
        (match["new"] or match["new2"]) if match else re.sub(r"^(?:back |over )?(?:in )?to ", "", p.rest, flags=re.I)
    )
    old = (key(cut(match["old"] or match["old2"])),) if match else ()
    if p.tense in ("past", "perfect") and new and re.search(r"\bto\b", p.rest):
        named = list(home(new, c, 1, ends=old))
        for meaning in named:
            yield meaning if meaning.attribute != "home" else _single(meaning)
    elif p.tense in ("future", "progressive") and concrete(new) and not SOON.search(p.rest):
        yield from plan(p, c)


def work(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """Job, employer, project."""
    if p.tense == "past":
        yield from (m for m in event(p, c))
        return
    if p.tense in ("modal", "must", "future"):
        return
    polarity, rest = -1 if p.negated else 1, p.rest
    if match := re.match(r"^on (?P<v>.+)$", rest, re.I):
        if concrete(cut(match["v"])) and not SOON.search(rest):
            yield Meaning(
                "work on", key(cut(match["v"])), key(cut(match["v"])), "project", polarity, ends=("",) if p.over else ()
            )
        return
    if match := re.search(r"\bas (?:an? |the )?(?P<v>.+?)(?=$|,| (?:at|for|in|with)\b)", rest, re.I):
        yield Meaning("job", key(match["v"]), "job", polarity=polarity, single=True, importance=0.7)
    if match := re.search(r"\b(?:at|for|with) (?:the )?(?P<v>(?:[A-Z]|an? ).+)$", rest):
        yield Meaning(
            "employer",
            key(cut(match["v"])),
            "employer",
            polarity=polarity,
            single=match["v"][0].isupper(),
            importance=0.7,
        )
    elif match := re.match(r"^(?:in|from|at|for) (?P<v>.+)$", rest, re.I):
        if concrete(cut(match["v"])):
            single = match["v"].split()[0].lower() == "home" or "remote" in rest
            yield Meaning("work", key(cut(match["v"])), key(cut(match["v"])), polarity=polarity, single=single)
    elif re.match(
        r"^(?:remotely|part[- ]time|full[- ]time|night shifts?|nights|freelance|weekends|shifts)\b", rest, re.I
    ):
        yield Meaning("work mode", key(cut(rest)), "work mode", polarity=polarity)


def join(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """ "I joined Google", "I started at Siemens as an engineer", "I started learning piano"."""
    if p.negated or p.tense not in ("past", "perfect"):
        return
    rest = p.rest
    first = rest.split()[0].lower() if rest.split() else ""
    if first.endswith("ing") and len(first) > 4:
        inner = predicate(rest)
        if inner is not None and inner.verb not in _MENTAL | {stem("see"), stem("get")} and concrete(cut(inner.rest)):
            topic = thing(DATE.sub(" ", cut(inner.rest))) or inner.verb
            yield Meaning(f"do {inner.verb}", thing(inner.rest), topic, confidence=0.7)
        return
    found = False
    if p.verb == stem("join") and (match := _COMPANY.match(rest)) and _AS_JOB.search(match["w"]):
        found = True
        yield Meaning("employer", key(match["v"]), "employer", single=True, importance=0.7)
    if match := re.search(
        r"\b(?:as|job as|working as) (?:an? |the )?(?P<v>.+?)(?=$|,| (?:at|for|in|with|last|this)\b)", rest
    ):
        found = True
        yield Meaning("job", key(match["v"]), "job", single=True, importance=0.7)
    if (match := _AT.search(rest)) and re.search(r"\b(?:job|position|role|working|work)\b|^(?:at|with)\b|^as\b", rest):
        found = True
        yield Meaning("employer", key(match["v"]), "employer", single=True, importance=0.7)
    if not found:
        yield from event(p, c)


def leave(p: Predicate, _c: Clause) -> Iterator[Meaning]:
    """ "I left Google", "I quit my job", "I quit smoking", "I gave up coffee", "I sold my car": something is over."""
    if p.negated or p.tense not in ("past", "perfect"):
        return
    rest = re.sub(
        r"^(?:up|away|out of|rid of|off|working (?:at|for)|being|playing|doing|going to|with|my membership (?:at|of)|using|drinking|eating|to) ",
        "",
        p.rest,
        flags=re.I,
    )
    said = cut(rest)
    if not concrete(said):
        return
    own = re.sub(r"^(?:my|our|the|all my|an?) ", "", said, flags=re.I)
    jobs = re.match(r"^(?:job|work|position|role|post)\b(?:.*?\b(?:at|with|as|for) (?P<v>.+))?", own, re.I)
    if jobs:
        place = key(jobs["v"]) if jobs["v"] else ""
        yield Meaning(
            "employer",
            place or "left",
            "employer",
            polarity=-1,
            ends=(place,) if place else ("job", "employer"),
            importance=0.7,
        )
    else:
        topic = thing(re.split(r" (?:to|for|after|in|on|at|and) ", own)[0])
        yield Meaning("over", topic, topic, polarity=-1, ends=("", topic), importance=0.6)


def habit(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """What somebody does again and again, or is doing these weeks."""
    dated, rest = bool(DATE.search(p.rest)), cut(p.rest)
    again = bool(_AGAIN.search(p.rest)) or bool(
        p.adverbs & {"always", "usually", "often", "regularly", "daily"}
        and (p.verb not in FLEETING or p.verb in _ACTIVE)
    )
    lately = p.tense == "perfect" and p.word.endswith("ing") and p.verb not in _MENTAL and len(key_terms(rest)) >= 2
    object_ = (concrete(rest) or lately) and (rest.split()[-1].lower() not in EVERYDAY or again)
    if (
        p.tense == "progressive"
        and (dated or DATE.search(c.text))
        and re.search(r"\b(?:next|tomorrow|on|in)\b", c.text, re.I)
        and p.verb not in FLEETING - _ARRANGED
    ):
        yield from plan(p, c)
        return
    if p.tense == "progressive" and (SOON.search(p.rest) or (p.verb in FLEETING and p.verb not in _ACTIVE)):
        return
    if (
        not object_
        or p.verb in _MENTAL
        or dangling(rest)
        or (p.verb not in _ACTIVE and not again and not lately)
        or (p.verb in FLEETING | _LIGHT and not again and not lately)
    ):
        return
    polarity = -1 if p.negated else 1
    topic = " ".join(sorted(words(thing(DATE.sub(" ", rest))))) or p.verb
    single = again and bool(STRONG.search(c.text))
    yield Meaning(
        f"do {p.verb}",
        thing(p.rest),
        topic,
        polarity=polarity,
        single=single,
        ends=("",) if p.over else (),
        confidence=0.7,
    )


def event(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """Something that happened and is worth telling: no meals, no weather, nothing that only points."""
    if p.negated or (p.verb not in LASTING and not (p.verb in _OF_OTHERS and c.subject != USER)):
        return
    said = re.sub(r"^(?:a )?(?:lots?|plenty|tons?|bunch|couple|few) of ", "", p.rest, flags=re.I)
    nouns, first = key_terms(SOON.sub("", said)), (said.split() or [""])[0].lower()
    dated, named = bool(DATE.search(c.text)), bool(re.search(r"[A-Z]\w+", said))
    needed = 1 if c.subject != USER or dated or (p.verb not in _LIGHT_VERBS and len(said.split()) > 2) else 2
    head = re.split(r"\b(?:with|at|in|on|from|about|for|to|of|near|during|by|and|as)\b|[,-]", said.lower())[
        0
    ].split() or [""]
    everyday = head[-1] in EVERYDAY and not dated and not named
    idle = first in MOODS - PARTICLES or _NO_EVENT.match(said) is not None
    if len(nouns) < needed or _pointing(said) or everyday or idle or dangling(cut(said)):
        return
    if SOON.search(c.text) and not named and not dated:
        return
    yield Meaning("event", key(f"{p.verb} {said}"), episodic=True, confidence=0.7)


def _pointing(said: str) -> bool:
    """It begins with a word for something else: "it", but not "these new collars"."""
    first, _, rest = said.lower().partition(" ")
    if first in ("this", "these", "those", "some", "one", "another"):
        return not key_terms(rest.split(" ")[0] + " " + " ".join(rest.split(" ")[1:2]))
    return first in VAGUE


def dangling(said: str) -> bool:
    """It ends by pointing at something that was said elsewhere."""
    first = re.split(r",|\s(?:and|but|so|because)\s", said.lower())[0]
    return any((part.split() or [""])[-1].strip(".,!") in VAGUE - {"way"} for part in (first, said.lower()))


def _single(m: Meaning) -> Meaning:
    return Meaning(m.attribute, m.value, m.topic, m.memory_type, m.polarity, True, m.ends, m.confidence, m.importance)
