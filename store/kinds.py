"""How a kind of memory and its id become one integer key in the full-text and vector tables, and back."""

from collections.abc import Iterable

from memory.types import Kind

_CODES: dict[Kind, int] = {"message": 0, "summary": 1, "fact": 2, "timeline": 3}
_KINDS: dict[int, Kind] = {code: kind for kind, code in _CODES.items()}


def code(kind: Kind) -> int:
    """The kind's number: 0 a message, 1 a summary, 2 a fact, 3 a timeline entry."""
    return _CODES[kind]


def codes(kinds: Iterable[Kind]) -> list[int]:
    """The kinds' numbers, each once, in order."""
    return sorted({_CODES[kind] for kind in kinds})


def key(kind: Kind, row_id: int) -> int:
    """4 * id + the kind's number."""
    return 4 * row_id + _CODES[kind]


def split(value: int) -> tuple[Kind, int]:
    """The kind and the id of a key."""
    return _KINDS[value % 4], value // 4
