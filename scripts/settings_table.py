"""Writes the table of settings in docs/configuration.md from the fields of `config.settings.Settings`.

.venv/bin/python scripts/settings_table.py
"""

import re
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from config.settings import Settings

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
BEGIN = "<!-- settings: written by scripts/settings_table.py -->"
END = "<!-- end of settings -->"
_BOUNDS = (("ge", "≥ "), ("gt", "> "), ("le", "≤ "), ("lt", "< "))


def table() -> str:
    """The table as Markdown, one row a setting, in the order of the class, then what it inherits."""
    rows = ["| variable | kind | default | meaning |", "|---|---|---|---|"]
    # Pydantic lists what is inherited first; a reader wants it behind the rest.
    inherited = [name for name in Settings.model_fields if name not in Settings.__annotations__]
    for name in [*Settings.__annotations__, *inherited]:
        if name not in Settings.model_fields:
            continue
        field = Settings.model_fields[name]
        cells = (f"`SIDESTREAM_{name.upper()}`", _kind(field), _default(field), field.description or "")
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def with_table(page: str) -> str:
    """The page with its table replaced by the present one."""
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    return pattern.sub(lambda _: f"{BEGIN}\n{table()}\n{END}", page)


def _kind(field: FieldInfo) -> str:
    bounds = [
        f"{sign}{value}"
        for item in field.metadata
        for attribute, sign in _BOUNDS
        if (value := getattr(item, attribute, None)) is not None
    ]
    return ", ".join([_type(field.annotation), *bounds])


def _type(annotation: Any) -> str:
    parts = [a for a in get_args(annotation) if a is not type(None)]
    if get_origin(annotation) is Literal:
        return " / ".join(f"`{part}`" for part in parts)
    if get_origin(annotation) in (Union, types.UnionType):
        return " or ".join(_type(part) for part in parts)
    if get_origin(annotation) is list:
        return "JSON list of text"
    if get_origin(annotation) is tuple:
        return "JSON list of rules"
    names = {
        str: "text",
        float: "number",
        int: "whole number",
        bool: "true / false",
        Path: "path",
        SecretStr: "secret",
    }
    return names[annotation]


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value in (None, [], ()):
        return "–"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) and value < 1e6 else f"`{value}`"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{PAGE}: {len(Settings.model_fields)} settings")
