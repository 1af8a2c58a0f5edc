"""What the HTTP API takes and answers. The server returns these models and the client reads them.

Results keep fields they do not know, so that an older client reads a newer server. Times are RFC 3339.
"""

from datetime import datetime
from typing import Any, Literal, TypeAlias

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

MAX_EVENTS = 1_000
MAX_QUERY_CHARS = 10_000

EventProgress: TypeAlias = Literal["accepted", "stored", "embedded", "summarised", "dead"]
MemoryKind: TypeAlias = Literal["message", "summary", "fact", "timeline"]
SearchStage: TypeAlias = Literal["rewrite", "rerank", "compress"]
ContextPart: TypeAlias = Literal["runtime", "checkpoint", "window", "summaries", "facts", "recalled", "timeline"]


class Request(BaseModel):
    """A body that the API takes; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Result(BaseModel):
    """Something that the API answers."""

    model_config = ConfigDict(extra="allow", frozen=True)


class PublishRequest(Request):
    """`POST /v1/events`: events as docs/events.md defines them, in the order in which they happened."""

    events: list[dict[str, Any]] = Field(min_length=1, max_length=MAX_EVENTS)


class PublishResult(Result):
    """202: every event is durable. `ids` are in the order of the request."""

    ids: list[str]
    spooled: int = Field(default=0, ge=0, description="How many wait in the server's spool, Redis being away.")


class SearchRequest(Request):
    """`POST /v1/memories/search`: a search within one user's memory."""

    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARS)
    user_id: str = Field(default="default", min_length=1)
    namespace: str = Field(default="default", min_length=1)
    session_id: str | None = Field(default=None, min_length=1, description="Narrows the search to one session.")
    limit: int = Field(default=10, ge=1, le=100)
    kinds: list[MemoryKind] | None = Field(default=None, min_length=1, description="Absent: all but the timeline.")
    agent_id: str | None = Field(default=None, min_length=1, description="Narrows the search to one agent.")
    since: AwareDatetime | None = Field(default=None, description="Happened then or later; a fact: holds since then.")
    until: AwareDatetime | None = Field(default=None, description="Happened before; a fact: holds since before.")
    types: list[str] = Field(default_factory=list, max_length=100, description="Messages and facts of these types.")
    tags: list[str] = Field(default_factory=list, max_length=100, description="Facts with all of these tags.")
    min_confidence: float = Field(default=0.0, ge=0, le=1, description="Facts and summaries at least so sure.")
    data_source: str | None = Field(default=None, min_length=1, description="What is of that source, or of none.")
    metadata: dict[str, str | int | float | bool] = Field(
        default_factory=dict, max_length=100, description="Messages whose metadata has these values."
    )
    as_of: AwareDatetime | None = Field(default=None, description="What was known then, changed since or not.")
    include: list[Literal["superseded", "archived"]] = Field(
        default_factory=list, max_length=2, description="Facts that are out of recall, too."
    )
    stages: list[SearchStage] = Field(
        default_factory=list, max_length=3, description="Models to improve the result with; each takes seconds."
    )
    explain: bool = Field(default=False, description="Say why each hit was found, and what was dropped.")
    wait_for: str | None = Field(default=None, min_length=1, description="An event id to wait for, until it is stored.")
    wait_timeout: float = Field(default=2.0, gt=0, le=30, description="Longest wait for it, in seconds.")


class Lag(Result):
    """How far behind the workers are. Nothing known is `None`, not 0."""

    unread: int | None = Field(default=None, ge=0, description="Events in the stream that are not stored yet.")
    owed: dict[str, int] | None = Field(default=None, description="Jobs that are not done yet, by kind.")
    oldest_seconds: float | None = Field(default=None, ge=0, description="Age of the oldest of them.")


class Degradation(Result):
    """A part that works less well for now, and why."""

    part: str
    reason: str


