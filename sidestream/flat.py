"""An event's flat form: values as strings, and the digest that tells a repeat from another event."""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime

from sidestream.fieldtypes import to_json


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC, as in 2026-01-31T09:00:00Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def flat_text(value: object) -> str:
    """One field's value as the string that stands in the stream."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, dict | list):
        return to_json(value)
    return str(value)


def digest_of(fields: Mapping[str, str]) -> str:
    """The digest of the event that has these flat fields, as `Event.to_fields` writes them.

    It is taken over one line `name:length:value` a field, in the order of their names; lengths in characters.
    """
    parts = []
    for name in sorted(fields):
        text = fields[name]
        if name == "meta" and '"trace"' in text:
            text = _without_trace(text)
        if text and name != "id" and name != "ts":
            parts.append(f"{name}:{len(text)}:{text}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _without_trace(meta: str) -> str:
    kept = {name: value for name, value in json.loads(meta).items() if name != "trace"}
    return to_json(kept) if kept else ""
