"""What the HTTP API says of facts: one as it stands, its history, why it lives and when it ends. Times are RFC 3339."""

from datetime import datetime
from typing import Any, Literal, TypeAlias

from pydantic import Field, model_validator

from sidestream.api_models import Request, Result
from sidestream.fieldtypes import Identifier, Reason, Share, Verdict

FactStatus: TypeAlias = Literal["candidate", "active", "superseded", "archived", "deleted"]


class Fact(Result):
    """One long-term memory. `weight` is that of now: it fades between uses unless it is held or pinned."""

    memory_id: str
    content: str
    type: str
    status: FactStatus
    status_reason: str | None = Field(default=None, description="Why it is held back, archived or deleted.")
    key: str | None = None
    tags: list[str] = Field(default_factory=list)
    importance: float = Field(ge=0, le=1)
    confidence: float = Field(ge=0, le=1)
    weight: float = Field(ge=0, le=1)
    pinned: bool = False
    weight_held: bool = Field(default=False, description="A person set the weight.")
    core: bool = Field(default=False, description="Heavy enough to be given to every answer.")
    source_type: str
    session_id: str | None = Field(default=None, description="The session that it comes from.")
    said_by: str = Field(default="", description="user, person, assistant, tool, import or operator.")
    trust: float = Field(default=1.0, ge=0, le=1, description="How much that is believed.")
    extractor: str = Field(default="", description="Which rules or model read it, and their version.")
    valid_from: datetime
    valid_to: datetime | None = None
    superseded_by: str | None = None
    expires_at: datetime | None = None
    access_count: int = Field(default=0, ge=0, description="Answers that used it.")
    last_accessed: datetime | None = None
    data_source: str | None = Field(default=None, description="The one source it holds for; absent: all.")
    owner_agent: str | None = None
    version: int = 1
    created_at: datetime
    updated_at: datetime


class FactList(Result):
    """`GET /v1/memories`: one user's facts, the heaviest first; `total` counts all that match."""

    facts: list[Fact]
    total: int = Field(ge=0)


class FactChange(Result):
    """One change of a fact: what it was `before`, who changed it and why."""

    version: int
    change: str
    before: dict[str, Any] | None = None
    actor: str
    reason: str
    at: datetime


class FactHistory(Result):
    """`GET /v1/memories/{id}/history`: every change, the oldest first."""

    memory_id: str
    changes: list[FactChange]


class SourceMessage(Result):
    """A message that a fact stands on."""

    id: int
    event_id: str
    session_id: str
    role: str
    turn: int
    occurred_at: datetime
    content: str


class FactUse(Result):
    """How often answers were given the fact, and how often they used it."""

    given: int = Field(ge=0)
    used: int = Field(ge=0)
    last_used: datetime | None = None


class FactEnd(Result):
    """When a fact will be forgotten: the earliest of what ends it, under the present settings. All absent: never."""

    at: datetime | None = None
    why: str = ""
    expires_at: datetime | None = None
    fades_at: datetime | None = Field(default=None, description="When its weight falls too low, if it is never used.")


class FactExplanation(Result):
    """`GET /v1/memories/{id}/explain`: where a fact comes from, why it is alive, when it will be forgotten."""

    fact: Fact
    origin: str = Field(description="How it came to be, in words.")
    source_text: str = Field(default="", description="The sentence that it stands on.")
    messages: list[SourceMessage] = Field(default_factory=list)
    missing_messages: int = Field(default=0, ge=0, description="Messages that it stood on and that are gone.")
    why: str = Field(description="Why it is as it is, in words.")
    use: FactUse
    supersedes: list[Fact] = Field(default_factory=list)
    superseded_by: Fact | None = None
    conflicts_with: list[Fact] = Field(default_factory=list)
    ends: FactEnd
    changes: list[FactChange] = Field(default_factory=list)


class FactPatch(Request):
    """`PATCH /v1/memories/{id}`: a person's say. At least one of the first four; `weight` and `free_weight`
    exclude each other."""

    pinned: bool | None = None
    weight: Share | None = None
    free_weight: bool = False
    verdict: Verdict | None = None
    actor: Identifier | None = None
    reason: Reason | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "FactPatch":
        if self.weight is not None and self.free_weight:
            raise ValueError("weight and free_weight exclude each other")
        if self.pinned is None and self.weight is None and not self.free_weight and self.verdict is None:
            raise ValueError("one of pinned, weight, free_weight and verdict is needed")
        return self


class Accepted(Result):
    """202: the change is durable as an event, and is made when the workers come to it; wait for `event_id`."""

    event_id: str


class TimelineEntry(Result):
    """What happened in one session, day, week or month."""

    level: Literal["session", "day", "week", "month"]
    period: str
    content: str
    session_id: str | None = None
    starts_at: datetime
    ends_at: datetime


class TimelineResult(Result):
    """`GET /v1/timeline`: newest first."""

    entries: list[TimelineEntry]
