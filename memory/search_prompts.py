"""What a model is asked to improve a search with, and the strict reading of its answers."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from memory.answers import BadAnswer, parse_answer
from memory.frames import framed
from memory.terms import language

MOST_QUERIES = 4
_NAMES = {"zh": "Chinese", "ja": "Japanese", "ko": "Korean", "en": "English or whichever language it is"}
_SENTENCE = re.compile(r"[^.!?。！？\n]*[.!?。！？\n]+[\"'”’）)]*\s*|[^.!?。！？\n]+$")

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class _Queries(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    queries: list[_Text] = Field(min_length=1, max_length=MOST_QUERIES)


class _Kept(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    keep: list[int]


def query_messages(template: str, question: str) -> list[dict[str, str]]:
    """The chat messages that ask for the queries of a question."""
    system = template.replace("{most}", str(MOST_QUERIES)).replace("{language}", _NAMES[language(question)])
    return [
        {"role": "system", "content": system},
        {"role": "user", "content": framed("question", "", [question]).lstrip()},
    ]


def parse_queries(answer: str) -> list[str]:
    """The queries in a model's answer, each once. Raises BadAnswer."""
    return list(dict.fromkeys(parse_answer(answer, _Queries).queries))


def sentences(text: str) -> list[str]:
    """The sentences of a text; joined they are the text."""
    return _SENTENCE.findall(text)


def sentence_messages(template: str, question: str, numbered: Sequence[str]) -> list[dict[str, str]]:
    """The chat messages that ask which sentences matter; they are numbered from 1."""
    lines = [f"question: {question}", *(f"{n}. {' '.join(text.split())}" for n, text in enumerate(numbered, 1))]
    return [
        {"role": "system", "content": template},
        {"role": "user", "content": framed("sentences", "", lines).lstrip()},
    ]


def parse_kept(answer: str, count: int) -> set[int]:
    """The places, from 0, of the sentences to keep, out of `count`. Raises BadAnswer."""
    kept = parse_answer(answer, _Kept).keep
    if any(not 1 <= number <= count for number in kept):
        raise BadAnswer(f"keep: numbers are from 1 to {count}")
    return {number - 1 for number in kept}
