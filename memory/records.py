"""JSON records of a file, each with the line it begins on: JSON Lines, or one JSON document over many lines."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any


@dataclass(frozen=True, slots=True)
class BadLine:
    """Something that could not be read. `line_no` counts from 1."""

    line_no: int
    reason: str


def records(lines: Iterable[str]) -> Iterator[tuple[int, Any]]:
    """(line number, value or BadLine) of each record; JSON Lines are read as they come, a document as a whole.

    A document that is a list of objects gives each of them; a list of messages is one record.
    """
    numbered = ((n, line.removeprefix("\ufeff") if n == 1 else line) for n, line in enumerate(lines, 1))
    numbered = ((n, line) for n, line in numbered if line.strip())
    first = next(numbered, None)
    if first is None:
        return
    if _value(first[1]) is not _BAD:
        yield from _json_lines(chain([first], numbered))
        return
    rest = [first, *numbered]
    if first[1].lstrip()[0] in "[{":
        found = _document(rest)
        if found is not None:
            yield from found
            return
    yield from _json_lines(rest)


_BAD = object()


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _BAD


def _json_lines(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Any]]:
    for number, line in numbered:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, BadLine(number, f"not JSON: {error}")
            continue
        yield from _unfolded(number, value)


def _unfolded(number: int, value: Any) -> Iterator[tuple[int, Any]]:
    """A list of chats is many records; a list of messages is one."""
    if isinstance(value, list) and any(isinstance(v, dict) and not _is_message(v) for v in value):
        yield from ((number, v) for v in value)
    else:
        yield number, value


def _is_message(value: dict[str, Any]) -> bool:
    return ("role" in value or "from" in value) and not {"messages", "conversations", "turns"} & value.keys()


def _document(rest: list[tuple[int, str]]) -> list[tuple[int, Any]] | None:
    """The records of one document, or None if the lines are no document."""
    text = "\n".join(line.rstrip("\r\n") for _, line in rest)
    value = _value(text)
    if value is _BAD:
        return None
    starts = _element_lines(text, rest) if isinstance(value, list) else [rest[0][0]]
    if isinstance(value, list) and any(isinstance(v, dict) and not _is_message(v) for v in value):
        return list(zip(starts, value, strict=True))
    return [(rest[0][0], value)]


def _element_lines(text: str, rest: list[tuple[int, str]]) -> list[int]:
    """Line on which each element of a list begins."""
    decoder = json.JSONDecoder()
    at = text.index("[") + 1
    row = 0
    counted = 0
    starts: list[int] = []
    while True:
        while text[at] in " \t\r\n,":
            at += 1
        if text[at] == "]":
            return starts
        row += text.count("\n", counted, at)
        counted = at
        starts.append(rest[row][0])
        _, at = decoder.raw_decode(text, at)
