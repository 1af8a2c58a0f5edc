"""The request for a shorter text of what happened, and the strict reading of its answer."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from memory.answers import BadAnswer, parse_answer
from memory.condense import condense
from memory.frames import framed
from memory.terms import language

_NAMES = {"zh": "Chinese", "ja": "Japanese", "ko": "Korean", "en": "English or whichever language it is"}
_TOO_LONG = 1.5
"""How many times the length asked for an answer may have; what is over the length asked for is then left out by rule."""


class _Text(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def timeline_messages(template: str, lines: Sequence[str], length: int) -> list[dict[str, str]]:
    """The chat messages that ask for `lines` in at most `length` characters."""
    system = template.replace("{length}", str(length)).replace("{language}", _NAMES[language("\n".join(lines))])
    return [{"role": "system", "content": system}, {"role": "user", "content": framed("records", "", lines).lstrip()}]


def parse_timeline(answer: str, length: int) -> str:
    """The text in a model's answer, at most `length` characters long.

    Raises:
        BadAnswer: it is none, or far too long.
    """
    text = "\n".join(
        line for line in (" ".join(part.split()) for part in parse_answer(answer, _Text).text.splitlines()) if line
    )
    if len(text) > _TOO_LONG * length:
        raise BadAnswer(f"text: {len(text)} characters long; at most {length} are allowed")
    return condense(text.splitlines(), length)
