"""Writes docs/asyncapi.yaml, and the field tables of docs/events.md, from the event models.

.venv/bin/python scripts/asyncapi.py
"""

import re
from pathlib import Path
from typing import Any

import yaml

from scripts.event_schemas import field_rows, schema
from sidestream import __version__
from sidestream.events import MODELS
from sidestream.keys import GROUP, Keys

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "events.md"
DOCUMENT = ROOT / "docs" / "asyncapi.yaml"
BEGIN = "<!-- fields of {}: written by scripts/asyncapi.py -->"
END = "<!-- end of fields -->"
COMMON = "every event"


def document() -> dict[str, Any]:
    """The AsyncAPI 3.0 document."""
    names = {kind: _name(kind) for kind in MODELS}
    messages = {name: {"$ref": f"#/components/messages/{name}"} for name in names.values()}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Sidestream events",
            "version": __version__,
            "description": "What a backend publishes and Sidestream's workers turn into memory. See events.md.",
        },
        "servers": {"redis": {"host": "localhost:6379", "protocol": "redis"}},
        "channels": {
            "events": {
                "address": Keys().events,
                "title": "The event stream",
                "description": (
                    f"A Redis stream, read by consumer group `{GROUP}` alone, which deletes what it has stored. "
                    "The prefix `sidestream:` is a setting. An entry's fields are flat strings."
                ),
                "messages": messages,
            }
        },
        "operations": {
            "consumeEvents": {
                "action": "receive",
                "channel": {"$ref": "#/channels/events"},
                "summary": "Stores events and makes memory of them.",
                "messages": [{"$ref": f"#/channels/events/messages/{name}"} for name in names.values()],
            }
        },
        "components": {
            "messages": {name: _message(kind, name) for kind, name in names.items()},
            "schemas": {name: schema(kind) for kind, name in names.items()},
        },
    }


def text() -> str:
    """The document as YAML."""
    head = "# Written by scripts/asyncapi.py from sidestream/events.py.\n"
    return head + yaml.safe_dump(document(), sort_keys=False, allow_unicode=True, width=100)


def with_tables(page: str) -> str:
    """The page with its field tables replaced by the present ones."""
    for kind in (None, *MODELS):
        begin = BEGIN.format(kind or COMMON)
        written = f"{begin}\n{_table(kind)}\n{END}"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(END), re.DOTALL)
        page = pattern.sub(written.replace("\\", r"\\"), page)
    return page


def _table(kind: str | None) -> str:
    rows = field_rows(kind)
    if not rows:
        return "No fields of its own."
    lines = ["| field | needed | form | meaning |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {need} | {form} | {meaning} |" for name, need, form, meaning in rows]
    return "\n".join(lines)


def _message(kind: str, name: str) -> dict[str, Any]:
    made = schema(kind)
    return {
        "name": kind,
        "title": kind,
        "summary": made["description"].splitlines()[0],
        "payload": {"$ref": f"#/components/schemas/{name}"},
        "examples": [{"payload": made["examples"][0]}],
    }


def _name(kind: str) -> str:
    return "".join(part.capitalize() for part in kind.split("."))


if __name__ == "__main__":
    DOCUMENT.write_text(text(), encoding="utf-8")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"written: {DOCUMENT.relative_to(ROOT)}, {PAGE.relative_to(ROOT)}")
