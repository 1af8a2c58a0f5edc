"""English rules for what somebody plans, has decided, uses and has called off."""

import re
from collections.abc import Iterator

from memory.facts.english_clauses import Clause
from memory.facts.english_tastes import concrete, cut, thing
from memory.facts.english_verbs import Predicate, predicate, stem
from memory.facts.english_words import FLEETING_VERBS, LASTING_PAST, LIGHT_VERBS, VAGUE
from memory.facts.keys import key, key_terms, words
from memory.facts.meaning import Meaning

FLEETING = frozenset(stem(w) for w in FLEETING_VERBS)
LASTING = frozenset(stem(w) for w in LASTING_PAST)
FROM_TO = re.compile(r"\bfrom (?P<old>.+?) (?:over )?to (?P<new>.+)$|\bto (?P<new2>.+?) from (?P<old2>.+)$", re.I)
_REPLACED = re.compile(r"^(?P<old>.+?) (?:with|by|for) (?P<new>.+)$", re.I)
DATE = re.compile(
    r"\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}(?:st|nd|rd|th)|\d{1,2}[:.]\d{2}|\d{1,2} ?[ap]\.?m|(?:next|this|coming|every|each|on|last) (?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|(?:next|this|last|every) (?:week|month|year|spring|summer|autumn|fall|winter|weekend|morning|evening)|january|february|march|april|may|june|july|august|september|october|november|december|tomorrow|yesterday|(?:in|until|since|by) \d{4}|(?:mornings?|evenings?|weekends?|daily|weekly|noon|midnight)|(?:once|twice|\w+ times) a (?:day|week|month|year)|\w+ (?:days?|weeks?|months?|years?) ago|in (?:\w+ ){1,2}(?:days|weeks|months|years))\b",
    re.I,
)
_ARRANGED = frozenset(
    map(stem, ("go", "come", "get", "take", "make", "see", "have", "meet", "start", "read", "watch", "do"))
)
_SMALL = frozenset(
    map(
        stem,
        (*LIGHT_VERBS, "send", "call", "record", "clean", "stop", "skip", "pick", "contact", "add", "help", "support"),
    )
)
_TRIP = re.compile(
    r"\b(?:my|our|the|trip|visit|journey|holidays?|vacation|flight|tour|plans?|booking|stay|weekend|getaway|of|to|for|in)\b",
    re.I,
)
STRONG = re.compile(r"\b(?:instead|now|changed?|moved|postponed|rescheduled|after all|rather)\b", re.I)
SOON = re.compile(
    r"\b(?:today|tonight|now|right away|in a (?:minute|moment|bit|sec|second|while)|in an hour|later|soon|this (?:morning|afternoon|evening))\b",
    re.I,
)
_USE_FOR = re.compile(r"^(?P<v>.+?) (?:for|as) (?:my |our |the )?(?P<w>.+)$", re.I)
_TRAVEL = frozenset(map(stem, ("go", "visit", "travel", "fly", "head", "drive", "return")))


