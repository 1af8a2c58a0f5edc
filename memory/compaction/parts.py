"""A checkpoint's summary: ten parts, how it is bounded, and how it reads in a prompt."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from memory.salience import term_weights
from memory.terms import terms
from memory.tokens import estimate

Part: TypeAlias = Literal[
    "requests",
    "decisions",
    "objects",
    "schema_changes",
    "data_operations",
    "errors",
    "open_tasks",
    "preferences",
    "tool_calls",
    "other",
]
TITLES: Final[dict[Part, str]] = {
    "requests": "Requests and intents",
    "decisions": "Decisions and conclusions",
    "objects": "Objects created or changed",
    "schema_changes": "Schema changes",
    "data_operations": "Data operations",
    "errors": "Errors and their solutions",
    "open_tasks": "Open tasks",
    "preferences": "User preferences",
    "tool_calls": "Tool calls",
    "other": "Other important context",
}
MAX_ITEM: Final = 600
"""Most characters of one item."""
_MAX_ITEMS = 200

# How much of the room a part may claim against the others when there is too little.
_WEIGHT: Final[dict[Part, int]] = {
    "requests": 2,
    "decisions": 4,
    "objects": 2,
    "schema_changes": 3,
    "data_operations": 1,
    "errors": 2,
    "open_tasks": 4,
    "preferences": 4,
    "tool_calls": 1,
    "other": 3,
}
# What happened is forgotten from its oldest; what holds until it is changed, from what tells least.
_BY_AGE: Final[frozenset[Part]] = frozenset(("requests", "data_operations", "errors", "tool_calls"))
_NEW = 0.1
"""Share of an older item's words that a newer one may lack and still say the same; numbers may not differ."""

Item = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_ITEM)]
Items = Annotated[tuple[Item, ...], Field(max_length=_MAX_ITEMS)]


class Parts(BaseModel):
    """The ten parts, each a list of short items, oldest first; one that has nothing is empty, none may be missing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests: Items
    decisions: Items
    objects: Items
    schema_changes: Items
    data_operations: Items
    errors: Items
    open_tasks: Items
    preferences: Items
    tool_calls: Items
    other: Items

    @field_validator("*")
    @classmethod
    def _one_line_each(cls, items: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(" ".join(item.split()) for item in items)

    def items(self) -> Iterator[tuple[Part, tuple[str, ...]]]:
        """Each part with its items."""
        for part in TITLES:
            yield part, getattr(self, part)

    def __bool__(self) -> bool:
        return any(items for _, items in self.items())


@dataclass(frozen=True, slots=True)
class ActiveCheckpoint:
    """A session's checkpoint as a reader sees it: it stands for all messages up to `boundary_seq`."""

    id: int
    boundary_seq: int
    parts: Parts


def no_parts() -> dict[Part, list[str]]:
    """Ten empty lists, to be filled."""
    return {part: [] for part in TITLES}


def as_parts(found: dict[Part, list[str]]) -> Parts:
    """The lists as a summary; of each the newest items, as many as it may have."""
    return Parts.model_validate({part: tuple(items[-_MAX_ITEMS:]) for part, items in found.items()})


def as_text(parts: Parts) -> str:
    """The summary as text: a title and a list for each part that has anything."""
    return "\n".join(
        "\n".join([f"{TITLES[part]}:", *(f"- {item}" for item in items)]) for part, items in parts.items() if items
    )


def merge(old: Parts, new: Parts) -> Parts:
    """Both, the newer after the older; what the newer one says again is left out of the older."""
    merged = no_parts()
    for part, items in old.items():
        fresh = getattr(new, part)
        known = [frozenset(terms(item)) for item in fresh]
        merged[part] = [item for item in items if not _said(frozenset(terms(item)), known)] + list(fresh)
    return as_parts(merged)


def fit(parts: Parts, tokens: int) -> Parts:
    """What of the summary fits into `tokens` (estimated): parts give way by their weight, and each lets its oldest or
    its least telling item go first."""
    kept = {part: list(items) for part, items in parts.items()}
    sizes = {part: sum(map(_size, items)) for part, items in kept.items()}

    def total() -> int:
        return sum(size + _size(TITLES[part]) for part, size in sizes.items() if kept[part])

    while total() > tokens:
        part = max((p for p in TITLES if kept[p]), key=lambda p: sizes[p] / _WEIGHT[p])
        item = kept[part].pop(_least(part, kept[part]))
        sizes[part] -= _size(item)
    return as_parts(kept)


def _least(part: Part, items: list[str]) -> int:
    """Index of the item that goes first; never the newest while there is another."""
    if part in _BY_AGE or len(items) < 3:
        return 0
    return min(range(len(items) - 1), key=lambda i: (_telling(items[i]), i))


@lru_cache(maxsize=4_096)
def _telling(item: str) -> float:
    return sum(term_weights(item, ()).values()) / (estimate(item) + 4)


def _size(line: str) -> int:
    """Tokens of one line of the text: its words, the mark before it and the line's end."""
    return estimate(line) + 2


def _said(words: frozenset[str], known: list[frozenset[str]]) -> bool:
    """The words stand, nearly all of them, in one of the known items."""
    for other in known:
        missing = words - other
        if words and len(missing) <= _NEW * len(words) and not any(map(_numbered, missing)):
            return True
    return False


def _numbered(term: str) -> bool:
    return any(c.isdigit() for c in term)
