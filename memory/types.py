"""Plain values that the layers hand to each other. Times are unix seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["message", "summary", "fact", "timeline"]
TimelineLevel: TypeAlias = Literal["session", "day", "week", "month"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory is meant. A read without one does not exist; `session_id` and `agent_id` narrow it."""

    user_id: str
    namespace: str = "default"
    session_id: str | None = None
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as a reader sees it; `id` and `seq` are 0 while it stands only in the tail."""

    event_id: str
    session_id: str
    role: str
    content: str
    occurred_at: float
    id: int = 0
    seq: int = 0
    turn: int = 0
    msg_type: str = "normal"
    token_count: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Summary:
    """A short-term memory: a sentence or two about one closed turn."""

    id: int
    session_id: str
    turn_first: int
    turn_last: int
    content: str
    confidence: float
    method: str
    occurred_at: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something a search arm found. `score` is the arm's own: BM25 (higher is better) or cosine similarity."""

    kind: Kind
    id: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled memory with its provenance; `score` is in 0..1, `parts` says what it is made of.

    `why` is filled where an explanation was asked for: the rank in each search arm, and why it was kept.
    """

    kind: Kind
    id: int
    score: float
    content: str
    occurred_at: float
    session_id: str
    role: str | None = None
    turn: int | None = None
    event_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)
    why: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Degraded:
    """Something that works less well for now, and why; shown in answers and in health."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """What happened in one stretch of a session, or in one day, week or month of a user.

    Attributes:
        period: the day, week or month (memory.timeline), or for a session's entry its session and messages.
        content: a line for each thing.
        raw_length: characters of the session entries behind it; of a session's entry its own.
        session_id: of a session's entry; None for the others, or where the session is gone.
        seq_first: with `seq_last` the messages behind a session's entry.
        source_ids: ids of the finer entries that it was made from.
        rolled_into: id of the coarser entry that it is part of.
        method: 'rules' or 'llm:<model>'.
    """

    id: int
    level: TimelineLevel
    period: str
    content: str
    starts_at: float
    ends_at: float
    raw_length: int
    session_id: str | None = None
    seq_first: int | None = None
    seq_last: int | None = None
    source_ids: tuple[int, ...] = ()
    rolled_into: int | None = None
    method: str = "rules"
