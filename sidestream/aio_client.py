"""The asynchronous client of the HTTP API."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from pydantic import BaseModel

from sidestream import fact_requests, http_api
from sidestream.api_models import (
    ContextResult,
    EventProgress,
    EventState,
    LiveResult,
    MemoryKind,
    ReadyResult,
    SearchResult,
)
from sidestream.core import Published
from sidestream.errors import ApiError
from sidestream.fact_models import Fact, FactExplanation, FactHistory, FactList, FactStatus, TimelineResult

M = TypeVar("M", bound=BaseModel)


class AsyncClient:
    """Publishes and reads over HTTP, as `Client` does. Every method may raise ApiUnavailable and ApiError."""

    def __init__(
        self,
        base_url: str = http_api.DEFAULT_URL,
        api_key: str | None = None,
        timeout: float = 10.0,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Arguments are those of `Client`."""
        self._base_url = base_url
        self._timeout = timeout
        self._sleep = sleep
        self._http = httpx.AsyncClient(base_url=base_url, headers=http_api.headers(api_key), transport=transport)

    async def publish(self, events: Iterable[Published]) -> list[str]:
        """Publishes events in order; their ids. They are durable when this returns.

        Raises:
            InvalidEvent: an event breaks the contract.
        """
        return [i for request in http_api.publish_requests(events) for i in (await self._call(request)).ids]

    async def context(
        self,
        session_id: str,
        query: str = "",
        *,
        tokens: int | None = None,
        user_id: str = "default",
        namespace: str = "default",
        wait_for: str | None = None,
        wait_timeout: float = 2.0,
        timeline: int = 0,
    ) -> ContextResult:
        """Messages ready for a chat API; as `Client.context`."""
        return await self._call(
            http_api.context_request(session_id, query, tokens, user_id, namespace, wait_for, wait_timeout, timeline)
        )

    async def search(
        self,
        query: str,
        *,
        user_id: str = "default",
        namespace: str = "default",
        session_id: str | None = None,
        limit: int = 10,
        kinds: Sequence[MemoryKind] | None = None,
        **narrow: Any,
    ) -> SearchResult:
        """One user's memories, best first; `session_id` narrows, `kinds` absent means all but the timeline.

        `narrow`: `agent_id`, `since`, `until`, `types`, `tags`, `min_confidence`, `data_source`, `metadata`, `as_of`,
        `include`, `explain`, `wait_for` and `wait_timeout`, as docs/api.md has them. ApiError where one is not as it
        should be.
        """
        return await self._call(http_api.search_request(query, user_id, namespace, session_id, limit, kinds, narrow))

    async def facts(
        self,
        *,
        user_id: str = "default",
        namespace: str = "default",
        session_id: str | None = None,
        status: Sequence[FactStatus] = ("active",),
        types: Sequence[str] = (),
        tags: Sequence[str] = (),
        as_of: datetime | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> FactList:
        """One user's facts, pinned ones first, then the heaviest; with `as_of` those held at that moment."""
        return await self._call(
            fact_requests.list_request(user_id, namespace, session_id, status, types, tags, as_of, limit, offset)
        )

    async def fact(self, memory_id: str, *, user_id: str = "default", namespace: str = "default") -> Fact:
        """One fact, whatever its status. ApiError with status 404 where the user has none of that id."""
        return await self._call(fact_requests.one_request(memory_id, user_id, namespace))

    async def fact_history(
        self, memory_id: str, *, user_id: str = "default", namespace: str = "default"
    ) -> FactHistory:
        """Every change of a fact, oldest first, each with who made it and why."""
        return await self._call(fact_requests.history_request(memory_id, user_id, namespace))

    async def explain_fact(
        self, memory_id: str, *, user_id: str = "default", namespace: str = "default"
    ) -> FactExplanation:
        """Where a fact comes from, why it is alive, and when it will be forgotten."""
        return await self._call(fact_requests.explain_request(memory_id, user_id, namespace))

    async def adjust_fact(
        self, memory_id: str, *, user_id: str = "default", namespace: str = "default", **wish: Any
    ) -> str:
        """What a person decides: `pinned`, `weight`, `free_weight`, `verdict` ("release" or "refuse"), with `actor` and
        `reason`. The event's id: the workers carry it out."""
        return (await self._call(fact_requests.adjust_request(memory_id, wish, user_id, namespace))).event_id

    async def forget_fact(
        self,
        memory_id: str,
        *,
        hard: bool = False,
        actor: str | None = None,
        reason: str | None = None,
        user_id: str = "default",
        namespace: str = "default",
    ) -> str:
        """Archives a fact, or destroys it with `hard`; the event's id."""
        asked = fact_requests.forget_request(memory_id, hard, actor, reason, user_id, namespace)
        return (await self._call(asked)).event_id

    async def timeline(
        self,
        *,
        user_id: str = "default",
        namespace: str = "default",
        session_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        level: fact_requests.Level | None = None,
        topic: str | None = None,
        limit: int = 20,
    ) -> TimelineResult:
        """What happened in a span of time, newest first; with a topic first the session's newest, then what tells of
        it in any session."""
        return await self._call(
            fact_requests.timeline_request(user_id, namespace, session_id, since, until, level, topic, limit)
        )

    async def event(self, event_id: str, *, namespace: str = "default") -> EventState:
        """How far an event has come. ApiError with status 404 when it is not known."""
        return await self._call(http_api.event_request(event_id, namespace))

    async def wait_for(
        self,
        event_id: str,
        deadline: float = 10.0,
        *,
        state: EventProgress = "stored",
        namespace: str = "default",
    ) -> EventState:
        """Waits until the event is `state` or further; as `Client.wait_for`."""
        progress = http_api.Progress(state, deadline)
        while True:
            found = await self._known(event_id, namespace)
            if isinstance(found, EventState) and progress.reached(found):
                return found
            pause = progress.pause()
            if not pause:
                return http_api.outcome(found)
            await self._sleep(pause)

    async def live(self) -> LiveResult:
        """The process answers."""
        return await self._call(http_api.LIVE)

    async def ready(self) -> ReadyResult:
        """What readiness found; also when that is `failed`."""
        return await self._call(http_api.READY)

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _known(self, event_id: str, namespace: str) -> EventState | ApiError:
        try:
            return await self.event(event_id, namespace=namespace)
        except ApiError as error:
            if error.status != 404:
                raise
            return error

    async def _call(self, request: http_api.ApiRequest[M]) -> M:
        try:
            response = await self._http.request(
                request.method,
                request.path,
                params=dict(request.params),
                json=request.body,
                timeout=self._timeout + request.wait,
            )
        except httpx.HTTPError as error:
            raise http_api.unavailable(self._base_url, error) from error
        return http_api.read(response, request)
