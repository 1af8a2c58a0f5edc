"""Schemas of the flat form in which events stand in the stream, made from the models, and an example of each."""

from typing import Any

from sidestream.event_base import Event
from sidestream.events import MODELS

EXAMPLES: dict[str, dict[str, str]] = {
    "message": {"session_id": "s1", "role": "user", "content": "hi"},
    "session.started": {"session_id": "s1", "user_id": "ann", "shared": "true"},
    "session.ended": {"session_id": "s1"},
    "session.reset": {"session_id": "s1"},
    "session.flushed": {"session_id": "s1"},
    "subagent.started": {
        "session_id": "s1",
        "run_id": "r1",
        "agent_id": "researcher",
        "content": "Find the cheapest train to Bern.",
    },
    "subagent.message": {
        "session_id": "s1",
        "run_id": "r1",
        "role": "tool",
        "content": "3 connections found",
        "meta": '{"tool_call_id":"c1"}',
    },
    "subagent.finished": {
        "session_id": "s1",
        "run_id": "r1",
        "status": "completed",
        "content": "The 7:32, for 29 francs.",
    },
    "memory.remember": {
        "session_id": "s1",
        "user_id": "ann",
        "key": "diet",
        "memory_type": "preference",
        "content": "Ann eats no meat.",
        "tags": '["food"]',
    },
    "memory.forget": {"session_id": "s1", "user_id": "ann", "key": "diet"},
    "memory.adjust": {"session_id": "s1", "memory_id": "m1", "pinned": "true", "reason": "She asked for it."},
    "memory.used": {"session_id": "s1", "memory_ids": '["m1","m2"]'},
}

_KEPT = (
    "Kept in `meta` under its name: `tool_calls` is a JSON array there, `human` a flag, `trace` a JSON object, "
    "anything else the text."
)

# The ways in which a flag may be written, shortest list that every reader knows.
_FLAGS = ["true", "false", "1", "0"]


def schema(kind: str) -> dict[str, Any]:
    """JSON Schema (draft 7) of one type's flat fields: every value is a string."""
    model = MODELS[kind]
    properties = model.model_json_schema()["properties"]
    flat: dict[str, Any] = {"type": {"type": "string", "const": kind}}
    flat |= {name: _flat(name, _present(prop)) for name, prop in properties.items() if name != "type"}
    required = ["type", *(name for name, field in model.model_fields.items() if field.is_required())]
    result: dict[str, Any] = {
        "type": "object",
        "description": (model.__doc__ or "").strip(),
        "required": required,
        "properties": flat,
        "additionalProperties": {"type": "string", "description": _KEPT},
        "examples": [{"type": kind, **EXAMPLES[kind]}],
    }
    if kind == "memory.forget":
        result["oneOf"] = [{"required": ["memory_id"]}, {"required": ["key"]}]
    if kind == "memory.adjust":
        result["anyOf"] = [{"required": [name]} for name in ("pinned", "weight", "free_weight", "verdict")]
    return result


def field_rows(kind: str | None) -> list[tuple[str, str, str, str]]:
    """Name, need, form and meaning of each field: of one type's own, or (None) of the fields of every type."""
    shared = set(Event.model_fields)
    model = Event if kind is None else MODELS[kind]
    properties = model.model_json_schema()["properties"]
    rows = []
    for name, field in model.model_fields.items():
        own = name not in shared or field.description != Event.model_fields[name].description
        if name == "type" or (kind is not None and not own):
            continue
        prop = _present(properties[name])
        need = "yes" if field.is_required() else _default(prop)
        rows.append((name, need, _form(name, prop), field.description or ""))
    return rows


def _present(prop: dict[str, Any]) -> dict[str, Any]:
    """The schema of a value that is there: None is never written."""
    options = [option for option in prop.get("anyOf", []) if option.get("type") != "null"]
    return (
        {**options[0], **{k: v for k, v in prop.items() if k not in ("anyOf", "default", "title")}} if options else prop
    )


def _flat(name: str, prop: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {"type": "string"}
    if name == "v":
        flat["const"] = "1"
    elif prop["type"] == "boolean":
        flat["enum"] = _FLAGS
    elif prop["type"] == "number":
        flat["pattern"] = r"^\d*\.?\d+([eE][+-]?\d+)?$"
    elif prop["type"] in ("object", "array"):
        flat["contentMediaType"] = "application/json"
    else:
        flat |= {k: prop[k] for k in ("minLength", "maxLength", "enum", "format") if k in prop}
    flat["description"] = f"{prop['description']} Form: {_form(name, prop)}."
    return flat


def _form(name: str, prop: dict[str, Any]) -> str:
    if name == "content":
        return "text of 1 byte to 1 MiB"
    if name == "reason":
        return "text of at most 1,000 characters"
    if name == "meta":
        return "JSON object, at most 256 KiB and 64 levels"
    if name == "v":
        return "`1`"
    if "enum" in prop:
        return ", ".join(f"`{value}`" for value in prop["enum"])
    if prop.get("format") == "date-time":
        return "RFC 3339, with offset"
    forms = {"boolean": "`true` or `false`", "number": "number", "array": "JSON array of at most 1,000 names"}
    return forms.get(prop["type"], "name")


def _default(prop: dict[str, Any]) -> str:
    default = prop.get("default")
    if default in (None, [], {}) or default is False:
        return "no"
    return f"no (`{default}`)"
