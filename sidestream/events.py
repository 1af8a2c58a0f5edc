"""The event contract: what may be published, as pydantic models and as flat Redis stream fields.

An entry's fields are flat strings, so that `redis-cli XADD` is a full publisher. `Event.to_fields` writes
them, `parse_entry` reads them; docs/events.md and docs/asyncapi.yaml are checked against these models.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sidestream.errors import InvalidEvent
from sidestream.fieldtypes import (
    Content,
    Identifier,
    Identifiers,
    Meta,
    MsgType,
    Role,
    RunStatus,
    Share,
    Timestamp,
    Version,
    read_meta,
)
from sidestream.flat import digest_of, flat_text

VERSION = 1
MAX_FUTURE_SECONDS = 300.0


class Event(BaseModel):
    """What every event has. `ts` is when it happened; absent, the stream entry's own time is taken."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    DEFAULTS: ClassVar[dict[str, Any]] = {}

    type: str
    session_id: Identifier
    id: Identifier | None = None
    namespace: Identifier = "default"
    user_id: Identifier | None = None
    agent_id: Identifier | None = None
    data_source: Identifier | None = None
    ts: Timestamp | None = None
    turn_id: Identifier | None = None
    parent_id: Identifier | None = None
    run_id: Identifier | None = None
    meta: Meta = Field(default_factory=dict)
    v: Version = 1

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls.DEFAULTS = {
            name: field.get_default(call_default_factory=True)
            for name, field in cls.model_fields.items()
            if name != "type" and not field.is_required()
        }

    def to_fields(self) -> dict[str, str]:
        """Flat stream fields, all strings; absent and default values are left out but `type`."""
        fields: dict[str, str] = {}
        defaults = self.DEFAULTS
        for name, value in self.__dict__.items():
            if value is None or (name in defaults and value == defaults[name]):
                continue
            fields[name] = value if type(value) is str else flat_text(value)
        return fields

    def digest(self) -> str:
        """SHA-256 (hex) of what makes the event what it is: all but `id`, `ts` and `meta.trace`."""
        return digest_of(self.to_fields())


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
    importance: Share | None = None
    confidence: Share | None = None
    tags: Identifiers = Field(default_factory=list)
    expires_at: Timestamp | None = None


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
    memory_ids: Identifiers = Field(min_length=1)


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
_FIELDS = {kind: frozenset(model.model_fields) for kind, model in MODELS.items()}
_LISTS = ("tags", "memory_ids")
_SHOWN = 60


def parse_event(data: Mapping[str, Any]) -> AnyEvent:
    """An event from a plain mapping (a JSON body, or flat fields whose names are all known).

    Raises:
        InvalidEvent: names each field that is wrong and what is allowed.
    """
    kind = data.get("type")
    model = MODELS.get(kind) if isinstance(kind, str) else None
    if model is None:
        given = "is missing" if kind is None else f"{str(kind)[:_SHOWN]!r} is not an event type"
        raise InvalidEvent(f"type: {given}; allowed are {', '.join(MODELS)}")
    try:
        return cast(AnyEvent, model.model_validate(dict(data)))
    except ValidationError as error:
        raise InvalidEvent(_explain(error)) from error


def parse_entry(fields: Mapping[str, str]) -> AnyEvent:
    """An event from the flat fields of one stream entry.

    Unknown fields are kept in `meta`, where a key that `meta` has already stands.

    Raises:
        InvalidEvent: unknown type, JSON that does not parse, or a field that breaks the contract.
    """
    values: dict[str, Any] = dict(fields)
    names = _FIELDS.get(values.get("type", ""))
    if names is None:
        return parse_event(values)
    if "meta" in values:
        values["meta"] = _read("meta", values["meta"])
    for name in _LISTS:
        if name in values and name in names:
            values[name] = _read(name, values[name])
    if not values.keys() <= names:
        unknown = {name: values.pop(name) for name in fields if name not in names}
        values["meta"] = {**unknown, **values.get("meta", {})}
    return parse_event(values)


def check_time(ts: datetime, now: datetime) -> None:
    """Raises InvalidEvent when `ts` lies more than 5 minutes ahead of `now`; any past is welcome."""
    ahead = (ts - now).total_seconds()
    if ahead > MAX_FUTURE_SECONDS:
        raise InvalidEvent(f"ts: {ts.isoformat()} is {ahead:.0f} s ahead of the clock; at most 300 s are allowed")


def _read(name: str, text: object) -> object:
    if not isinstance(text, str):
        return text
    try:
        return read_meta(text) if name == "meta" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidEvent(f"{name}: {error}") from error


_WORDS = {
    "extra_forbidden": "is not a field of this event type; what else there is to say goes into meta",
    "missing": "is required",
    "string_too_short": "must not be empty",
    "string_unicode": "holds a lone surrogate, which is not Unicode text",
}


def _explain(error: ValidationError) -> str:
    parts = []
    for item in error.errors(include_url=False, include_input=False):
        where = ".".join(str(p)[:_SHOWN] for p in item["loc"]) or "event"
        said = str(item.get("ctx", {}).get("error") or item["msg"])
        parts.append(f"{where}: {_WORDS.get(item['type'], said)}")
    return "; ".join(parts)
