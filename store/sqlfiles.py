"""Named SQL: every statement of the program stands in `store/sql/<noun>.sql`.

A statement is a line `-- name: <name>`, at least one comment line that says why it is there, then its text.
"""

import re
from functools import cache
from pathlib import Path

from store.errors import StoreError

SQL_DIR = Path(__file__).parent / "sql"
_NAME = re.compile(r"^-- name: *(\S+) *$", re.MULTILINE)
_VALUES = re.compile(r"(?<=VALUES )\([?, ]+\)")


@cache
def statements(folder: Path = SQL_DIR) -> dict[str, str]:
    """All statements by name.

    Raises:
        StoreError: a name that stands twice, a statement without a reason line, or an empty one.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.sql")):
        for name, text in _split(path):
            if name in found:
                raise StoreError(f"{path.name}: statement {name} stands twice")
            found[name] = text
    return found


@cache
def for_rows(text: str, count: int) -> str:
    """The statement `INSERT ... VALUES (?, ...)` for `count` rows at once.

    Raises:
        StoreError: it is not of that form.
    """
    wide, found = _VALUES.subn(lambda one: ", ".join([one[0]] * count), text)
    if found != 1:
        raise StoreError(f"not of the form INSERT ... VALUES (?, ...): {text}")
    return wide


def _split(path: Path) -> list[tuple[str, str]]:
    parts = _NAME.split(path.read_text(encoding="utf-8"))
    result = []
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = body.strip().splitlines()
        if not lines or not lines[0].startswith("-- "):
            raise StoreError(f"{path.name}: statement {name} has no reason line")
        text = "\n".join(line for line in lines if not line.startswith("--")).strip().rstrip(";")
        if not text:
            raise StoreError(f"{path.name}: statement {name} is empty")
        result.append((name, text))
    return result
