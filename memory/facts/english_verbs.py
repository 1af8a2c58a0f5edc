"""An English predicate taken apart: tense, negation, main verb, and what follows it."""

import re
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from memory.facts.english_words import ADVERBS, IRREGULAR, PAST, SAME_FORM
from memory.terms import terms

Tense: TypeAlias = Literal["present", "past", "perfect", "future", "progressive", "modal", "once", "must"]

_BE = frozenset(("am", "is", "are", "was", "were", "be", "been", "being"))
_HAVE = frozenset(("have", "has", "had"))
_DO = frozenset(("do", "does", "did"))
_WILL = frozenset(("will", "shall"))
_NO_VERB = frozenset(
    (
        "as",
        "of",
        "in",
        "to",
        "for",
        "at",
        "on",
        "with",
        "and",
        "or",
        "all",
        "both",
        "who",
        "that",
        "too",
        "the",
        "a",
        "an",
        "my",
        "our",
        "we",
        "i",
    )
)
_EMPHASISED = (
    "love",
    "like",
    "have",
    "enjoy",
    "put",
    "get",
    "take",
    "make",
    "go",
    "see",
    "try",
    "find",
    "feel",
    "want",
    "need",
    "buy",
    "move",
    "start",
    "finish",
    "meet",
    "learn",
)
_MODAL = frozenset(("would", "could", "should", "might", "may", "must"))
_EXPANDED = (
    (re.compile(r"\b(i)['’]m\b", re.I), r"\1 am"),
    (re.compile(r"\b(can)(?:not|['’]t)\b", re.I), r"\1 not"),
    (re.compile(r"\bwon['’]t\b", re.I), "will not"),
    (re.compile(r"\b(is|are|was|were|do|does|did|have|has|had|would|could|should|must|need)n['’]t\b", re.I), r"\1 not"),
    (re.compile(r"\b(i|you|we|they)['’]ve\b", re.I), r"\1 have"),
    (re.compile(r"\b(i|you|we|they|he|she|it)['’]ll\b", re.I), r"\1 will"),
    (re.compile(r"\b(you|we|they)['’]re\b", re.I), r"\1 are"),
    (re.compile(r"\b(i|you|we|they|he|she)['’]d (rather|prefer|like|love|hate)\b", re.I), r"\1 would \2"),
    (
        re.compile(r"\b(i|you|we|they|he|she)['’]d (been|better|had|just|already|never|gone|done|seen|\w+ed)\b", re.I),
        r"\1 had \2",
    ),
    (re.compile(r"\b(i|you|we|they|he|she)['’]d\b", re.I), r"\1 would"),
    (
        re.compile(r"\b(he|she|it|that|there)['’]s (been|got|had|gone|become|moved|started|lived|worked)\b", re.I),
        r"\1 has \2",
    ),
    (re.compile(r"\b(he|she|it|that|there)['’]s\b", re.I), r"\1 is"),
    (re.compile(r"\bgonna\b", re.I), "going to"),
    (re.compile(r"\bgotta\b", re.I), "have to"),
    (re.compile(r"\bwanna\b", re.I), "want to"),
    (re.compile(r"\b(i) (?:dont|don t)\b", re.I), r"\1 do not"),
    (re.compile(r"\b(i)m (?=[a-z])"), r"\1 am "),
)


@dataclass(frozen=True, slots=True)
class Predicate:
    """`verb` is a stem (of terms), `word` as it was said; `rest` what follows. `over`: said to be so no longer."""

    tense: Tense
    verb: str
    word: str
    rest: str
    negated: bool = False
    over: bool = False
    adverbs: frozenset[str] = field(default_factory=frozenset)


def expanded(text: str) -> str:
    """Contractions written out, which makes the verbs plain; the rest stays as it was."""
    for pattern, whole in _EXPANDED:
        text = pattern.sub(whole, text)
    return text


def stem(word: str) -> str:
    """The stem of a verb's base form."""
    lower = word.lower()
    found = terms(IRREGULAR.get(lower, lower))
    return found[0] if found else lower


_OVER = re.compile(r",?\s*\b(?:any ?more|any longer|these days no more)\b", re.I)


