"""Sentences and clauses of an utterance, and their size in a summary's own measure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory.tokens import CJK

_SENTENCE = re.compile(r"[^.!?。！？…\n]*(?:[.!?](?=[^\s\"'”’)\]])[^.!?。！？…\n]*)*[.!?。！？…\n]*[\"'”’)\]]*\s*")
_BULLET = re.compile(
    r"^[ \t]*(?:[-*+•#>]+|\d{1,3}[.)、]|\(\d{1,3}\))[ \t]+|(?<!\w)\*\*(?=\w)|(?<=\w)\*\*(?!\w)", re.MULTILINE
)
_CLAUSE = re.compile(r"[,;，；、]\s+|[，；]|\s+[-–—]+\s+|——|\s*\((?=\w)|\)\s*")
_EDGES = " \t\r\n,;:，；：、。.!！…-–—~～·*#>|"
_QUESTION = ("?", "？")
_CJK_CHAR = re.compile(f"[{CJK}]")
_LEAST_CLAUSE = 3


@dataclass(frozen=True, slots=True)
class Clause:
    """A piece of one message: `message` and `sentence` count from 0."""

    text: str
    message: int
    sentence: int
    role: str
    question: bool

    def with_text(self, text: str) -> "Clause":
        """The same clause with other words."""
        return replace(self, text=text)


def clauses(content: str, message: int, role: str) -> Iterator[Clause]:
    """The clauses of one message in order; pieces without any letter or digit are left out."""
    number = 0
    for match in _SENTENCE.finditer(_BULLET.sub("", content)):
        sentence = match[0].strip()
        if not sentence:
            continue
        question = sentence.rstrip("\"'”’)] ").endswith(_QUESTION)
        for piece in _pieces(sentence):
            if any(c.isalnum() for c in piece):
                yield Clause(piece, message, number, role, question)
        number += 1


def sentences(content: str) -> list[str]:
    """The sentences of a text in order, list marks left out; pieces without any letter or digit are none."""
    found = (match[0].strip() for match in _SENTENCE.finditer(_BULLET.sub("", content)))
    return [text for text in found if any(c.isalnum() for c in text)]


def size_of(text: str, language: str) -> int:
    """Words of a text in a language with spaces, else characters without white space.

    Words are what stands between spaces, but each Chinese, Japanese or Korean character counts as one.
    """
    if language != "en":
        return len("".join(text.split()))
    if text.isascii():
        return len(text.split())
    return len(_CJK_CHAR.sub(" ", text).split()) + len(_CJK_CHAR.findall(text))


def squeeze(text: str, limit: int, language: str) -> str:
    """The beginning of `text` within `limit`, cut between words where there are any."""
    if size_of(text, language) <= limit:
        return text
    if limit <= 0:
        return ""
    units = text.split() if language == "en" else list(text)
    low, high = 0, len(units)
    joint = " " if language == "en" else ""
    while low < high:
        middle = (low + high + 1) // 2
        if size_of(joint.join(units[:middle]), language) <= limit:
            low = middle
        else:
            high = middle - 1
    if low == 0 and language == "en":
        return squeeze(text, limit, "zh")
    return joint.join(units[:low])


def tidy(text: str) -> str:
    """A clause on one line, without the marks at its edges."""
    return " ".join(text.split()).strip(_EDGES)


def _pieces(sentence: str) -> list[str]:
    """The clauses of a sentence; very short ones stay with their neighbour."""
    pieces: list[str] = []
    start = 0
    for match in _CLAUSE.finditer(sentence):
        piece = sentence[start : match.start()]
        if len(piece.split()) >= _LEAST_CLAUSE or len(_CJK_CHAR.findall(piece)) >= _LEAST_CLAUSE:
            pieces.append(piece)
            start = match.end()
    pieces.append(sentence[start:])
    return pieces