def plan(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """What somebody is going to do; what is over in an hour is no plan."""
    verb, rest = p.verb, p.rest
    wish = verb in (stem("want"), stem("hope"))
    if wish and (p.negated or p.tense in ("past", "modal") or not re.match(r"^to\b", rest)):
        return
    if verb in (stem("plan"), stem("intend"), stem("aim"), stem("hope"), stem("want"), stem("prepare")):
        inner = predicate(re.sub(r"^(?:on |to |for )+", "", rest)) if re.match(r"^(?:on|to)\b", rest) else None
        if inner is None:
            rest = re.sub(r"^(?:on|for) ", "", rest)
            verb = stem("plan")
        else:
            verb, rest = inner.verb, inner.rest
    said = cut(rest)
    weak = wish or p.tense == "future"
    dated = bool(DATE.search(rest)) or (p.tense == "progressive" and bool(DATE.search(c.text)))
    if (
        SOON.search(rest)
        or (verb in FLEETING and verb not in _ARRANGED)
        or (verb in FLEETING and not dated and not re.search(r"[A-Z]\w+", rest))
        or not concrete(said)
        or said.lower().split()[-1] in VAGUE
        or verb in (stem("let"), stem("need"), stem("tell"))
    ):
        return
    rich = wish and verb not in FLEETING and len(key_terms(rest)) >= 2
    if weak and not dated and not rich and (verb not in LASTING or verb in _SMALL) and not re.search(r"[A-Z]\w+", rest):
        return
    if verb in _TRAVEL:
        verb = "go"
    bare = STRONG.sub(" ", DATE.sub(" ", rest))
    topic = _without_numbers(_TRIP.sub(" ", cut(bare))) or _without_numbers(cut(bare))
    single = bool(STRONG.search(c.text)) or c.correction
    kind = "open_loop" if dated else "project"
    value = key(STRONG.sub(" ", rest))
    yield Meaning(
        f"plan {verb}",
        value,
        topic,
        kind,
        -1 if p.negated else 1,
        single,
        ("",) if p.negated else (),
        0.75,
        episodic=True,
    )


def _without_numbers(text: str) -> str:
    return " ".join(sorted(words(key(text))))


def cancel(p: Predicate, _c: Clause) -> Iterator[Meaning]:
    """ "I cancelled the trip to Japan", "we postponed the launch to May"."""
    if p.negated or p.tense not in ("past", "perfect"):
        return
    plain = (
        p.rest if p.verb not in (stem("cancel"), stem("call")) else re.sub(r" to (?=[a-z]*\s?[A-Z])", " of ", p.rest)
    )
    match = re.match(r"^(?:off |back |forward )?(?P<v>.+?)(?: (?:from .+? )?(?:to|until|till) (?P<w>.+))?$", plain)
    if match is None or not concrete(cut(match["v"])):
        return
    topic = key(_TRIP.sub(" ", cut(match["v"])) if _TRIP.sub("", cut(match["v"])).strip() else cut(match["v"]))
    moved = match["w"] is not None and p.verb not in (stem("cancel"), stem("call"))
    if moved:
        yield Meaning(f"my {topic}", key(match["w"]), topic, "open_loop", single=True, ends=(topic,), episodic=True)
    else:
        yield Meaning("over", topic, topic, "decision", -1, ends=("", topic))


def decide(p: Predicate, _c: Clause) -> Iterator[Meaning]:
    """ "We decided to use Postgres", "we chose Vue", "we settled on May"."""
    if p.tense not in ("past", "perfect", "future", "progressive") or (p.negated and p.verb != stem("go")):
        return
    rest = re.sub(
        r"^(?:to go with|on going with|on|with|to|upon|that we will|that i will|that) ", "", p.rest, flags=re.I
    )
    against = bool(re.match(r"^(?:not to|against)\b", p.rest, re.I))
    rest = re.sub(r"^(?:not to|against) ", "", rest, flags=re.I)
    said = cut(rest)
    inner = re.match(
        r"^(?:use|using|go with|adopt|pick|choose|take|buy|move to|switch to|try|host on|deploy (?:on|to)|write it in|build it with) (?P<v>.+)$",
        said,
        re.I,
    )
    if not concrete(said):
        return
    what = re.split(r" (?:for|as|instead of|over|rather than) (?:the |our |my )?", inner["v"] if inner else said)
    aim = re.search(r" (?:for|as) (?:the |our |my )?(?P<v>[\w -]+?)(?= instead| over| rather|$)", rest)
    other = re.search(r" (?:instead of|over|rather than) (?P<v>.+)$", rest)
    attribute = f"use for {key(aim['v'])}" if aim else "decide"
    ends = (thing(cut(other["v"])),) if other else ("", thing(what[0])) if against else ()
    yield Meaning(
        attribute,
        thing(what[0]),
        key(aim["v"]) if aim else thing(what[0]),
        "decision",
        -1 if against else 1,
        bool(aim),
        ends,
        importance=0.7,
    )


def switch(p: Predicate, _c: Clause) -> Iterator[Meaning]:
    """ "I switched from tea to coffee", "we replaced MySQL with Postgres", "I changed my name to Sam"."""
    if p.negated or p.tense not in ("past", "perfect", "progressive"):
        return
    rest = re.sub(r"^(?:my mind|over|back)\b,?\s*", "", p.rest, flags=re.I)
    if match := FROM_TO.search(rest):
        old, new = cut(match["old"] or match["old2"]), cut(match["new"] or match["new2"])
    elif p.verb in (stem("replace"), stem("swap"), stem("trade"), stem("exchange")) and (
        found := _REPLACED.match(rest)
    ):
        old, new = re.sub(r"^(?:my|our|the) (?:old )?", "", cut(found["old"])), cut(found["new"])
    elif found := re.match(r"^(?:my|our|the) (?P<n>.+?) to (?P<v>.+)$", rest):
        noun = found["n"].strip()
        yield Meaning(
            "name" if noun == "name" else f"my {key(noun)}",
            key(cut(found["v"])),
            "name" if noun == "name" else key(noun),
            single=True,
        )
        return
    elif found := re.match(r"^to (?P<v>.+)$", rest):
        old, new = "", cut(found["v"])
    else:
        return
    if concrete(new):
        yield Meaning("use", thing(new), thing(new), ends=(thing(old),) if old else (), importance=0.6)


def use(p: Predicate, _c: Clause) -> Iterator[Meaning]:
    """ "We use Postgres for the shop": one for each purpose."""
    if p.tense in ("past", "modal", "must", "future") or not concrete(cut(p.rest)):
        return
    polarity = -1 if p.negated else 1
    match = _USE_FOR.match(p.rest)
    if match and concrete(match["v"]):
        aim = key(cut(match["w"]))
        yield Meaning(f"use for {aim}", thing(match["v"]), aim, polarity=polarity, single=True)
    else:
        yield Meaning("use", thing(cut(p.rest)), thing(cut(p.rest)), polarity=polarity, ends=("",) if p.over else ())
