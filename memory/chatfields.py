"""The fields of a message in the exports of others: who spoke, what, when."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from memory.times import parse_time
from memory.toolcalls import call_text
from sidestream.fieldtypes import Role

_SHAREGPT_ROLES: dict[str, Role] = {
    "human": "user", "user": "user", "gpt": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant",
    "assistant": "assistant", "model": "assistant", "system": "system", "tool": "tool", "function": "tool",
    "function_call": "assistant", "observation": "tool",
}  # fmt: skip
_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "developer": "system",
    "function": "tool",
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
}
_TIME_FIELDS = ("timestamp", "ts", "time", "created_at", "create_time", "date")


def first_text(record: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The first of the named fields that holds a text or a number."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return None


def role_of(data: Mapping[str, Any]) -> Role:
    """The role of a message with `role`, or with ShareGPT's `from`. Raises ValueError for any other."""
    if "role" in data:
        role = _ROLES.get(str(data["role"]).lower())
        given = data["role"]
    else:
        role, given = _SHAREGPT_ROLES.get(str(data.get("from")).lower()), data.get("from")
    if role is None:
        raise ValueError(f"role: {given!r} is not user, assistant, system or tool")
    return role


def content_of(role: str, data: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """What was said, and the metadata to keep. A message that only calls tools says so; else ValueError if empty."""
    meta: dict[str, Any] = {}
    for name in ("name", "tool_calls", "tool_call_id", "refusal"):
        if data.get(name):
            meta[name] = data[name]
    old = data.get("function_call")
    if isinstance(old, Mapping) and "tool_calls" not in meta:
        # What came before tool calls: one call without an id, whose result names none either.
        meta["tool_calls"] = [{"id": "function_call", "type": "function", "function": dict(old)}]
    extra = data.get("meta", data.get("metadata"))
    if isinstance(extra, Mapping):
        meta = {**extra, **meta}
    raw = data["content"] if "content" in data else data.get("value", data.get("text"))
    content = text_of(raw, missing_ok=role == "assistant" and bool(call_text(meta)))
    return content or call_text(meta), meta


def text_of(raw: Any, *, missing_ok: bool = False) -> str:
    """A content as one text, of many parts or one. Raises ValueError if it is empty, unless that is allowed."""
    if isinstance(raw, list):
        raw = "\n".join(_part(p) for p in raw)
    if isinstance(raw, str) and raw.strip():
        return raw
    if missing_ok and (raw is None or isinstance(raw, str)):
        return ""
    raise ValueError(
        "content is empty" if raw is None or isinstance(raw, str) else f"content: a {type(raw).__name__} is not text"
    )


def _part(part: Any) -> str:
    """A part of a multi-part content; what is not text is named, not kept."""
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    return f"[{part.get('type', 'part')}]" if isinstance(part, Mapping) else ""


def time_of(data: Mapping[str, Any], default: float | None) -> float | None:
    """Unix seconds of the first time field there is. Raises ValueError for one that is not understood."""
    for name in _TIME_FIELDS:
        if data.get(name) not in (None, ""):
            value = data[name]
            if not isinstance(value, str | int | float):
                raise ValueError(f"{name}: not a time: {value!r}")
            return parse_time(value)
    return default


def reason(error: Exception) -> str:
    """An error in one line, without the data that caused it."""
    if isinstance(error, ValidationError):
        return "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'event'}: {e['msg']}"
            for e in error.errors(include_url=False, include_input=False)
        )
    return str(error)
