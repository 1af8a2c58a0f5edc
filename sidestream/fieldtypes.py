"""Types of the event fields: what each may hold, checked once when the event is made.

Every check raises ValueError with words that follow a field's name, as in "content: must not be empty".
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

MAX_CONTENT_BYTES = 1024 * 1024
MAX_META_BYTES = 256 * 1024
MAX_META_DEPTH = 64
MAX_ID_LENGTH = 256
MAX_LIST_ITEMS = 1_000
MAX_REASON_CHARS = 1_000

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
MsgType: TypeAlias = Literal["normal", "fact", "todo", "decision", "preference", "error"]
RunStatus: TypeAlias = Literal["completed", "failed", "timed_out", "cancelled"]
Verdict: TypeAlias = Literal["release", "refuse"]

# RFC 3339, which is narrower than what datetime.fromisoformat and pydantic take.
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
# Canonical JSON is at most this many times longer than what was written (1e15 becomes 1000000000000000.0).
_GROWTH = 8


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise ValueError(f"{text[:32]} is out of range")
    return value


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode
_decode = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite).decode


class ReadMeta(dict[str, Any]):
    """A `meta` that `read_meta` has read and checked, so that it is not checked again."""


def read_meta(text: str) -> "ReadMeta":
    """The JSON object in `text`. Raises ValueError."""
    try:
        value = _decode(text)
    except RecursionError as error:
        raise ValueError(f"is nested deeper than {MAX_META_DEPTH} levels") from error
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")
    if "\\u" in text or len(text) * _GROWTH > MAX_META_BYTES or _may_be_deep(text):
        _canonical(value)
    return ReadMeta(value)


def to_json(value: object) -> str:
    """Canonical JSON: sorted keys, no spaces, no needless escapes. Raises ValueError, TypeError."""
    return _encode(value)


def _may_be_deep(text: str) -> bool:
    return text.count("{") + text.count("[") > MAX_META_DEPTH


def _check_depth(value: dict[str, Any] | list[Any]) -> None:
    level: list[dict[str, Any] | list[Any]] = [value]
    depth = 0
    while level:
        if depth == MAX_META_DEPTH:
            raise ValueError(f"is nested deeper than {MAX_META_DEPTH} levels")
        depth += 1
        inner = (item.values() if isinstance(item, dict) else item for item in level)
        level = [child for children in inner for child in children if isinstance(child, dict | list)]


def _canonical(value: Mapping[str, Any]) -> str:
    try:
        text = to_json(value)
        size = len(text.encode())
    except RecursionError as error:
        raise ValueError(f"is nested deeper than {MAX_META_DEPTH} levels") from error
    except UnicodeEncodeError as error:
        raise ValueError("holds a lone surrogate, which is not Unicode text") from error
    except TypeError as error:
        raise ValueError(f"is not JSON: {error}") from error
    if size > MAX_META_BYTES:
        raise ValueError(f"is {size} bytes of JSON; at most {MAX_META_BYTES} are allowed")
    if _may_be_deep(text):
        _check_depth(json.loads(text))
    return text


def _meta(value: object) -> object:
    if isinstance(value, ReadMeta):
        return value
    if not isinstance(value, Mapping):
        raise ValueError("must be a JSON object")
    # A copy by way of JSON: it equals what a reader gets, and the caller may change its own dict.
    return json.loads(_canonical(value)) if value else {}


def _identifier(value: str) -> str:
    if value.isprintable() and value[0] != " " and value[-1] != " ":
        return value
    if any(ord(c) < 32 or ord(c) == 127 for c in value):
        raise ValueError("control characters are not allowed")
    if value != value.strip():
        raise ValueError("leading or trailing space is not allowed")
    return value


def _content(value: str) -> str:
    size = len(value) if value.isascii() else len(value.encode())
    if size > MAX_CONTENT_BYTES:
        raise ValueError(f"is {size} bytes; at most {MAX_CONTENT_BYTES} are allowed")
    return value


def _timestamp(value: object) -> datetime:
    if isinstance(value, str) and _RFC3339.fullmatch(value):
        value = _read_time(value)
    if not isinstance(value, datetime):
        given = "a number" if isinstance(value, int | float) else repr(value)[:60]
        raise ValueError(f"must be an RFC 3339 time, as in 2026-01-31T09:00:00Z, and not {given}")
    if value.tzinfo is None:
        raise ValueError("must carry an offset, as in 2026-01-31T09:00:00Z")
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("lies outside the years 1 to 9999") from error


def _read_time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError as error:
        raise ValueError(f"{text[:40]} is no time: {error}") from error


def _version(value: object) -> object:
    if value in (1, "1"):
        return 1
    raise ValueError(f"version {str(value)[:20]!r} is not known here; this reader knows version 1")


Identifier = Annotated[str, Field(min_length=1, max_length=MAX_ID_LENGTH), AfterValidator(_identifier)]
Content = Annotated[str, Field(min_length=1), AfterValidator(_content)]
Timestamp = Annotated[datetime, BeforeValidator(_timestamp)]
Meta = Annotated[dict[str, Any], BeforeValidator(_meta)]
Version = Annotated[Literal[1], BeforeValidator(_version)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Identifiers = Annotated[list[Identifier], Field(max_length=MAX_LIST_ITEMS)]
Reason = Annotated[str, Field(min_length=1, max_length=MAX_REASON_CHARS)]
