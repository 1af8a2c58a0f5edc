"""Reads an assembled context back: what was recalled, as the frames of `memory.frames` hold it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_FRAME = re.compile(r"<(recalled|summaries) ([0-9a-f]{12})>\n(.*?)\n</\1 \2>", re.DOTALL)
_RECORD = re.compile(r"- \[(\d{4}-\d{2}-\d{2})\] (.*?): (.*)")
_TURN = re.compile(r"turn (\d+(?:-\d+)?): (.*)")


@dataclass(frozen=True, slots=True)
class RecalledItem:
    """One line of a frame.

    Attributes:
        text: what was remembered, on one line.
        speaker: role or name of who said it, or the kind of memory; `summary` for one of this session.
        day: when, as YYYY-MM-DD; None for a summary of this session.
        turn: the turn or turns that a summary is about, such as `3` or `3-5`; None for a recalled memory.
    """

    text: str
    speaker: str
    day: str | None = None
    turn: str | None = None


def recalled_items(messages: Sequence[Mapping[str, Any]]) -> list[RecalledItem]:
    """The recalled memories in a context's messages, in their order: best first.

    Lines of another form are left out. Only system messages are read: a frame in what somebody said is none.
    """
    return [
        RecalledItem(match[3], match[2], day=match[1])
        for line in _lines(messages, "recalled")
        if (match := _RECORD.fullmatch(line))
    ]


def summary_items(messages: Sequence[Mapping[str, Any]]) -> list[RecalledItem]:
    """The session's summaries in a context's messages, oldest first."""
    return [
        RecalledItem(match[2], "summary", turn=match[1])
        for line in _lines(messages, "summaries")
        if (match := _TURN.fullmatch(line))
    ]


def _lines(messages: Sequence[Mapping[str, Any]], kind: str) -> Iterator[str]:
    for message in messages:
        content = message.get("content")
        if message.get("role") != "system" or not isinstance(content, str):
            continue
        for frame in _FRAME.finditer(content):
            if frame[1] == kind:
                yield from frame[3].split("\n")
