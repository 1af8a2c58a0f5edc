"""The event contract: what may be published, as pydantic models and as flat Redis stream fields.

An entry's fields are flat strings, so that `redis-cli XADD` is a full publisher. `Event.to_fields` writes
them, `parse_entry` reads them; docs/events.md and docs/asyncapi.yaml are checked against these models.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal, TypeAlias, cast

from pydantic import Field, ValidationError, model_validator

from sidestream.errors import InvalidEvent
from sidestream.event_base import Event as Event
from sidestream.fieldtypes import (
    Content,
    Identifier,
    Identifiers,
    MsgType,
    Reason,
    Role,
    RunStatus,
    Share,
    Timestamp,
    Verdict,
    read_meta,
)

VERSION = 1
MAX_FUTURE_SECONDS = 300.0


class Message(Event):
    """A user, assistant, system or tool utterance in a session's main dialogue."""

    type: Literal["message"] = "message"
    role: Role = Field(description="Who speaks, in OpenAI's terms.")
    content: Content = Field(description="What was said.")
    msg_type: MsgType | None = Field(default=None, description="What kind of message; absent: found by rule.")


class SessionStarted(Event):
    """A session begins; `shared` lets events of other users into it."""

    type: Literal["session.started"] = "session.started"
    shared: bool = Field(default=False, description="Events of other users are let into the session.")


class SessionEnded(Event):
    """A session is over: its open turn closes and what is left is extracted."""

    type: Literal["session.ended"] = "session.ended"


class SessionReset(Event):
    """The session goes on with an empty window; earlier messages stay recallable."""

    type: Literal["session.reset"] = "session.reset"


class SessionFlushed(Event):
    """What was said so far is to be extracted now; the session and its open turn go on."""

    type: Literal["session.flushed"] = "session.flushed"


class SubagentStarted(Event):
    """A sub-agent run begins: `content` is its brief, `agent_id` its name, `parent_id` its cause."""

    type: Literal["subagent.started"] = "subagent.started"
    run_id: Identifier = Field(description="The run, unique within the session.")
    agent_id: Identifier = Field(description="The sub-agent's name.")
    content: Content = Field(description="Its brief.")


class SubagentMessage(Event):
    """One message inside a sub-agent's run; never part of the main dialogue."""

    type: Literal["subagent.message"] = "subagent.message"
    run_id: Identifier = Field(description="The run.")
    role: Role = Field(description="Who speaks, in OpenAI's terms.")
    content: Content = Field(description="What was said.")


class SubagentFinished(Event):
    """A sub-agent run is over. `content` is its report."""

    type: Literal["subagent.finished"] = "subagent.finished"
    run_id: Identifier = Field(description="The run.")
    status: RunStatus = Field(default="completed", description="How it ended.")
    content: Content = Field(description="Its report.")


class MemoryRemember(Event):
    """Store a fact on purpose; `key` makes a later one with the same key replace it."""

    type: Literal["memory.remember"] = "memory.remember"
    content: Content = Field(description="The fact, in words.")
    key: Identifier | None = Field(default=None, description="A later fact with the same key replaces it.")
    memory_type: Identifier = Field(default="fact", description="preference, fact, decision, project, …")
    importance: Share | None = Field(default=None, description="0 to 1.")
    confidence: Share | None = Field(default=None, description="0 to 1.")
    tags: Identifiers = Field(default_factory=list, description="Words to find it by.")
    expires_at: Timestamp | None = Field(default=None, description="When it is no longer true.")


class MemoryForget(Event):
    """Forget one memory, by `memory_id` or `key`; `hard` destroys instead of archiving."""

    type: Literal["memory.forget"] = "memory.forget"
    memory_id: Identifier | None = Field(default=None, description="The memory; either this or `key`.")
    key: Identifier | None = Field(default=None, description="The key it was remembered under.")
    hard: bool = Field(default=False, description="Destroy it instead of archiving it.")
    actor: Identifier | None = Field(default=None, description="Who asks for it; absent: the agent, else the user.")
    reason: Reason | None = Field(default=None, description="Why, for the memory's history.")

    @model_validator(mode="after")
    def _names_one(self) -> "MemoryForget":
        if (self.memory_id is None) == (self.key is None):
            raise ValueError("exactly one of memory_id and key is needed")
        return self


