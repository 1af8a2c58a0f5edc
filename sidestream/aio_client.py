"""The asynchronous client of the HTTP API."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from types import TracebackType
from typing import Self, TypeVar

import httpx
from pydantic import BaseModel

from sidestream import http_api
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
    ) -> ContextResult:
        """Messages ready for a chat API; as `Client.context`."""
        return await self._call(
            http_api.context_request(session_id, query, tokens, user_id, namespace, wait_for, wait_timeout)
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
    ) -> SearchResult:
        """One user's memories, best first; `session_id` narrows, `kinds` absent means all."""
        return await self._call(http_api.search_request(query, user_id, namespace, session_id, limit, kinds))

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
