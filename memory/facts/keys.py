"""What a phrase is about, as terms that can be compared: the currency of the gate."""

import re

from memory.commonwords import INTENSIFIERS
from memory.facts.english_words import NUMBERS
from memory.stopwords import ENGLISH
from memory.terms import terms

_DIGITS_ZH = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2}
_HAN = re.compile("[\u3400-\u9fff]")
_HAN_NUMBER = re.compile(
    r"[一二两三四五六七八九十]{1,3}(?=[只个条台辆套部本位口次杯间栋岁年月号日点楼层公块元万百千匹双把张家斤米天周星])(?!个?(?:人|些|样|般|起|直|定|切))"
)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+")
_TOKEN = re.compile(r"[\w.+-]+@[\w.-]+|\d+(?:[.:：]\d+)*|[A-Za-z][A-Za-z0-9'+#.-]*|[\u3400-\u9fff]+")
_EMPTY_ZH = re.compile(
    "的|了|吗|呢|吧|啊|呀|哦|着|过|现在|目前|已经|非常|特别|真的|有点|比较|一直|一般|通常|平时|最近|这种|那种|一种|一些|这个|那个|左右|大概"
)
_MEASURE = re.compile(r"(?<=\d)\s*[只个条台辆套部本位口匹双张家名]")
_OWN = frozenset(("my", "our", "name", "call", "now", "new", "anymor", "anymore", "first", "current", "actual", "old"))
_DROPPED = (ENGLISH - {"no", "not", "over", "off", "most", "other", "same"}) | INTENSIFIERS | _OWN
_DROPPED_TERMS = frozenset(t for word in _DROPPED for t in terms(word)) | _OWN


def key_terms(text: str) -> tuple[str, ...]:
    """The terms of `text` that tell it from others, in order and each once; number words as digits."""
    if _HAN.search(text):
        plain = _MEASURE.sub(" ", _EMPTY_ZH.sub("", _HAN_NUMBER.sub(_digits, text)))
        found = [
            part
            for t in _TOKEN.findall(plain)
            for part in (terms(t) if t[0].isascii() and t[0].isalpha() and "@" not in t else [t])
        ]
        return tuple(dict.fromkeys(found))
    addresses = tuple(m[0].lower().rstrip(".,") for m in _ADDRESS.finditer(text))
    text = _ADDRESS.sub(" ", text)
    found = [NUMBERS.get(t, t) for t in terms(text.replace(":", "").replace("$", " $ "))]
    return tuple(dict.fromkeys((*addresses, *(t for t in found if t not in _DROPPED_TERMS))))


def key(text: str) -> str:
    """`key_terms` as one string, sorted, so that word order does not matter."""
    return " ".join(sorted(key_terms(text)))


def numbers(value: str) -> frozenset[str]:
    """Terms of a key with a digit in them."""
    return frozenset(t for t in value.split() if any(c.isdigit() for c in t))


def words(value: str) -> frozenset[str]:
    """Terms of a key without a digit."""
    return frozenset(t for t in value.split() if not any(c.isdigit() for c in t))


def within(part: str, whole: str) -> bool:
    """Every term of `part` stands in `whole`, a Chinese one also within another; nothing is within anything."""
    there = set(whole.split())
    return bool(part) and all(
        term in there or (_HAN.match(term) is not None and any(term in other for other in there))
        for term in part.split()
    )


def alike(first: str, second: str) -> float:
    """Shared terms over all terms, 0 to 1."""
    a, b = _grams(first), _grams(second)
    return len(a & b) / len(a | b) if a and b else 0.0


def _grams(value: str) -> set[str]:
    found: set[str] = set()
    for term in value.split():
        pairs = [term[i : i + 2] for i in range(len(term) - 1)] if _HAN.match(term) else [term]
        found.update(pairs or [term])
    return found


def _digits(match: re.Match[str]) -> str:
    """Chinese numerals up to 99 as digits."""
    said = match[0]
    tens, found, rest = said.partition("十")
    if not found:
        return "".join(str(_DIGITS_ZH[c]) for c in said)
    return str(10 * _DIGITS_ZH.get(tens, 1) + _DIGITS_ZH.get(rest, 0))