def predicate(text: str) -> Predicate | None:
    """The predicate that `text` begins with; None where there is none."""
    over = bool(_OVER.search(text))
    words = _OVER.sub("", text).split()
    return _Parser(words, over).parse() if words else None


class _Parser:
    def __init__(self, words: list[str], over: bool) -> None:
        self._words = words
        self._at = 0
        self._over = over
        self._negated = False
        self._adverbs: set[str] = set()

    def parse(self) -> Predicate | None:
        self._skip()
        first = self._peek()
        if first in _BE:
            return self._be(first)
        if first in _HAVE:
            return self._have(first)
        if first in _DO and self._peek(1) in ("not", "really", "never", "actually", "also", *_EMPHASISED):
            self._at += 1
            self._skip()
            return self._main("past" if first == "did" else "present")
        if first in _WILL:
            self._at += 1
            self._skip()
            return self._main("future")
        if first == "used" and self._peek(1) == "to":
            self._at += 2
            self._over = True
            self._skip()
            return self._main("once")
        if first in _MODAL or first == "can":
            self._at += 1
            self._skip()
            return self._main("must" if first in ("can", "must") else "modal")
        return self._main(None) if first else None

    def _be(self, first: str) -> Predicate | None:
        self._at += 1
        self._skip()
        past = first in ("was", "were")
        word = self._peek()
        if (
            word == "going"
            and self._peek(1) == "to"
            and self._peek(2) not in ("a", "the", "my", "our", "an")
            and not self._peek(2, lower=False)[:1].isupper()
        ):
            self._at += 2
            return self._main("modal" if past else "future")
        if (
            word.endswith("ing")
            and len(word) > 4
            and word not in ("boring", "interesting", "amazing", "exciting", "king", "darling", "evening", "morning")
        ):
            found = self._main("progressive")
            return found if found is None or not past else _with(found, "past")
        return self._made("past" if past else "present", "be", first)

    def _have(self, first: str) -> Predicate | None:
        self._at += 1
        self._skip()
        word = self._peek()
        if word == "to":
            self._at += 1
            return self._main("must")
        if word == "got" and self._peek(1) in ("a", "an", "two", "three", "to", "no", "the", "one", "four", "five"):
            self._at += 1
            return self._main("must") if self._peek() == "to" else self._made("present", "have", first)
        if word == "been" and self._peek(1).endswith("ing"):
            self._at += 1
            return self._main("perfect")
        if word == "been":
            self._at += 1
            self._skip()
            return self._made("perfect", "be", word)
        if first != "had" and word and (word in PAST or word.endswith(("ed", "wn"))) and self._peek(1) is not None:
            return self._main("perfect")
        return self._made("past" if first == "had" else "present", "have", first)

    def _main(self, tense: Tense | None) -> Predicate | None:
        word = self._peek()
        if not word or not word[0].isalpha() or word in _NO_VERB:
            return None
        self._at += 1
        if tense is None:
            tense = (
                "past"
                if (word in PAST and word not in SAME_FORM) or (word.endswith("ed") and word not in ("need", "feed"))
                else "present"
            )
        return self._made(tense, stem(word), word)

    def _made(self, tense: Tense, verb: str, word: str) -> Predicate:
        rest = " ".join(self._words[self._at :])
        return Predicate(tense, verb, word, rest, self._negated or self._over, self._over, frozenset(self._adverbs))

    def _skip(self) -> None:
        while word := self._peek():
            if word == "no" and self._peek(1) == "longer":
                self._over = self._negated = True
                self._at += 2
            elif word in ("not", "never"):
                self._negated = True
                self._at += 1
            elif word in ADVERBS:
                self._adverbs.add(word)
                self._at += 1
            else:
                return

    def _peek(self, ahead: int = 0, *, lower: bool = True) -> str:
        at = self._at + ahead
        word = self._words[at].strip(",") if at < len(self._words) else ""
        return word.lower() if lower else word


def _with(found: Predicate, tense: Tense) -> Predicate:
    return Predicate(tense, found.verb, found.word, found.rest, found.negated, found.over, found.adverbs)
