"""The HTTP door while Redis or the workers are away: it accepts, it answers, and it says what is wrong."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidestream import ApiError, Client, Message
from sidestream.ids import new_id
from tests.integration.api_process import start_api
from tests.stack import Stack


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with Stack(tmp_path, publish_timeout=0.5) as stack:
        yield stack


@pytest.fixture
def client(stack: Stack) -> Iterator[Client]:
    with Client(start_api(stack)[1], timeout=30.0) as client:
        yield client


def said(content: str, session: str = "s") -> Message:
    return Message(session_id=session, role="user", content=content)


def test_without_workers_a_context_has_the_turns_of_a_moment_ago(stack: Stack, client: Client) -> None:
    ids = client.publish([said("Nobody works today."), said("But this is seen.")])
    found = client.context("s", "what is seen?")
    assert [m["content"] for m in found.messages][:2] == ["Nobody works today.", "But this is seen."]
    assert found.lag.unread == 2
    assert client.event(ids[0]).state == "accepted"
    ready = client.ready()
    assert ready.status == "failed"
    assert "no ingest worker" in ready.checks["consumer"].detail


def test_events_that_redis_missed_arrive_in_order(stack: Stack, client: Client) -> None:
    first = client.publish([said("one")])
    stack.server.kill()
    second = client.publish([said("two"), said("three")])
    assert client.ready().checks["redis"].status == "failed"
    stack.server.start()
    third = client.publish([said("four")])
    stack.start_ingest()
    stack.wait(stack.stored(4), "all four are stored")
    rows = stack.rows("SELECT event_id FROM main_messages ORDER BY seq")
    assert [event for (event,) in rows] == [*first, *second, *third]


def test_a_weak_redis_is_warned_of(stack: Stack, client: Client) -> None:
    stack.redis.config_set("appendfsync", "everysec")
    check = client.ready().checks["redis"]
    assert check.status == "degraded"
    assert "appendfsync is everysec" in check.detail


def test_a_wait_ends_at_its_deadline(client: Client) -> None:
    [event] = client.publish([said("Who will store this?")])
    began = time.monotonic()
    found = client.context("s", wait_for=event, wait_timeout=0.3)
    assert found.waited_for == "accepted"
    assert 0.3 <= time.monotonic() - began < 5


def test_an_unknown_event_is_404(client: Client) -> None:
    with pytest.raises(ApiError) as missing:
        client.event(new_id())
    assert missing.value.status == 404


def test_old_work_turns_readiness_red(tmp_path: Path) -> None:
    """Messages are stored and nobody embeds or summarises them."""
    with Stack(tmp_path, ready_job_age=0.1) as stack:
        stack.start_ingest()
        with Client(start_api(stack)[1]) as client:
            client.publish(
                [
                    said("This is a long enough sentence."),
                    Message(session_id="s", role="assistant", content="Yes."),
                ]
            )
            stack.wait(lambda: "task workers" in client.ready().checks["jobs"].detail, "the oldest job is too old")
            assert client.ready().checks["jobs"].status == "failed"
