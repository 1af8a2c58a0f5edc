"""English sentences to clauses with a subject: whose it is, what is said, and whether it may be believed at all."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory.facts.english_verbs import expanded, stem
from memory.facts.english_words import IRREGULAR, LASTING_PAST, PAST, RELATIONS, UNIQUE_RELATIONS

USER = "user"

_DOUBT = re.compile(
    r"\b(?:maybe|perhaps|possibly|might|could|not sure|unsure|i guess|i suppose|probably|who knows|i doubt|supposedly|allegedly|apparently"
    r"|wish|if only|barely|hardly|scarcely|as if|as though|would(?! rather| prefer)|hypothetical(?:ly)?|in theory|another life|dream(?:t|ed)? (?:that|about|i)|in (?:my|a) dream"
    r"|kidding|joking|just a joke|unless|whether|wonder(?:ing)?|tempted|considering|thinking (?:of|about)|thought about|almost|nearly|what if|if)\b",
    re.I,
)
_MAY = re.compile(
    r"\b(?:may|May) (?!\d)(?:be|have|not|go|move|try|buy|get|end|also|just|do|take|make|start|become|want|need)\b"
)
_UNREAL = re.compile(
    r"^\W*(?:if|suppose|supposing|imagine|assuming|assume|say|let's say|what if|pretend|were i|had i|in case|should i|unless|in (?:the|my|this) (?:novel|dream|story|game|book|movie|film))\b",
    re.I,
)
_REPORTED = re.compile(
    r"\b(?:he|she|they|someone|people|everyone|everybody|somebody|[A-Z][a-z]+|(?:my|our|his|her|their|the|a)\s+(?:(?!and\b|so\b|to\b)[\w'-]+\s+){1,3}?)\s*"
    r"(?:(?:always|once|just|also|often|keeps?|kept|will|would|has|had)\s+)*"
    r"(?:said|says|saying|told|tells|asked|asks|wrote|writes|replied|texted|texts|shouted|claims?|claimed|thinks|thought|believes|believed|swears|insists?|insisted|admitted|mentioned|joked|posted|tweeted|reckons|announced|complained|argued|quotes?|quoted)\b"
)
_ACCORDING = re.compile(
    r"\b(?:according to|quote|you (?:saying|telling me|said|told me|mentioned|mentioning)[^.!?:\n]{0,20}:|the (?:song|book|movie|film|poster|sign|ad|article|lyrics?) (?:says|goes|reads)|reads?:)",
    re.I,
)
_ASKED = re.compile(
    r"^\W*(?:(?:so|and|but|ok|okay|well|hey|please|now|then)[,\s]+)*(?:(?:what|who|whom|whose|when|where|why|which|how)(?:'s|\s+(?:is|are|was|were|do|does|did|can|could|will|would|should|about|many|much|long|old|have|has))|(?:is|are|am|was|were|do|does|did|can|could|will|would|should|shall|have|has|may|might)\s+(?:i|you|we|they|he|she|it|my|your|our|this|that|there|the))\b",
    re.I,
)
SARCASM = re.compile(
    r"\boh,? (?:great|joy|wonderful|fantastic|perfect|lovely|good|brilliant|yay|goody)\b|\b(?:just|simply) (?:great|wonderful|perfect|what i needed|fantastic|brilliant|lovely)\b|\byeah,? (?:right|sure)\b|\blucky me\b|\bwhat (?:a )?(?:joy|treat|delight|thrill|fun|pleasure)\b"
    r"|\bthanks a lot\b|\bhow (?:wonderful|lovely|delightful|thrilling|fun)\b|(?:^|\s)/s\b|🙄|\bbecause who doesn't\b|\bsaid no one\b|\bnothing (?:beats|better than|like)\b|\bmy (?:absolute )?favou?rite (?:thing|part|way|pastime|hobby|activity)\b|\bsure, because\b|\bas if\b|\bso much fun\b.{0,20}\bnot\b|\b\.\.\. ?not\b|\bliving the dream\b|\bclearly\b.{0,30}\bdream\b|\bsarcas",
    re.I,
)
_QUOTE = re.compile(r"[\"“][^\"”\n]{0,400}[\"”]|(?<=[\s:,(])['‘][^'’\n]{2,400}['’](?=[\s.,!?)]|$)")
_SENTENCE = re.compile(
    r"(?:[^.!?\n]|\.(?=[^\s\"”')])|(?<=\b(?:Mr|Ms|Dr|St|vs))\.|(?<=\b(?:Mrs))\.|(?<=\b[A-Z])\.(?= [A-Z]\b)|(?<= [ap])\.|(?<=[ap]\.m)\.(?= [a-z]))+[.!?\n]*"
)
_SUBJECT = r"(?:i|i'm|i've|i'll|i'd|i’m|i’ve|i’ll|we|we're|we've|we'll|we’re|we’ve|my|our|he|she|he's|she's|he’s|she’s)"
_SPLIT = re.compile(
    rf"\s*[;—–]\s*|\s+-{{1,2}}\s+|,?\s+(?:but|yet|so|and|then|plus|though|although|while|whereas)\s+(?=(?:now|then|recently|also|later|instead|so|that)?\s*{_SUBJECT}\b(?!\s+(?:and|both)\b))"
    rf"|,\s+(?=(?:the|{_SUBJECT})\b)|,?\s+but (?=(?:now|not|no longer|lately|these days|recently|actually|the|it's|it is|it)\b)|\s*\.\.\.+\s*|:\s+(?={_SUBJECT}\b)",
    re.I,
)
_AND_I = re.compile(r"\b((?:[Mm]y|[Oo]ur) [\w' -]{2,30}?|[A-Z]\w+) and I ")
_JOINED = re.compile(
    r",?\s+and\s+(?=(?:(?:also|then|now|just|recently)\s+)?(?:work|live|love|hate|like|enjoy|prefer|play|run|have|own|drive|speak|study|teach|bought|adopted|moved|started|got|went|am|don't|can't|do not|no longer)\b)",
    re.I,
)
_LEAD = re.compile(
    r"^\W*(?:(?:well|oh|hey|hi|hello|yeah|yes|yep|yup|no|nope|nah|so|and|but|also|anyway|by the way|btw|actually|honestly|haha|lol|wow|ok|okay|hmm+|um+|uh|ah|sorry|correction|wait|no wait|oops|fyi|for your information"
    r"|just so you know|to be honest|tbh|you know(?: what)?|speaking of which|as i (?:said|mentioned)|like i said|in fact|of course|sure|right|cool|great|nice|good news|bad news|big news|guess what|(?:quick |small |big )?update|note|reminder|thanks|thank you|absolutely|definitely|exactly|totally"
    r"|(?:please )?(?:remember|note|know|keep in mind|be aware|don't forget|save|make a note)(?: that|:)?|for the record|for future reference|i think(?: that)?|i(?:'d| would) say(?: that)?|i just wanted to (?:say|mention|tell you)(?: that)?|i wanted to (?:let you know|tell you|say|mention)(?: that)?|i (?:should|must|have to|forgot to) (?:mention|say|admit|add|tell you)(?: that)?|i(?:'m| am) (?:happy|glad|proud|sad|sorry|afraid|pleased|excited|thrilled) to (?:say|announce|report|share)(?: that)?|did i mention(?: that)?|i mean|i meant|it turns out(?: that)?|turns out(?: that)?|the thing is|the truth is|fun fact|fact|personally|first of all|besides|plus|however|though|unfortunately|fortunately|luckily|sadly|thankfully|finally|again|especially|because|cause|cuz|since we last (?:talked|spoke|chatted|met)|scratch that|my mistake|my bad|i (?:was|am) (?:wrong|mistaken)(?: about (?:that|it|this))?|i misspoke|i (?:got|had) (?:it|that|this) wrong|i made a (?:mistake|typo)|i mixed (?:it|that|them|things) up|let me correct that|to clarify|to be clear|in my case|for me|about me|as for me|as you know|since you asked|now that you ask)\b[,:!.—–-]*\s*)+",
    re.I,
)
_WHEN = re.compile(
    rf"^(?:since|when|after|before|while|as|ever since|until|whenever)\b[^.!?]{{0,80}}?,\s+(?={_SUBJECT}\b)|^(?:last|the other day|the other night|this|next|on|in|at|since|during|after|before|every|for|over|when|ever since|a|an|one|two|three|four|five|six|few|several|some|once|back|these|nowadays|now|currently|recently|lately|today|yesterday|tomorrow|tonight|usually|normally|as of|until|by|starting|earlier|later|occasionally|sometimes|right now|so far|most|with|thanks to|from|right)\b[^.!?]{{0,60}}?,?\s+(?={_SUBJECT}\b)",
    re.I,
)
_MINE = re.compile(
    r"^(?:my|our)\s+(?P<kind>(?:[\w'-]+\s+){0,3}?)(?P<who>"
    + "|".join(sorted(RELATIONS, key=len, reverse=True))
    + r")\b(?:,?\s+(?P<name>[A-Z][\w'-]+),?)?(?:['’]s?\s+(?P<noun>(?:[\w-]+\s+){1,3}?)(?=(?:is|are|was|has|will)\b)|\s+)(?P<pred>.+)$",
    re.IGNORECASE,
)
_TOGETHER = re.compile(r"^(?:(?:my|our)\s+[\w' -]{2,30}?|[A-Z]\w+)\s+and\s+i\s+(?P<pred>.+)$", re.IGNORECASE)
_NOUN = re.compile(
    r"^(?P<own>my|our|the)\s+(?P<noun>(?:(?!and\b|that\b|who\b|which\b)[\w-]+(?:['’]s)?\s+){0,4}?[\w-]+)\s+(?P<pred>(?:is|are|was|will be|has been|have been|has|got|moved|changed|takes place|starts|begins|ends|runs|uses|costs|expires|needs|should be)\b.*)$",
    re.I,
)
_THEY = re.compile(r"^(?P<who>he|she)\s+(?P<pred>.+)$", re.I)
_NAMED = re.compile(rf"^[A-Z][a-z]+[,!] +(?=(?:{_SUBJECT}|since|last|this|yesterday|on|in|just|next)\b)")
_GOING = re.compile(r"^(?:going to|planning to|hoping to|looking forward to|planning on|heading to) (?!be\b)", re.I)
_CIRCUMSTANCE = re.compile(
    r"^(?:last|next|this|in|on|at|after|before|since|during|when|whenever|while|every|each|recently|lately|yesterday|today|tomorrow|earlier|over|for|as|one day|once|back in|two|three|a few|these days|nowadays|ever since|until)\b(?:(?!\b(?:love|hate|live|work|moved|bought)\b)[\w' ’-]){0,60}$",
    re.I,
)
_FIRST = re.compile(r"^(?:i|we)\s+(?P<pred>.+)$", re.I)
_BARE = re.compile(r"^(?:(?:just|recently|finally|also|already|been|even|actually)\s+)*(?P<word>[A-Za-z]+)\b", re.I)
_MALE = frozenset(
    ("father", "dad", "daddy", "husband", "boyfriend", "brother", "son", "uncle", "nephew", "grandpa", "grandfather")
)
_FEMALE = frozenset(
    (
        "mother",
        "mom",
        "mum",
        "mommy",
        "wife",
        "girlfriend",
        "sister",
        "daughter",
        "aunt",
        "niece",
        "grandma",
        "grandmother",
        "landlady",
    )
)

CUE = re.compile(
    r"\b(?:now|nowadays|these days|any ?more|no longer|instead|switch(?:ed|ing)?|chang(?:ed|e)|replaced|since|new|recently|lately|became|become|upgraded|got promoted|promoted|moved|postponed|rescheduled|pushed back|brought forward|updated?|just|current(?:ly)?|after all)\b",
    re.I,
)
CORRECTION = re.compile(
    r"\b(?:actually|sorry|correction|i meant|i mean|no,? wait|wait|scratch that|misspoke|my mistake|my bad|mistaken(?:ly)?|i was wrong|was wrong|make (?:that|it)|turns out|after all|oops|not quite right|let me correct|to correct|typo|mixed up|in fact|got (?:it|that) wrong|rather)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """What one subject is said to be or do. `noun`: a thing of the subject's, if the predicate is about one.

    Attributes:
        text: the clause as it was said.
        subject: `user` or a relation of theirs, such as `user/sister anna`.
        unique: nobody has two of that relation.
        predicate: what follows the subject, contractions written out.
        cue: words say that something has changed; `correction`: that something was wrong.
        sarcastic: words around it say that the opposite is meant.
    """

    text: str
    predicate: str
    subject: str = USER
    noun: str = ""
    unique: bool = True
    cue: bool = False
    correction: bool = False
    sarcastic: bool = False


def sentences(text: str) -> list[str]:
    """Sentences with quotations kept whole."""
    quotes: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quotes.append(match[0])
        return f"\x00{len(quotes) - 1}\x00"

    hidden = _QUOTE.sub(hide, text)
    return [
        re.sub(r"\x00(\d+)\x00", lambda m: quotes[int(m[1])], s[0].strip())
        for s in _SENTENCE.finditer(hidden)
        if s[0].strip()
    ]


_ASIDE = re.compile(
    r",\s*(?:by the way|btw|fyi|you know|to be honest|tbh|to be fair|believe it or not|in case you wondered)(?=\s*(?:[.!?,;\n]|$))",
    re.IGNORECASE,
)


def clauses(text: str) -> Iterator[Clause]:
    """The clauses that state something in their speaker's own name; questions, doubts and reports are left out."""
    sarcastic = bool(SARCASM.search(text))
    last: Clause | None = None
    for sentence in sentences(_ASIDE.sub("", text)):
        if sentence.endswith("?") or _ASKED.match(sentence) or _UNREAL.match(sentence):
            continue
        bare = _QUOTE.sub("_", sentence)
        if _REPORTED.search(bare) or _ACCORDING.search(bare):
            continue
        correction, cue = bool(CORRECTION.search(bare)), bool(CUE.search(bare))
        for number, piece in enumerate(_pieces(sentence)):
            clause = _clause(piece, last, first=number == 0)
            if clause is None or _doubtful(clause.text):
                continue
            last = clause if clause.subject != USER else last
            yield replace(clause, cue=cue, correction=correction, sarcastic=sarcastic)


