"""What a search may be narrowed to, beyond its scope."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Scalar: TypeAlias = str | int | float | bool
Withdrawn: TypeAlias = Literal["superseded", "archived"]
"""Facts that are out of recall unless they are asked for."""

MAX_VALUES = 100


@dataclass(frozen=True, slots=True)
class Filter:
    """All that is given must hold; empty fields narrow nothing. Times are unix seconds.

    Attributes:
        since, until: happened at or after `since` and before `until`; a fact is judged by when it began to hold.
        types: msg_type of messages, memory_type of facts; summaries and timeline have none and are then left out.
        tags: all of them; only facts have tags.
        min_confidence: of facts and summaries; a message is what was said, and sure.
        data_source: of that source, or of none: what names no source belongs to all.
        metadata: fields of a message's metadata with their values; other kinds have none and are then left out.
        as_of: what was known at that moment: facts that held then, also those superseded since, and what had happened.
        include: facts that have been superseded or archived, too.
    """

    since: float | None = None
    until: float | None = None
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    min_confidence: float = 0.0
    data_source: str | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    as_of: float | None = None
    include: tuple[Withdrawn, ...] = ()

    @property
    def narrows(self) -> bool:
        """Some rows of a scope may be left out."""
        return self != Filter(include=self.include)


EVERYTHING = Filter()
