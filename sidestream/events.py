"""The event contract: what may be published, as pydantic models and as flat Redis stream fields.

An entry's fields are flat strings, so that `redis-cli XADD` is a full publisher. `Event.to_fields` writes
them, `parse_entry` reads them; docs/events.md and docs/asyncapi.yaml are checked against these models.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from sidestream.errors import InvalidEvent

VERSION = 1
MAX_CONTENT_BYTES = 1024 * 1024
MAX_META_BYTES = 256 * 1024
MAX_FUTURE_SECONDS = 300.0
MAX_ID_LENGTH = 256

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
MsgType: TypeAlias = Literal["normal", "fact", "todo", "decision", "preference", "error"]
RunStatus: TypeAlias = Literal["completed", "failed", "timed_out", "cancelled"]


def _plain(value: str) -> str:
    if any(ord(c) < 32 or ord(c) == 127 for c in value):
        raise ValueError("control characters are not allowed")
    if value != value.strip():
        raise ValueError("leading or trailing space is not allowed")
    return value


def _within_content_limit(value: str) -> str:
    size = len(value.encode("utf-8", "strict")) if len(value) * 4 > MAX_CONTENT_BYTES else 0
    if size > MAX_CONTENT_BYTES:
        raise ValueError(f"content is {size} bytes; at most {MAX_CONTENT_BYTES} are allowed")
    return value


Identifier = Annotated[str, Field(min_length=1, max_length=MAX_ID_LENGTH), AfterValidator(_plain)]
Content = Annotated[str, Field(min_length=1), AfterValidator(_within_content_limit)]


class Event(BaseModel):
    """What every event has. `ts` is when it happened; absent, the stream entry's own time is taken."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    TYPE: ClassVar[str] = ""

    type: str
    session_id: Identifier
    id: Identifier | None = None
    namespace: Identifier = "default"
    user_id: Identifier | None = None
    agent_id: Identifier | None = None
    data_source: Identifier | None = None
    ts: datetime | None = None
    turn_id: Identifier | None = None
    parent_id: Identifier | None = None
    run_id: Identifier | None = None
    meta: dict[str, Any] = Field(default_factory=dict)
    v: Literal[1] = 1

    @model_validator(mode="after")
    def _check_shape(self) -> "Event":
        if self.ts is not None and self.ts.tzinfo is None:
            raise ValueError("ts must carry an offset, as in 2026-01-31T09:00:00Z")
        if self.meta:
            size = len(json.dumps(self.meta, ensure_ascii=False, allow_nan=False).encode())
            if size > MAX_META_BYTES:
                raise ValueError(f"meta is {size} bytes of JSON; at most {MAX_META_BYTES} are allowed")
        return self

    def to_fields(self) -> dict[str, str]:
        """Flat stream fields, all strings; absent and default values are left out but `type`."""
        fields = {"type": self.type}
        for name, value in self:
            if (
                value is None
                or name == "type"
                or value == type(self).model_fields[name].default
                or value == {}
            ):
                continue
            fields[name] = _flat(value)
        return fields

    def digest(self) -> str:
        """SHA-256 (hex) of what makes the event what it is: all but `id`, `ts` and `meta.trace`."""
        fields = self.to_fields()
        fields.pop("id", None)
        fields.pop("ts", None)
        if "trace" in self.meta:
            fields["meta"] = _flat({k: v for k, v in self.meta.items() if k != "trace"})
        return hashlib.sha256(json.dumps(fields, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Message(Event):
    """A user, assistant, system or tool utterance in a session's main dialogue."""

    type: Literal["message"] = "message"
    role: Role
    content: Content
    msg_type: MsgType | None = None


class SessionStarted(Event):
    """A session begins; `shared` lets events of other users into it."""

    type: Literal["session.started"] = "session.started"
    shared: bool = False


class SessionEnded(Event):
    """A session is over: its open turn closes and what is left is extracted."""

    type: Literal["session.ended"] = "session.ended"


class SessionReset(Event):
    """The session goes on with an empty window; earlier messages stay recallable."""

    type: Literal["session.reset"] = "session.reset"


class SubagentStarted(Event):
    """A sub-agent run begins: `content` is its brief, `agent_id` its name, `parent_id` its cause."""

    type: Literal["subagent.started"] = "subagent.started"
    run_id: Identifier
    agent_id: Identifier
    content: Content


class SubagentMessage(Event):
    """One message inside a sub-agent's run; never part of the main dialogue."""

    type: Literal["subagent.message"] = "subagent.message"
    run_id: Identifier
    role: Role
    content: Content


class SubagentFinished(Event):
    """A sub-agent run is over. `content` is its report."""

    type: Literal["subagent.finished"] = "subagent.finished"
    run_id: Identifier
    status: RunStatus = "completed"
    content: Content


class MemoryRemember(Event):
    """Store a fact on purpose; `key` makes a later one with the same key replace it."""

    type: Literal["memory.remember"] = "memory.remember"
    content: Content
    key: Identifier | None = None
    memory_type: Identifier = "fact"
    importance: Annotated[float, Field(ge=0, le=1)] | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    tags: list[Identifier] = Field(default_factory=list)
    expires_at: datetime | None = None


class MemoryForget(Event):
    """Forget one memory, by `memory_id` or `key`; `hard` destroys instead of archiving."""

    type: Literal["memory.forget"] = "memory.forget"
    memory_id: Identifier | None = None
    key: Identifier | None = None
    hard: bool = False

    @model_validator(mode="after")
    def _names_one(self) -> "MemoryForget":
        if (self.memory_id is None) == (self.key is None):
            raise ValueError("exactly one of memory_id and key is needed")
        return self


class MemoryUsed(Event):
    """Which memories an answer was given, so that use can be told from disuse."""

    type: Literal["memory.used"] = "memory.used"
    memory_ids: list[Identifier] = Field(min_length=1)


AnyEvent: TypeAlias = (
    Message
    | SessionStarted
    | SessionEnded
    | SessionReset
    | SubagentStarted
    | SubagentMessage
    | SubagentFinished
    | MemoryRemember
    | MemoryForget
    | MemoryUsed
)
MODELS: dict[str, type[Event]] = {
    m.model_fields["type"].default: m
    for m in (
        Message,
        SessionStarted,
        SessionEnded,
        SessionReset,
        SubagentStarted,
        SubagentMessage,
        SubagentFinished,
        MemoryRemember,
        MemoryForget,
        MemoryUsed,
    )
}
_JSON_FIELDS = frozenset({"meta", "tags", "memory_ids"})
_ANY: TypeAdapter[AnyEvent] = TypeAdapter(Annotated[AnyEvent, Field(discriminator="type")])


def parse_event(data: Mapping[str, Any]) -> AnyEvent:
    """An event from a plain mapping (a JSON body, a spool line).

    Raises:
        InvalidEvent: names each field that is wrong and what is allowed.
    """
    kind = data.get("type")
    if kind not in MODELS:
        raise InvalidEvent(f"type: {kind!r} is not an event type; allowed are {', '.join(MODELS)}")
    try:
        return _ANY.validate_python(dict(data))
    except ValidationError as error:
        raise InvalidEvent(_explain(error)) from error


def parse_entry(fields: Mapping[str, str]) -> AnyEvent:
    """An event from the flat fields of one stream entry; unknown fields are kept in `meta`.

    Raises:
        InvalidEvent: unknown type, JSON that does not parse, or a field that breaks the contract.
    """
    model = MODELS.get(fields.get("type", ""))
    if model is None:
        return parse_event(dict(fields))
    known: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    for name, text in fields.items():
        (known if name in model.model_fields else unknown)[name] = text
    for name in _JSON_FIELDS & known.keys():
        known[name] = _from_json(name, known[name])
    if "v" in known:
        known["v"] = int(known["v"]) if known["v"].isdigit() else known["v"]
    if unknown:
        meta = known.get("meta", {})
        known["meta"] = {**unknown, **meta} if isinstance(meta, dict) else meta
    return parse_event(known)


def check_time(ts: datetime, now: datetime) -> None:
    """Raises InvalidEvent when `ts` lies more than 5 minutes ahead of `now`; any past is welcome."""
    ahead = (ts - now).total_seconds()
    if ahead > MAX_FUTURE_SECONDS:
        raise InvalidEvent(
            f"ts: {ts.isoformat()} is {ahead:.0f} s ahead of the clock; at most 300 s are allowed"
        )


def _flat(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, default=str)
    return str(value)


def _from_json(name: str, text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidEvent(f"{name}: not valid JSON ({error})") from error


def _explain(error: ValidationError) -> str:
    parts = []
    for item in error.errors(include_url=False, include_input=False):
        where = ".".join(str(p) for p in item["loc"] if p not in MODELS) or "event"
        parts.append(f"{where}: {item['msg']}")
    return "; ".join(parts)
