"""`POST /v1/events`: all of a batch or nothing, durable or refused, bounded."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidestream.api_models import MAX_EVENTS, ErrorResult
from tests.unit.api_app import message, served


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with served(tmp_path) as found:
        yield found


def spooled(folder: Path) -> list[dict[str, Any]]:
    lines = [line for path in folder.rglob("spool-*") for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines]


async def publish(client: httpx.AsyncClient, *events: Any) -> httpx.Response:
    return await client.post("/v1/events", json={"events": list(events)})


def error_of(answer: httpx.Response) -> Any:
    return ErrorResult.model_validate(answer.json()).error


async def test_without_redis_events_are_durable_in_the_spool(client: httpx.AsyncClient, tmp_path: Path) -> None:
    answer = await publish(client, message(id="a"), message())
    assert answer.status_code == 202
    assert answer.json()["ids"][0] == "a"
    assert len(set(answer.json()["ids"])) == answer.json()["spooled"] == 2
    assert len(spooled(tmp_path)) >= 2


async def test_a_wrong_event_is_named_and_nothing_is_published(client: httpx.AsyncClient, tmp_path: Path) -> None:
    late = (datetime.now(UTC) + timedelta(minutes=10)).isoformat()
    answer = await publish(
        client, message(), message(role="pilot"), {"type": "massage"}, message(ts=late), message(colour="red")
    )
    error = error_of(answer)
    assert answer.status_code == 422
    assert error.code == "invalid_request"
    assert [wrong["index"] for wrong in error.details["events"]] == [1, 2, 3, 4]
    assert "events[1]: role: Input should be 'user', 'assistant', 'system' or 'tool'" in error.message
    assert "events[2]: type: 'massage' is not an event type; allowed are message, session.started" in error.message
    assert "events[3]: ts:" in error.message
    assert "events[4]: colour" in error.message
    assert spooled(tmp_path) == []


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"events": []}', b'{"events": {}}', b'{"events": ["a"]}', b'{"event": []}', b"\xff"],
)
async def test_a_body_of_another_shape_is_refused(client: httpx.AsyncClient, body: bytes) -> None:
    answer = await client.post("/v1/events", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert error_of(answer).message


async def test_text_that_is_no_unicode_is_refused(client: httpx.AsyncClient) -> None:
    body = b'{"events": [{"type": "message", "session_id": "s", "role": "user", "content": "\\ud800"}]}'
    answer = await client.post("/v1/events", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert "events[0]: content" in error_of(answer).message


async def test_json_of_any_depth_is_an_answer_and_no_crash(client: httpx.AsyncClient) -> None:
    deep = b"[" * 100_000
    answer = await client.post("/v1/events", content=deep, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)


async def test_more_events_than_allowed_are_refused(client: httpx.AsyncClient) -> None:
    answer = await publish(client, *[message() for _ in range(MAX_EVENTS + 1)])
    assert answer.status_code == 422
    assert "events" in error_of(answer).message


async def test_a_large_body_is_refused_by_its_length(tmp_path: Path) -> None:
    async with served(tmp_path, api_max_body=2_000) as client:
        answer = await publish(client, message("x" * 2_000))
        assert (answer.status_code, error_of(answer).code) == (413, "too_large")
        assert (await publish(client, message("x" * 1_000))).status_code == 202


async def test_a_large_body_is_refused_while_it_streams(tmp_path: Path) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 500
            yield b" " * 500

    async with served(tmp_path, api_max_body=2_000) as client:
        answer = await client.post("/v1/events", content=endless())
    assert answer.status_code == 413
    assert sent <= 3_000


async def test_neither_redis_nor_room_in_the_spool_is_503(tmp_path: Path) -> None:
    async with served(tmp_path, spool_max_bytes=1) as client:
        answer = await publish(client, message(id="a"), message(id="b"))
    assert answer.status_code == 503
    assert error_of(answer).code == "not_available"
    assert error_of(answer).details == {"accepted": [], "not_accepted": ["a", "b"]}
    assert answer.headers["retry-after"]
