"""Facts as the layers hand them to each other: a draft before the gate, a fact as it is stored. Times are unix seconds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Status: TypeAlias = Literal["candidate", "active", "superseded", "archived", "deleted"]
SourceType: TypeAlias = Literal["explicit_tool", "auto_consolidation", "context_compression", "manual", "import"]
SaidBy: TypeAlias = Literal["user", "person", "assistant", "tool", "import", "operator"]

TYPES = ("preference", "fact", "decision", "project", "constraint", "open_loop")
"""Types that every installation has; others come by configuration."""

TRUST: Mapping[str, float] = {
    "operator": 1.0,
    "user": 1.0,
    "person": 0.9,
    "import": 0.8,
    "tool": 0.6,
    "assistant": 0.5,
}
"""How much is believed, by who said it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact before the gate has seen it.

    Attributes:
        subject: whose it is: `user`, a speaker's name, or a relation of theirs, such as `user/sister`.
        attribute: what of the subject is said; empty where nobody could tell.
        topic: the thing it is about, as sorted terms; facts of other attributes about it may end with it.
        value: the value as terms; of the same attribute two values may contradict each other.
        polarity: 1 for what is so, -1 for what is not.
        single: the attribute has one value at a time, so that another one replaces it.
        ends: values (as terms) of the same subject that are over by what was said, such as Berlin in "I moved
            from Berlin to Oslo"; an empty string ends whatever has the attribute and topic.
        hold: why it must not become active by itself; None where it may.
        replaces: memory ids that it replaces, as a model said.
    """

    content: str
    memory_type: str = "fact"
    subject: str = "user"
    attribute: str = ""
    topic: str = ""
    value: str = ""
    polarity: int = 1
    single: bool = False
    ends: tuple[str, ...] = ()
    key: str | None = None
    confidence: float = 0.7
    importance: float = 0.5
    tags: tuple[str, ...] = ()
    cognitive_kind: str = "semantic"
    source_ids: tuple[int, ...] = ()
    source_text: str = ""
    said_by: SaidBy = "user"
    said_at: float = 0.0
    valid_from: float | None = None
    expires_at: float | None = None
    replaces: tuple[str, ...] = ()
    hold: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """What all facts of one window, or one explicit event, have in common."""

    scope_id: int
    source_type: SourceType
    extractor: str = ""
    session_pk: int | None = None
    owner_agent: str | None = None
    data_source: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One row of long-term memory. `session_id` is None where its session is gone."""

    id: int
    memory_id: str
    scope_id: int
    key: str | None
    content: str
    memory_type: str
    cognitive_kind: str
    status: Status
    tags: tuple[str, ...]
    importance: float
    confidence: float
    weight: float
    source_type: SourceType
    source_session: int | None
    session_id: str | None
    source_ids: tuple[int, ...]
    valid_from: float
    valid_to: float | None
    superseded_by: str | None
    expires_at: float | None
    access_count: int
    last_accessed: float | None
    visibility: str
    owner_agent: str | None
    data_source: str | None
    version: int
    created_at: float
    updated_at: float
    subject: str
    attribute: str
    topic: str
    value: str
    polarity: int
    said_by: SaidBy
    trust: float
    extractor: str
    source_text: str
    status_reason: str | None
    conflicts_with: tuple[str, ...]

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Fact":
        """A fact from a row's columns; columns of other concerns are left out."""
        values = {name: row[name] for name in cls.__dataclass_fields__}
        for name in ("tags", "source_ids", "conflicts_with"):
            values[name] = tuple(json.loads(values[name]))
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a fact's history. `before` is what it was, as far as it changed; None at its beginning."""

    memory_id: str
    version: int
    change: str
    before: Mapping[str, Any] | None
    actor: str
    reason: str
    at: float


@dataclass(frozen=True, slots=True)
class FactText:
    """What the workers need of a fact to embed it."""

    id: int
    scope_id: int
    session_pk: int | None
    content: str