class MemoryAdjust(Event):
    """A person's say about one memory: pin it, weigh it, or decide what becomes of a quarantined one."""

    type: Literal["memory.adjust"] = "memory.adjust"
    memory_id: Identifier = Field(description="The memory.")
    pinned: bool | None = Field(default=None, description="A pinned memory is core, and neither fades nor is archived.")
    weight: Share | None = Field(default=None, description="Holds the weight at this, 0 to 1, whatever use and age do.")
    free_weight: bool = Field(default=False, description="Lets use and age move the weight again.")
    verdict: Verdict | None = Field(default=None, description="Release a quarantined memory, or refuse it.")
    actor: Identifier | None = Field(default=None, description="Who asks for it; absent: the agent, else the user.")
    reason: Reason | None = Field(default=None, description="Why, for the memory's history.")

    @model_validator(mode="after")
    def _says_something(self) -> "MemoryAdjust":
        if self.weight is not None and self.free_weight:
            raise ValueError("weight and free_weight exclude each other")
        if self.pinned is None and self.weight is None and not self.free_weight and self.verdict is None:
            raise ValueError("one of pinned, weight, free_weight and verdict is needed")
        return self


class MemoryUsed(Event):
    """Which memories an answer was given, so that use can be told from disuse; `parent_id` is the answer."""

    type: Literal["memory.used"] = "memory.used"
    memory_ids: Identifiers = Field(min_length=1, description="The memories.")


AnyEvent: TypeAlias = (
    Message
    | SessionStarted
    | SessionEnded
    | SessionReset
    | SessionFlushed
    | SubagentStarted
    | SubagentMessage
    | SubagentFinished
    | MemoryRemember
    | MemoryForget
    | MemoryAdjust
    | MemoryUsed
)
MODELS: dict[str, type[Event]] = {
    m.model_fields["type"].default: m
    for m in (
        Message,
        SessionStarted,
        SessionEnded,
        SessionReset,
        SessionFlushed,
        SubagentStarted,
        SubagentMessage,
        SubagentFinished,
        MemoryRemember,
        MemoryForget,
        MemoryAdjust,
        MemoryUsed,
    )
}
_FIELDS = {kind: frozenset(model.model_fields) for kind, model in MODELS.items()}
_LISTS = ("tags", "memory_ids")
_FLAGS = {"true": True, "false": False, "1": True, "0": False}
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

    Unknown fields are kept in `meta`, where a key that `meta` has already stands: those that mean something there
    are read like other fields, as JSON or as a flag.

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
        unknown = {name: _meta_value(name, values.pop(name)) for name in fields if name not in names}
        values["meta"] = {**unknown, **values.get("meta", {})}
    return parse_event(values)


def check_time(ts: datetime, now: datetime) -> None:
    """Raises InvalidEvent when `ts` lies more than 5 minutes ahead of `now`; any past is welcome."""
    ahead = (ts - now).total_seconds()
    if ahead > MAX_FUTURE_SECONDS:
        raise InvalidEvent(f"ts: {ts.isoformat()} is {ahead:.0f} s ahead of the clock; at most 300 s are allowed")


def _meta_value(name: str, text: object) -> object:
    """The value in `meta` of a field that stands beside it."""
    if name == "tool_calls":
        calls = _read(name, text)
        if not isinstance(calls, list):
            raise InvalidEvent("tool_calls: must be a JSON array of calls in OpenAI's form")
        return calls
    if name == "human":
        if text not in _FLAGS:
            raise InvalidEvent(f"human: {str(text)[:_SHOWN]!r} is not allowed; allowed are {', '.join(_FLAGS)}")
        return _FLAGS[str(text)]
    if name == "trace":
        # What is no object is kept as it came: it may be a trace id alone.
        with suppress(InvalidEvent):
            trace = _read(name, text)
            return trace if isinstance(trace, dict) else text
    return text


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