class Provenance(Result):
    """Where one piece of a context comes from; one a message, summary and recalled memory, in order.

    `index` says which of `messages` holds the piece; several summaries or memories stand in one message.
    """

    index: int = Field(ge=0)
    part: ContextPart
    kind: str
    id: int | None = Field(default=None, description="Row id; 0 while it is not stored yet.")
    event_id: str | None = None
    memory_id: str | None = Field(default=None, description="Of a fact.")
    session_id: str | None = None
    turn: int | None = None
    turn_last: int | None = None
    score: float | None = Field(default=None, ge=0, le=1)
    parts: dict[str, float] = Field(default_factory=dict, description="What the score is made of.")


class PartStatistics(Result):
    """What one part of a context was allowed and what it took; tokens are estimates."""

    budget: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    items: int = Field(default=0, ge=0)
    dropped: int = Field(default=0, ge=0, description="Items that were there and did not fit.")


class ContextStatistics(Result):
    """Budget and use of a context, in tokens."""

    budget: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    over_budget: int = Field(default=0, ge=0, description="What cannot be left out took this much more.")
    cut_messages: int = Field(default=0, ge=0, description="Long messages of which only the two ends stand here.")
    parts: dict[str, PartStatistics] = Field(default_factory=dict)


class ContextResult(Result):
    """`GET /v1/sessions/{id}/context`: `messages` are in OpenAI's chat form, ready to send."""

    messages: list[dict[str, Any]]
    statistics: ContextStatistics = Field(default_factory=lambda: ContextStatistics())
    provenance: list[Provenance] = Field(default_factory=list)
    lag: Lag = Field(default_factory=lambda: Lag())
    degraded: list[Degradation] = Field(default_factory=list)
    reason: str = Field(default="", description="The rule that decided whether anything was recalled.")
    waited_for: EventProgress | None = Field(default=None, description="State of `wait_for` when the wait ended.")


class MemoryHit(Result):
    """One recalled memory; `score` is in 0..1 and `parts` says what it is made of."""

    kind: MemoryKind
    id: int
    score: float = Field(ge=0, le=1)
    content: str
    occurred_at: datetime
    session_id: str
    role: str | None = None
    turn: int | None = None
    event_id: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    parts: dict[str, float] = Field(default_factory=dict)
    why: dict[str, Any] = Field(default_factory=dict, description="Rank in each search arm; only with `explain`.")


class DroppedHit(Result):
    """Something that was ranked and is not among the hits."""

    kind: MemoryKind
    id: int
    score: float = Field(ge=0, le=1)
    reason: str


class SearchResult(Result):
    """Hits, best first."""

    hits: list[MemoryHit]
    dropped: list[DroppedHit] = Field(default_factory=list, description="Only with `explain`.")
    waited_for: EventProgress | None = Field(default=None, description="State of `wait_for` when the wait ended.")
    lag: Lag = Field(default_factory=lambda: Lag())
    degraded: list[Degradation] = Field(default_factory=list)


class EventState(Result):
    """`GET /v1/events/{id}`: how far an event has come. `reason` is set when it is dead."""

    id: str
    state: EventProgress
    namespace: str = "default"
    type: str | None = None
    entry_id: str | None = None
    reason: str | None = None


class LiveResult(Result):
    """`GET /health/live`: the process answers; nothing else was looked at."""

    status: Literal["ok"] = "ok"
    version: str = ""


class HealthCheck(Result):
    """One thing that readiness looked at."""

    status: Literal["ok", "degraded", "failed"]
    detail: str = ""


class ReadyResult(Result):
    """`GET /health/ready`: 200 when `ok` or `degraded`, 503 when `failed`."""

    status: Literal["ok", "degraded", "failed"]
    checks: dict[str, HealthCheck] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list)


class ErrorBody(Result):
    """What went wrong: `code` for programs, `message` for people, `details` where there is more to say."""

    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class ErrorResult(Result):
    """Body of every answer of 400 and above but readiness."""

    error: ErrorBody
