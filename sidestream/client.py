"""The synchronous client of the HTTP API."""

import time
from collections.abc import Callable, Iterable, Sequence
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


class Client:
    """Publishes and reads over HTTP. Every method may raise ApiUnavailable and ApiError."""

    def __init__(
        self,
        base_url: str = http_api.DEFAULT_URL,
        api_key: str | None = None,
        timeout: float = 10.0,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """
        Args:
            base_url: where the API listens.
            api_key: bearer key; none is needed on loopback unless the server has one.
            timeout: seconds to wait for an answer.
            transport: what carries the requests; a seam for tests.
            sleep: pauses between two looks of `wait_for`.
        """
        self._base_url = base_url
        self._timeout = timeout
        self._sleep = sleep
        self._http = httpx.Client(base_url=base_url, headers=http_api.headers(api_key), transport=transport)

    def publish(self, events: Iterable[Published]) -> list[str]:
        """Publishes events in order; their ids. They are durable when this returns.

        Raises:
            InvalidEvent: an event breaks the contract.
        """
        return [i for request in http_api.publish_requests(events) for i in self._call(request).ids]

    def context(
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
        """Messages ready for a chat API, with provenance and how far behind the workers are.

        Args:
            session_id: the session whose window it is.
            query: what memories are recalled for; empty recalls none.
            tokens: size of the context; absent: the server's share of its model's window.
            user_id: whose memories.
            namespace: where.
            wait_for: an event id that should be stored first.
            wait_timeout: longest wait for it, in seconds; `waited_for` says what came of it.
            timeline: most entries of the timeline from before the window, where there is room left for them.
        """
        return self._call(
            http_api.context_request(session_id, query, tokens, user_id, namespace, wait_for, wait_timeout, timeline)
        )

    def search(
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
        return self._call(http_api.search_request(query, user_id, namespace, session_id, limit, kinds, narrow))

    def facts(
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
        return self._call(
            fact_requests.list_request(user_id, namespace, session_id, status, types, tags, as_of, limit, offset)
        )

    def fact(self, memory_id: str, *, user_id: str = "default", namespace: str = "default") -> Fact:
        """One fact, whatever its status. ApiError with status 404 where the user has none of that id."""
        return self._call(fact_requests.one_request(memory_id, user_id, namespace))

    def fact_history(self, memory_id: str, *, user_id: str = "default", namespace: str = "default") -> FactHistory:
        """Every change of a fact, oldest first, each with who made it and why."""
        return self._call(fact_requests.history_request(memory_id, user_id, namespace))

    def explain_fact(self, memory_id: str, *, user_id: str = "default", namespace: str = "default") -> FactExplanation:
        """Where a fact comes from, why it is alive, and when it will be forgotten."""
        return self._call(fact_requests.explain_request(memory_id, user_id, namespace))

    def adjust_fact(self, memory_id: str, *, user_id: str = "default", namespace: str = "default", **wish: Any) -> str:
        """What a person decides: `pinned`, `weight`, `free_weight`, `verdict` ("release" or "refuse"), with `actor` and
        `reason`. The event's id: the workers carry it out."""
        return self._call(fact_requests.adjust_request(memory_id, wish, user_id, namespace)).event_id

    def forget_fact(
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
        return self._call(fact_requests.forget_request(memory_id, hard, actor, reason, user_id, namespace)).event_id

    def timeline(
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
        return self._call(
            fact_requests.timeline_request(user_id, namespace, session_id, since, until, level, topic, limit)
        )

    def event(self, event_id: str, *, namespace: str = "default") -> EventState:
        """How far an event has come. ApiError with status 404 when it is not known."""
        return self._call(http_api.event_request(event_id, namespace))

    def wait_for(
        self,
        event_id: str,
        deadline: float = 10.0,
        *,
        state: EventProgress = "stored",
        namespace: str = "default",
    ) -> EventState:
        """Waits until the event is `state` or further, or dead; after `deadline` seconds its state of then.

        An event that is not known yet is waited for too; ApiError with status 404 if that stays so.
        """
        progress = http_api.Progress(state, deadline)
        while True:
            found = self._known(event_id, namespace)
            if isinstance(found, EventState) and progress.reached(found):
                return found
            pause = progress.pause()
            if not pause:
                return http_api.outcome(found)
            self._sleep(pause)

    def live(self) -> LiveResult:
        """The process answers."""
        return self._call(http_api.LIVE)

    def ready(self) -> ReadyResult:
        """What readiness found; also when that is `failed`."""
        return self._call(http_api.READY)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _known(self, event_id: str, namespace: str) -> EventState | ApiError:
        try:
            return self.event(event_id, namespace=namespace)
        except ApiError as error:
            if error.status != 404:
                raise
            return error

    def _call(self, request: http_api.ApiRequest[M]) -> M:
        try:
            response = self._http.request(
                request.method,
                request.path,
                params=dict(request.params),
                json=request.body,
                timeout=self._timeout + request.wait,
            )
        except httpx.HTTPError as error:
            raise http_api.unavailable(self._base_url, error) from error
        return http_api.read(response, request)
