"""How tool calls stand in a message's metadata: OpenAI's own form, under `tool_calls` and `tool_call_id`."""

from collections.abc import Mapping, Sequence
from typing import Any


def tool_calls(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The well-formed calls of an assistant message: dicts with an `id` and a `function` of name and arguments."""
    calls = metadata.get("tool_calls")
    if not isinstance(calls, Sequence) or isinstance(calls, str | bytes):
        return []
    return [dict(call) for call in calls if isinstance(call, Mapping) and _well_formed(call)]


def call_ids(metadata: Mapping[str, Any]) -> list[str]:
    """Ids of the calls that an assistant message makes."""
    return [call["id"] for call in tool_calls(metadata)]


def answered_call(metadata: Mapping[str, Any]) -> str | None:
    """Id of the call that a tool message answers."""
    value = metadata.get("tool_call_id")
    return value if isinstance(value, str) and value else None


def call_text(metadata: Mapping[str, Any]) -> str:
    """Words for an assistant message that only calls tools, since stored content is never empty."""
    parts = [f"{c['function']['name']}({c['function'].get('arguments') or ''})" for c in tool_calls(metadata)]
    return "[calls " + ", ".join(parts) + "]" if parts else ""


def _well_formed(call: Mapping[str, Any]) -> bool:
    function = call.get("function")
    named = isinstance(function, Mapping) and isinstance(function.get("name"), str)
    return named and isinstance(call.get("id"), str) and bool(call["id"])