def _doubtful(text: str) -> bool:
    bare = _QUOTE.sub("_", text)
    return bool(_DOUBT.search(bare) or _MAY.search(bare))


def _pieces(sentence: str) -> list[str]:
    quotes: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quotes.append(match[0])
        return f"\x01{len(quotes) - 1}\x01"

    whole = _AND_I.sub("\\1 \x02 ", _QUOTE.sub(hide, sentence.strip(" .!\n\t")))
    pieces: list[str] = []
    for piece in _SPLIT.split(whole):
        parts = _JOINED.split(piece)
        first = re.match(r"^\W*(?:i|we)\b", _LEAD.sub("", parts[0]), re.I)
        pieces += [parts[0], *(f"I {part}" for part in parts[1:])] if len(parts) > 1 and first else [piece]
    pieces = _timed(pieces)
    shown = (re.sub("\x01(\\d+)\x01", lambda m: quotes[int(m[1])], p.replace("\x02", "and I")) for p in pieces)
    return [text for piece in shown if (text := piece.strip(" ,.!"))]


def _timed(pieces: list[str]) -> list[str]:
    """A time or circumstance before its clause stays with it: "Last week, I ..."."""
    joined: list[str] = []
    for piece in pieces:
        if joined and _CIRCUMSTANCE.match(_LEAD.sub("", joined[-1])):
            joined[-1] = f"{joined[-1]}, {piece}"
        else:
            joined.append(piece)
    return joined


