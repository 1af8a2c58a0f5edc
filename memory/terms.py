"""Text to full-text terms: stemmed Latin words, character pairs for scripts written without spaces.

Every term consists of letters and digits that SQLite's `unicode61` tokenizer keeps as one token, unchanged, so
that what is indexed is exactly what is made here. Stop words are dropped from queries only.
"""

import re
import threading
from functools import lru_cache
from operator import add
from unicodedata import category, normalize, ucd_3_2_0

import snowballstemmer

from memory.stopwords import CHINESE, CHINESE_SINGLE, ENGLISH

MAX_TERM = 64
"""Longest word kept, in characters; what follows is cut off (keys, encoded data)."""

# Letters to lower case, all else but digits and apostrophes to spaces.
_ASCII = "".join(chr(c).lower() if chr(c).isalnum() or c == 39 else " " for c in range(128))
# Scripts without spaces between words: Han, kana, Hangul, Thai, Lao, Myanmar, Khmer.
_PAIRED = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u1049\u1780-\u17d3"
    "\U00020000-\U0003fffd"
)
_MARK = ("Mn", "Mc", "Me")
_WORD = re.compile(r"[\w']+")
_RUN = re.compile(f"([{_PAIRED}]+)|[^{_PAIRED}]+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_WORDS = re.compile(r"[^\W\d_]+")
# Common Han, kana and Hangul, all older than the tokenizer's Unicode tables; anything else is looked up.
_KNOWN = re.compile("[\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fa5\uac00-\ud7a3]*")

# Accents, vowel points and signs, which the tokenizer would take for the end of a word; not the voicing of kana.
_MARKS = re.compile(
    "["
    + "".join(
        re.escape(chr(c)) for c in range(0x300, 0xFFFF) if category(chr(c)) in _MARK and c not in (0x3099, 0x309A)
    )
    + "]"
)

_stemmer = snowballstemmer.stemmer("english")
_stemmer_lock = threading.Lock()


def _stem(word: str) -> str:
    """The term of one lower-case ASCII word, which may hold apostrophes; words with digits stay as they are."""
    word = word[:MAX_TERM].strip("'")
    if not word.isalpha():
        head, _, tail = word.partition("'")
        if tail == "s":
            return _stem(head)
        word = word.replace("'", "")
        if not word.isalpha():
            return word
    with _stemmer_lock:  # the stemmer keeps its state in itself
        return str(_stemmer.stemWord(word))


class _Stems(dict[str, str]):
    """Stems by word, made when they are first asked for; a look-up costs a tenth of a cached function's call."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_STEMS:
            self.clear()
        stem = self[word] = _stem(word)
        return stem


_MOST_STEMS = 65_536
_STEMS = _Stems()


def terms(text: str) -> list[str]:
    """Terms of `text` in order, repeats included: the index side."""
    if text.isascii():
        found = list(map(_STEMS.__getitem__, text.translate(_ASCII).split()))
        return found if "'" not in text else list(filter(None, found))
    found = []
    for word in _WORD.findall(_folded(text)):
        if word.isascii():
            found.append(_STEMS[word])
        else:
            found.extend(_mixed(word))
    return list(filter(None, found))


def query_terms(text: str) -> list[str]:
    """Terms to search for: without repeats and stop words; if only stop words are there, all of them."""
    every = dict.fromkeys(terms(text))
    kept = [t for t in every if not _is_stop(t)]
    return kept or list(every)


def searchable(name: str | None, content: str) -> str:
    """What full-text search and embedding see of a message: "name: content", or the content alone."""
    return f"{name}: {content}" if name else content


def language(text: str) -> str:
    """ "zh", "ja", "ko" or "en" (any script written with spaces), by the letters that prevail."""
    han, kana, hangul = len(_HAN.findall(text)), len(_KANA.findall(text)), len(_HANGUL.findall(text))
    # One Han character says about as much as three Latin letters; so a Chinese text with English names is Chinese.
    if 3 * (han + kana + hangul) <= sum(map(len, _WORDS.findall(_HAN.sub(" ", text)))) - kana - hangul:
        return "en"
    if hangul > han + kana:
        return "ko"
    return "ja" if kana * 10 > han + kana else "zh"


def _folded(text: str) -> str:
    """Lower case, compatibility forms resolved, accents dropped; Hangul and voiced kana stay whole."""
    spread = normalize("NFKD", text.replace("’", "'")).casefold()
    return normalize("NFC", _MARKS.sub("", spread)).replace("_", " ")


def _mixed(word: str) -> list[str]:
    """Terms of a run of letters of any script."""
    if _KNOWN.fullmatch(word):
        return _pairs(word)
    found = []
    for match in _RUN.finditer(word):
        if match[1] is None:
            found.append(_plain(match[0]))
        else:
            found.extend(_pairs(match[1]))
    return found


@lru_cache(maxsize=65_536)
def _plain(word: str) -> str:
    if word.isascii():
        return _STEMS[word]
    return "".join(map(_letter, word.replace("'", "")))[:MAX_TERM]


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [_letter(run)]
    if _KNOWN.fullmatch(run):
        return list(map(add, run, run[1:]))
    letters = [letter for letter in map(_letter, run) if letter]
    return list(map(add, letters, letters[1:])) if len(letters) > 1 else letters


@lru_cache(maxsize=4_096)
def _letter(char: str) -> str:
    """A character as the tokenizer keeps it: itself if old enough to be in its tables, else its number."""
    if char.isascii():
        return char
    if ucd_3_2_0.category(char)[0] in "LN":
        return char
    return f"x{ord(char):x}" if char.isalnum() else ""


def _is_stop(term: str) -> bool:
    return term in _STOP


_STOP = frozenset(_stem(w) for w in ENGLISH) | ENGLISH | CHINESE | CHINESE_SINGLE
