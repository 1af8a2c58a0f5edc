"""What the sync and the async HTTP client have in common: requests, and how answers are read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from sidestream.api_models import (
    MAX_EVENTS,
    ContextResult,
    ErrorResult,
    EventProgress,
    EventState,
    LiveResult,
    MemoryKind,
    PublishResult,
    ReadyResult,
    SearchRequest,
    SearchResult,
)
from sidestream.core import Published
from sidestream.errors import ApiError, ApiUnavailable, InvalidEvent
from sidestream.events import Event, parse_event
from sidestream.ids import new_id

M = TypeVar("M", bound=BaseModel)

DEFAULT_URL = "http://127.0.0.1:8700"
_PROGRESS: tuple[EventProgress, ...] = ("accepted", "stored", "embedded", "summarised")
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 0.5


@dataclass(frozen=True, slots=True)
class ApiRequest(Generic[M]):
    """One request and the model of its answer. `wait` is what the server may take on purpose, in seconds."""

    method: str
    path: str
    model: type[M]
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    wait: float = 0.0
    also_ok: int = 200


def publish_requests(events: Iterable[Published]) -> Iterator[ApiRequest[PublishResult]]:
    """Requests of at most 1,000 events. Events without an id get one here, so that a repeat is harmless."""
    bodies = [_body(event) for event in events]
    for start in range(0, len(bodies), MAX_EVENTS):
        part = {"events": bodies[start : start + MAX_EVENTS]}
        yield ApiRequest("POST", "/v1/events", PublishResult, body=part)


def context_request(
    session_id: str,
    query: str,
    tokens: int | None,
    user_id: str,
    namespace: str,
    wait_for: str | None,
    wait_timeout: float,
    timeline: int = 0,
) -> ApiRequest[ContextResult]:
    """`GET /v1/sessions/{id}/context`."""
    params: dict[str, str | int | float] = {"query": query, "user_id": user_id, "namespace": namespace}
    if tokens is not None:
        params["tokens"] = tokens
    if timeline:
        params["timeline"] = timeline
    if wait_for is not None:
        params |= {"wait_for": wait_for, "wait_timeout": wait_timeout}
    path = f"/v1/sessions/{_segment(session_id)}/context"
    return ApiRequest("GET", path, ContextResult, params, wait=wait_timeout if wait_for else 0.0)


def search_request(
    query: str,
    user_id: str,
    namespace: str,
    session_id: str | None,
    limit: int,
    kinds: Sequence[MemoryKind] | None,
    narrow: Mapping[str, Any],
) -> ApiRequest[SearchResult]:
    """`POST /v1/memories/search`."""
    body = {
        "query": query,
        "user_id": user_id,
        "namespace": namespace,
        "session_id": session_id,
        "limit": limit,
        "kinds": None if kinds is None else list(kinds),
        **narrow,
    }
    try:
        checked = SearchRequest.model_validate(body)
    except ValidationError as error:
        raise ApiError(0, "; ".join(f"{e['loc'][0]}: {e['msg']}" for e in error.errors())) from error
    return ApiRequest(
        "POST",
        "/v1/memories/search",
        SearchResult,
        body=checked.model_dump(mode="json", exclude_none=True, exclude_unset=True),
        wait=checked.wait_timeout if checked.wait_for else 0.0,
    )


def event_request(event_id: str, namespace: str) -> ApiRequest[EventState]:
    """`GET /v1/events/{id}`."""
    return ApiRequest("GET", f"/v1/events/{_segment(event_id)}", EventState, {"namespace": namespace})


LIVE = ApiRequest("GET", "/health/live", LiveResult)
READY = ApiRequest("GET", "/health/ready", ReadyResult, also_ok=503)


def headers(api_key: str | None) -> dict[str, str]:
    """What every request carries."""
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}


def read(response: httpx.Response, request: ApiRequest[M]) -> M:
    """The answer as its model. Raises ApiError."""
    if response.status_code >= 400 and response.status_code != request.also_ok:
        raise ApiError(response.status_code, _detail(response))
    try:
        return request.model.model_validate_json(response.content)
    except ValidationError as error:
        if response.status_code >= 400:
            raise ApiError(response.status_code, _detail(response)) from error
        problem = f"{request.method} {request.path} did not answer as Sidestream's API does: {error}"
        raise ApiError(response.status_code, problem) from error


def unavailable(base_url: str, error: httpx.HTTPError) -> ApiUnavailable:
    """The error for a request that got no answer."""
    return ApiUnavailable(0, f"{base_url} does not answer: {str(error) or type(error).__name__}")


class Progress:
    """Waits for an event to get as far as `wanted`: says when that is so, and how long to pause otherwise."""

    def __init__(self, wanted: EventProgress, deadline: float) -> None:
        self._wanted = _PROGRESS.index(wanted)
        self._left = deadline
        self._pause = _FIRST_PAUSE

    def reached(self, state: EventState) -> bool:
        """Whether nothing more is to be waited for; a dead event comes no further."""
        return state.state == "dead" or _PROGRESS.index(state.state) >= self._wanted

    def pause(self) -> float:
        """Seconds until the next look; 0 when the time is over."""
        pause = min(self._pause, self._left)
        self._left -= pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        return max(0.0, pause)


def outcome(found: EventState | ApiError) -> EventState:
    """What a wait that is over returns. Raises the ApiError."""
    if isinstance(found, ApiError):
        raise found
    return found


def _body(event: Published) -> dict[str, Any]:
    if not isinstance(event, Event | Mapping):
        raise InvalidEvent(f"event: must be an Event or a mapping, and not {type(event).__name__}")
    checked: Event = event if isinstance(event, Event) else parse_event(event)
    body = checked.model_dump(mode="json", exclude_defaults=True)
    return {"type": checked.type, "id": checked.id or new_id(), **body}


def _segment(text: str) -> str:
    # A lone dot or two would be taken for a folder of the path.
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def _detail(response: httpx.Response) -> str:
    try:
        return ErrorResult.model_validate_json(response.content).error.message
    except ValidationError:
        text = response.text[:500]
        return text or response.reason_phrase