def _clause(piece: str, last: Clause | None, *, first: bool) -> Clause | None:
    text = _LEAD.sub("", piece).strip(" ,")
    text = _NAMED.sub("", text)
    plain = expanded(_WHEN.sub("", text))
    if match := _GOING.match(plain):
        plain = f"I am {plain}"
    if match := _FIRST.match(plain):
        return Clause(text, match["pred"])
    if match := _TOGETHER.match(plain):
        return Clause(text, match["pred"])
    if (match := _MINE.match(plain)) and "fav" not in match["kind"].lower():
        name = match["name"] if match["name"] and match["name"][0].isupper() else ""
        pred = match["pred"] if name or not match["name"] else f"{match['name']} {match['pred']}"
        kind = " ".join(f"{match['kind']}{match['who']} {name}".lower().split())
        unique = match["who"].lower() in UNIQUE_RELATIONS or bool(name)
        return Clause(text, pred, f"{USER}/{kind}", (match["noun"] or "").strip(), unique)
    if match := _NOUN.match(plain):
        return Clause(
            text, match["pred"], noun=match["noun"] if match["own"].lower() != "the" else f"the {match['noun']}"
        )
    if (match := _THEY.match(plain)) and last is not None and _agrees(match["who"].lower(), last.subject):
        said = last.subject.removeprefix(f"{USER}/")
        return Clause(f"my {said}: {text}", match["pred"], last.subject, "", last.unique)
    if first and (match := _BARE.match(plain)) and _begins(match["word"]):
        return Clause(text, plain)
    return Clause(text, "", noun="") if first or CORRECTION.search(piece) or text[:1].isupper() else None


def _begins(word: str) -> bool:
    lower = word.lower()
    base = IRREGULAR.get(lower, lower)
    return lower not in (
        "read",
        "set",
        "put",
        "let",
        "hit",
        "cut",
        "agreed",
        "decided",
        "loved",
        "enjoyed",
        "liked",
        "found",
        "seen",
        "felt",
        "born",
        "made",
        "kept",
        "said",
        "missed",
        "wished",
    ) and ((lower in PAST and base in LASTING_PAST) or (lower.endswith("ed") and stem(lower) in _LASTING_STEMS))


_LASTING_STEMS = frozenset(stem(w) for w in LASTING_PAST)


def _agrees(pronoun: str, subject: str) -> bool:
    kin = set(subject.partition("/")[2].split())
    return not kin & (_FEMALE if pronoun == "he" else _MALE)
