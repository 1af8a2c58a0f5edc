"""Carries out the memory tools of `sidestream.memory_tools` for one session: writes as events, reads over HTTP.

`MemoryTools` and `AsyncMemoryTools` take a publisher and a client of the same kind. `call` always answers with text for
the model; what the model did wrong is such a text too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from sidestream.aio_client import AsyncClient
from sidestream.api_models import MemoryHit, SearchResult
from sidestream.client import Client
from sidestream.core import Published
from sidestream.errors import ApiError, InvalidToolCall, PublishError
from sidestream.events import AnyEvent, MemoryForget, MemoryRemember
from sidestream.fact_models import TimelineResult
from sidestream.fieldtypes import to_json
from sidestream.flat import format_time
from sidestream.memory_tools import (
    ForgetArguments,
    RecallArguments,
    StoreArguments,
    TimelineArguments,
    ToolArguments,
    read_call,
)
from sidestream.receipts import Receipt

_Read: TypeAlias = RecallArguments | TimelineArguments


@dataclass(frozen=True, slots=True)
class ToolScope:
    """For whom the tools work. `session_id` is the session that the calls come from, `data_source` what its facts hold
    for (absent: all)."""

    session_id: str
    user_id: str = "default"
    namespace: str = "default"
    agent_id: str | None = None
    data_source: str | None = None


class _Publisher(Protocol):
    def publish(self, event: Published) -> Receipt: ...


class _AsyncPublisher(Protocol):
    async def publish(self, event: Published) -> Receipt: ...


class MemoryTools:
    """The tools over a `Publisher` and a `Client`."""

    def __init__(self, publisher: _Publisher, client: Client, scope: ToolScope) -> None:
        self._publisher = publisher
        self._client = client
        self._scope = scope

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> str:
        """The result as JSON text, or `error: ...`, which the model can read and mend."""
        try:
            wish = read_call(name, arguments)
            event = write_event(wish, self._scope)
            if event is not None:
                return written(event, self._publisher.publish(event))
            assert isinstance(wish, RecallArguments | TimelineArguments)
            return self._read(wish)
        except (InvalidToolCall, ApiError, PublishError) as error:
            return f"error: {error}"

    def _read(self, wish: _Read) -> str:
        whose: dict[str, Any] = {"user_id": self._scope.user_id, "namespace": self._scope.namespace}
        if isinstance(wish, RecallArguments):
            return recalled(
                [self._client.search(wish.query, **whose, **s) for s in searches(wish, self._scope.data_source)]
            )
        return told(self._client.timeline(**whose, **span(wish, self._scope)))


class AsyncMemoryTools:
    """The tools over an `AsyncPublisher` and an `AsyncClient`."""

    def __init__(self, publisher: _AsyncPublisher, client: AsyncClient, scope: ToolScope) -> None:
        self._publisher = publisher
        self._client = client
        self._scope = scope

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> str:
        """As `MemoryTools.call`."""
        try:
            wish = read_call(name, arguments)
            event = write_event(wish, self._scope)
            if event is not None:
                return written(event, await self._publisher.publish(event))
            assert isinstance(wish, RecallArguments | TimelineArguments)
            return await self._read(wish)
        except (InvalidToolCall, ApiError, PublishError) as error:
            return f"error: {error}"

    async def _read(self, wish: _Read) -> str:
        whose: dict[str, Any] = {"user_id": self._scope.user_id, "namespace": self._scope.namespace}
        if isinstance(wish, RecallArguments):
            return recalled(
                [await self._client.search(wish.query, **whose, **s) for s in searches(wish, self._scope.data_source)]
            )
        return told(await self._client.timeline(**whose, **span(wish, self._scope)))


def write_event(wish: ToolArguments, scope: ToolScope) -> AnyEvent | None:
    """The event that a writing call asks for; None for a call that reads."""
    common: dict[str, Any] = {
        "session_id": scope.session_id,
        "user_id": scope.user_id,
        "namespace": scope.namespace,
        "agent_id": scope.agent_id,
        "data_source": scope.data_source,
    }
    if isinstance(wish, StoreArguments):
        values = wish.model_dump()
        return MemoryRemember(memory_type=values.pop("type"), **values, **common)
    if isinstance(wish, ForgetArguments):
        return MemoryForget(**wish.model_dump(), **common)
    return None


def searches(wish: RecallArguments, data_source: str | None = None) -> list[dict[str, Any]]:
    """The searches that one recall is made of: one a kind, since their scores are not comparable. With a `data_source`
    of what is of it or of none."""
    every: dict[str, Any] = {"limit": wish.limit, **({} if data_source is None else {"data_source": data_source})}
    which = {"types": wish.types, "tags": wish.tags, "min_confidence": wish.min_confidence, "as_of": wish.as_of}
    return [{"kinds": [kind], **every, **(which if kind == "fact" else {})} for kind in dict.fromkeys(wish.kinds)]


def written(event: AnyEvent, receipt: Receipt) -> str:
    """What a writing call answers: it is durable, and carried out in a moment."""
    done = "will be kept" if isinstance(event, MemoryRemember) else "will be forgotten"
    return to_json({"status": done, "event_id": receipt.id})


def recalled(results: list[SearchResult]) -> str:
    """What a recall answers."""
    return to_json({"results": [memory(hit) for result in results for hit in result.hits]})


def memory(hit: MemoryHit) -> dict[str, Any]:
    """One memory for a model."""
    return memory_entry(hit.kind, hit.content, hit.occurred_at, hit.score, hit.session_id, hit.role, hit.metadata)


def memory_entry(
    kind: str,
    content: str,
    at: datetime,
    score: float,
    session_id: str,
    role: str | None,
    metadata: Mapping[str, Any],
) -> dict[str, Any]:
    """One memory for a model, with what it needs to weigh it or to forget it."""
    entry: dict[str, Any] = {"kind": kind, "content": content, "at": format_time(at), "score": round(score, 3)}
    if kind == "fact":
        named = ("memory_id", "type", "key", "tags", "confidence", "said_by")
        return {**entry, **{name: metadata[name] for name in named if metadata.get(name)}}
    return {**entry, "session_id": session_id, **({"role": role} if role else {})}


def span(wish: TimelineArguments, scope: ToolScope) -> dict[str, Any]:
    """What the timeline is asked for; only about a topic does this session come first."""
    session = {} if wish.topic is None else {"session_id": scope.session_id}
    return {**wish.model_dump(), **session}


def told(found: TimelineResult) -> str:
    """What the timeline answers."""
    return to_json({"entries": [e.model_dump(mode="json", exclude_none=True) for e in found.entries]})
