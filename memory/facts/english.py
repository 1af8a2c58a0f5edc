"""English clauses to meanings: which rule reads which predicate."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from memory.facts import english_actions as actions
from memory.facts import english_belongings as belongings
from memory.facts import english_plans as plans
from memory.facts.english_clauses import USER, Clause, clauses
from memory.facts.english_corrections import corrections
from memory.facts.english_states import be, noun_value, passive
from memory.facts.english_tastes import LIKE, concrete, cut, items, liking, preferring, thing
from memory.facts.english_verbs import Predicate, expanded, predicate, stem
from memory.facts.english_words import MOODS, RELATIONS
from memory.facts.keys import key
from memory.facts.meaning import Meaning

Handler = Callable[[Predicate, Clause], Iterator[Meaning]]

_CALL_ME = re.compile(
    r"^(?:please |you can |just )*call me (?P<v>[A-Z][\w'’-]+)|^(?:i|people|everyone|my friends|friends|they) (?:go by|calls? me) (?P<w>[A-Z][\w'’-]+)",
    re.I,
)
_KIN = re.compile(
    r"^(?!This|That|It|He|She|There|Here|These|What|Who)(?P<name>[A-Z][\w'’-]+) is (?:my|our) (?P<kind>(?:[\w-]+ ){0,2})(?P<who>\w[\w-]*)\b"
)
_FAVOURED = re.compile(
    r"^(?P<v>.{2,50}?) (?:is|are) (?:still |now |definitely |by far )*(?:my|our) (?:all-time |absolute )?fav(?:ou?rite|e)\b ?(?P<n>[\w ]*)",
    re.I,
)
_AHEAD = re.compile(r"^forward to (?P<v>.+)$", re.I)
_POINTS = re.compile(r"\b(?:you|your|it|that|them|him|hearing|seeing)\b", re.I)
_NO_SUBJECT = r"(?!it\b|that|this|these|those|they|he\b|she\b|you|your|which|what|there|i\b|we\b|not\b|so\b|and\b)"
_VALUED = re.compile(
    rf"^{_NO_SUBJECT}(?P<v>[\w'’-]+(?: [\w'’-]+){{0,5}}?) (?:(?:is|are|was|has been|have been) (?:so |really |very |super |always |also |truly )*(?:important|essential|vital|special|dear|precious|meaningful|sacred) (?:to|for) (?:me|us)"
    r"|means? (?:a lot|the world|everything|so much) to (?:me|us)|(?:is|are) (?:really |also )*what (?:i am|i|we are|we) (?:really )*(?:passionate about|love|enjoy|care about|live for)"
    r"|(?:is|are|has been) (?:definitely |really |also )*(?:my|our) (?:biggest |greatest |real |true |new |favou?rite )*(?:passion|hobby|thing|therapy|escape|outlet|happy place|guilty pleasure|inspiration|pastime))\b",
    re.I,
)
_ONE_OF = re.compile(
    r"^one of (?:my|our) (?:all-time )?fav(?:ou?rite|e)s? ?(?:[\w -]*?) (?:is|are|was) (?P<v>.+)$", re.I
)
_HELPS = re.compile(
    r"^(?!it\b|that|this|these|those|they|he\b|she\b|you|your|which|what|there|i\b|we\b|thanks|really|not\b|so\b|and\b|just|here|only|the (?:producer|colors))(?P<v>[\w'’-]+(?: [\w'’-]+){0,4}) (?:always |really |has |have |also )*(?P<w>(?:helps?|helped|reminds?|lets?|allows?|drives?|keeps?|gives?|brings?|inspires?|inspired|motivates?|motivated|teaches|taught|makes?|means) (?:me|us) .{4,})$",
    re.I,
)
_STAND = re.compile(r"^stand (?P<v>.+)$", re.I)
_BE_OUT = (stem("give"), stem("get"))


def read(text: str) -> Iterator[tuple[Clause, Meaning]]:
    """What `text` states, clause by clause."""
    for clause in clauses(text):
        for meaning in _of(clause):
            yield clause, meaning
    yield from corrections(text)


def _of(c: Clause) -> Iterator[Meaning]:
    plain = expanded(c.text)
    if match := _CALL_ME.match(plain):
        yield Meaning("called", key(match["v"] or match["w"]), "called", "preference", single=True, importance=0.9)
        return
    if (match := _KIN.match(plain)) and match["who"].lower() in RELATIONS:
        yield Meaning(
            f"relative {key(match['kind'] + match['who'])}", key(match["name"]), key(match["name"]), importance=0.7
        )
        return
    if (match := _FAVOURED.match(plain)) and concrete(match["v"]) and "," not in match["v"] and not c.sarcastic:
        noun = key(match["n"] or "")
        yield Meaning(f"my favourite {noun}", thing(match["v"]), noun, "preference", single=bool(noun), importance=0.6)
        return
    if (match := _ONE_OF.match(plain)) and concrete(match["v"]) and not c.sarcastic:
        yield from liking(cut(match["v"]), Predicate("present", "like", "like", match["v"]), c, 1)
        return
    if (match := _VALUED.match(plain)) and not c.sarcastic and concrete(match["v"]):
        yield from liking(re.sub(r"^my own ", "", match["v"]), Predicate("present", "like", "like", match["v"]), c, 1)
        return
    if (match := _HELPS.match(c.text)) and _POINTS.search(match["v"]):
        return
    if (match := _HELPS.match(c.text)) and not c.sarcastic and c.noun == "" and c.subject == USER and not c.predicate:
        yield Meaning("helps", key(match["w"]), key(match["v"]), importance=0.4, confidence=0.65)
        return
    p = predicate(c.predicate) if c.predicate else None
    if p is None:
        return
    if c.noun:
        yield from noun_value(p, c)
    elif p.verb == "be":
        yield from be(p, c)
    else:
        yield from _does(p, c)


def _does(p: Predicate, c: Clause) -> Iterator[Meaning]:
    if p.verb == stem("get") and p.rest.lower().startswith("up ") and p.tense == "present":
        p = replace(p, verb=stem("wake"))
    verb, first = p.verb, (p.rest.split() or [""])[0].lower()
    if verb in LIKE or (verb == stem("stand") and p.negated) or (verb == stem("care") and p.negated and first == "for"):
        yield from _likes(p, c)
    elif verb == stem("prefer") or (verb == stem("favor")):
        yield from preferring(p, c) if p.tense != "once" else ()
    elif p.tense == "once":
        yield from _gone(p, c)
    elif verb == stem("look") and p.tense == "progressive" and (match := _AHEAD.match(p.rest)):
        if concrete(cut(match["v"])) and not _POINTS.search(match["v"]):
            yield Meaning("plan look", key(match["v"]), key(cut(match["v"])), "project", confidence=0.7, episodic=True)
    elif verb in _BE_OUT and first in ("up", "rid", "away"):
        yield from actions.leave(p, c)
    elif verb == stem("get") and p.word != "getting" and p.tense in ("past", "perfect") and p.rest:
        yield from _got(p, c)
    elif verb == stem("turn") and p.tense in ("past", "perfect") and re.match(r"^\d{1,3}\b", p.rest):
        yield Meaning("age", key(p.rest.split()[0]), "age", single=c.unique)
    elif verb == stem("become") and p.tense in ("past", "perfect"):
        yield from be(Predicate("present", "be", "am", p.rest), c)
        yield from actions.event(p, c)
    elif verb == stem("marry") and p.tense in ("past", "perfect") and not p.negated:
        yield Meaning("marital", "marri", "marital", single=True, importance=0.7)
    elif verb == stem("go") and first == "by" and p.tense == "present":
        yield Meaning("called", key(cut(p.rest[3:])), "called", "preference", single=True)
    elif verb == stem("go") and first == "with" and re.match(r"^(?:we|i)\b", c.text, re.I):
        yield from plans.decide(p, c)
    elif verb == stem("come") and first == "from" and p.tense == "present":
        yield from be(Predicate("present", "be", "am", p.rest), c)
    elif (verb == stem("call") and first == "off") or (verb == stem("push") and first in ("back", "forward")):
        yield from plans.cancel(p, c)
    else:
        yield from _other(p, c)


def _other(p: Predicate, c: Clause) -> Iterator[Meaning]:
    handler = _TABLE.get(p.verb)
    if handler is not None and not (handler is plans.use and p.tense in ("past", "perfect")):
        yield from handler(p, c)
    elif p.tense == "must":
        yield from _must(p, c)
    elif p.tense == "future":
        yield from plans.plan(p, c)
    elif p.tense in ("past", "perfect") and not (p.tense == "perfect" and p.word.endswith("ing")):
        yield from actions.event(p, c)
    elif p.tense in ("present", "progressive", "perfect"):
        yield from _simple(p, c)


def _simple(p: Predicate, c: Clause) -> Iterator[Meaning]:
    verb, said, polarity = p.verb, cut(p.rest), -1 if p.negated else 1
    if verb in (
        stem("speak"),
        stem("study"),
        stem("learn"),
        stem("teach"),
        stem("play"),
        stem("wear"),
        stem("read"),
        stem("watch"),
    ) and concrete(said):
        if verb in (stem("read"), stem("watch"), stem("wear")) and not re.search(
            r"[A-Z]\w+|every|always|daily", p.rest
        ):
            return
        for item in items(said):
            text = c.text.replace(said, item) if item != said and said in c.text else None
            yield Meaning(
                f"do {verb}",
                thing(item),
                thing(re.split(r" (?:at|in|on|every|with|for) ", item)[0]),
                polarity=polarity,
                ends=("",) if p.over else (),
                text=text,
            )
    elif verb in (stem("eat"), stem("drink"), stem("smoke")) and (said or p.negated):
        if p.tense == "present" and (p.negated or re.search(r"\b(?:every|always|only|daily|usually)\b", c.text, re.I)):
            yield Meaning(
                f"do {verb}",
                thing(said) or verb,
                thing(plans.DATE.sub(" ", said)) or verb,
                "constraint" if p.negated else "preference",
                polarity,
                ends=("",) if p.over else (),
            )
    else:
        yield from actions.habit(p, c)


def _likes(p: Predicate, c: Clause) -> Iterator[Meaning]:
    if p.tense in ("past", "modal", "future", "must") and not (p.verb == stem("stand") and p.negated):
        if p.tense == "past":
            yield from actions.event(p, c)
        return
    sign = LIKE.get(p.verb, 1)
    if p.negated and sign < 0 and not p.over:
        return
    said = re.sub(r"^for ", "", cut(p.rest))
    yield from liking(said, p, c, -sign if p.negated else sign)


def _gone(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """ "I used to ...": it is over, so whatever says that it is so ends."""
    said = cut(p.rest)
    if p.verb == stem("live"):
        yield from actions.live(p, c)
    elif concrete(said):
        yield Meaning(
            "once",
            key(f"{p.verb} {said}"),
            thing(re.sub(r"^(?:as |at |for |in )?(?:an? |the )?", "", said)),
            polarity=-1,
            ends=("",),
            episodic=True,
        )


def _got(p: Predicate, c: Clause) -> Iterator[Meaning]:
    low = p.rest.lower()
    if re.match(r"^(?:married|divorced|engaged)\b", low):
        yield Meaning("marital", key(low.split()[0]), "marital", single=True, importance=0.7)
        yield from ()
    elif re.match(r"^promoted(?! to)\b", low):
        yield Meaning("event", key(f"promoted {p.rest}"), episodic=True, confidence=0.75)
    elif re.match(r"^(?:promoted|hired|fired|laid off|diagnosed|accepted|let go)\b", low):
        yield from passive(p, c)
    elif match := re.match(r"^(?:an? )?(?:new )?(?:job|position|role|offer)\b(?P<v>.*)$", p.rest, re.I):
        yield from actions.join(Predicate(p.tense, stem("start"), "started", f"job{match['v']}"), c)
    else:
        yield from actions.event(p, c)


def _must(p: Predicate, c: Clause) -> Iterator[Meaning]:
    """ "I can't eat gluten", "I can only meet after five", "I can speak French"."""
    said = cut(p.rest)
    if p.negated and p.verb == stem("stand"):
        yield from liking(said, p, c, -1)
    elif (
        p.negated
        and p.verb
        in (
            stem("eat"),
            stem("drink"),
            stem("have"),
            stem("tolerate"),
            stem("digest"),
            stem("drive"),
            stem("swim"),
            stem("fly"),
            stem("take"),
        )
        and "believe" not in said
    ):
        if (concrete(said) and said.split()[0].lower() not in MOODS) or p.verb in (stem("drive"), stem("swim")):
            yield Meaning(
                f"do {p.verb}",
                thing(said) or p.verb,
                thing(said) or p.verb,
                "constraint",
                -1,
                ends=("",) if p.over else (),
                importance=0.8,
            )
    elif not p.negated and "only" in p.adverbs | set(p.rest.lower().split()) and plans.DATE.search(p.rest):
        yield Meaning(f"can {p.verb}", key(p.rest), p.verb, "constraint", single=True, importance=0.7)
    elif not p.negated and p.verb in (stem("speak"), stem("play")) and concrete(said):
        yield Meaning(f"do {p.verb}", thing(said), thing(said))


def _table() -> dict[str, Handler]:
    table: dict[str, Handler] = {
        stem("have"): belongings.have,
        stem("own"): belongings.have,
        stem("live"): actions.live,
        stem("reside"): actions.live,
    }
    table |= {
        stem("move"): actions.move,
        stem("relocate"): actions.move,
        stem("work"): actions.work,
        stem("join"): actions.join,
        stem("start"): actions.join,
        stem("begin"): actions.join,
    }
    table |= dict.fromkeys(
        map(stem, ("leave", "quit", "sell", "stop", "drop", "abandon", "ditch", "resign", "divorce", "retire")),
        actions.leave,
    )
    table |= dict.fromkeys(
        map(stem, ("switch", "change", "replace", "swap", "trade", "migrate", "exchange", "convert", "upgrade")),
        plans.switch,
    )
    table |= dict.fromkeys(map(stem, ("buy", "adopt", "purchase", "inherit")), belongings.acquire)
    table |= dict.fromkeys(map(stem, ("use", "drive", "run")), plans.use)
    table |= dict.fromkeys(map(stem, ("decide", "choose", "settle", "agree", "pick", "opt")), plans.decide)
    table |= dict.fromkeys(map(stem, ("plan", "intend", "aim", "hope", "want")), plans.plan)
    table |= dict.fromkeys(map(stem, ("cancel", "postpone", "reschedule")), plans.cancel)
    return table


_TABLE = _table()
