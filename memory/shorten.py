"""Shortening of a clause by leaving words out, in grades: the next one only where the last was not enough."""

import re

from memory.commonwords import ARTICLES, COPULAS, FILLERS_ZH, INTENSIFIERS, PARTICLES_ZH, SPEAKER

_LEFT_OUT = (
    frozenset[str](),
    INTENSIFIERS,
    INTENSIFIERS | ARTICLES,
    INTENSIFIERS | ARTICLES | COPULAS,
    INTENSIFIERS | ARTICLES | COPULAS | SPEAKER,
)
GRADES = len(_LEFT_OUT)
_PUNCTUATION = ".,!?;:\"'()[]*-–—…“”‘"
_FILLER_ZH = re.compile("|".join(map(re.escape, sorted(FILLERS_ZH, key=len, reverse=True))))
_PARTICLE_ZH = re.compile("[" + "".join(sorted(PARTICLES_ZH)) + "]")


def bare(word: str) -> str:
    """A word in lower case without the marks around it."""
    return word.lower().replace("’", "'").strip(_PUNCTUATION)


def shorten(text: str, grade: int, language: str) -> str:
    """`text` with all left out that its grade (0 to `GRADES` - 1) does without; never all of it."""
    if grade == 0:
        return text
    if language == "zh":
        short = _FILLER_ZH.sub("", text)
        if grade >= GRADES - 1:
            short = _PARTICLE_ZH.sub("", short)
        return short if any(c.isalnum() for c in short) else text
    if language != "en":
        return text
    out = _LEFT_OUT[grade]
    kept = [word for word in text.split() if bare(word) not in out]
    return " ".join(kept) if any(c.isalnum() for word in kept for c in word) else text
