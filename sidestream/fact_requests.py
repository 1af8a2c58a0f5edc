"""Requests about facts and the timeline, for both HTTP clients."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

from pydantic import ValidationError

from sidestream.errors import ApiError
from sidestream.fact_models import (
    Accepted,
    Fact,
    FactExplanation,
    FactHistory,
    FactList,
    FactPatch,
    FactStatus,
    TimelineResult,
)
from sidestream.flat import format_time
from sidestream.http_api import ApiRequest

Params = dict[str, Any]
Level = Literal["session", "day", "week", "month"]


def list_request(
    user_id: str,
    namespace: str,
    session_id: str | None,
    status: Sequence[FactStatus],
    types: Sequence[str],
    tags: Sequence[str],
    as_of: datetime | None,
    limit: int,
    offset: int,
) -> ApiRequest[FactList]:
    """`GET /v1/memories`."""
    params: Params = {"user_id": user_id, "namespace": namespace, "limit": limit, "offset": offset}
    params |= {"status": list(status), "type": list(types), "tag": list(tags)}
    if session_id is not None:
        params["session_id"] = session_id
    if as_of is not None:
        params["as_of"] = format_time(as_of)
    return ApiRequest("GET", "/v1/memories", FactList, params)


def one_request(memory_id: str, user_id: str, namespace: str) -> ApiRequest[Fact]:
    """`GET /v1/memories/{id}`."""
    return ApiRequest("GET", _path(memory_id), Fact, _whose(user_id, namespace))


def history_request(memory_id: str, user_id: str, namespace: str) -> ApiRequest[FactHistory]:
    """`GET /v1/memories/{id}/history`."""
    return ApiRequest("GET", f"{_path(memory_id)}/history", FactHistory, _whose(user_id, namespace))


def explain_request(memory_id: str, user_id: str, namespace: str) -> ApiRequest[FactExplanation]:
    """`GET /v1/memories/{id}/explain`."""
    return ApiRequest("GET", f"{_path(memory_id)}/explain", FactExplanation, _whose(user_id, namespace))


def adjust_request(memory_id: str, wish: Params, user_id: str, namespace: str) -> ApiRequest[Accepted]:
    """`PATCH /v1/memories/{id}`.

    Raises:
        ApiError: the wish is none.
    """
    try:
        body = FactPatch.model_validate({name: value for name, value in wish.items() if value is not None})
    except ValidationError as error:
        said = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'wish'}: {e['msg']}" for e in error.errors())
        raise ApiError(0, said) from error
    sent = body.model_dump(exclude_none=True, exclude_defaults=True)
    return ApiRequest("PATCH", _path(memory_id), Accepted, _whose(user_id, namespace), sent)


def forget_request(
    memory_id: str, hard: bool, actor: str | None, reason: str | None, user_id: str, namespace: str
) -> ApiRequest[Accepted]:
    """`DELETE /v1/memories/{id}`."""
    params: Params = {**_whose(user_id, namespace), "hard": hard}
    params |= {name: value for name, value in (("actor", actor), ("reason", reason)) if value is not None}
    return ApiRequest("DELETE", _path(memory_id), Accepted, params)


def timeline_request(
    user_id: str,
    namespace: str,
    session_id: str | None,
    since: datetime | None,
    until: datetime | None,
    level: Level | None,
    topic: str | None,
    limit: int,
) -> ApiRequest[TimelineResult]:
    """`GET /v1/timeline`."""
    params: Params = {**_whose(user_id, namespace), "limit": limit}
    params |= {name: format_time(at) for name, at in (("since", since), ("until", until)) if at is not None}
    named = {"session_id": session_id, "level": level, "topic": topic}
    params |= {name: text for name, text in named.items() if text is not None}
    return ApiRequest("GET", "/v1/timeline", TimelineResult, params)


def _path(memory_id: str) -> str:
    return f"/v1/memories/{quote(memory_id, safe='')}"


def _whose(user_id: str, namespace: str) -> Params:
    return {"user_id": user_id, "namespace": namespace}
