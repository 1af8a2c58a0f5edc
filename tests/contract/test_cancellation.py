"""A cancellation reaches whoever waits for Redis, in whatever moment it comes."""

import asyncio

import pytest

from sidestream.aio import AsyncPublisher
from sidestream.events import Message
from store.redis_client import connect_async
from tests.contract.servers import running

MOMENTS = 80
"""Turns of the event loop after which the task is cancelled; more than its work takes."""


async def lost_after(turns: int, url: str) -> bool:
    """Whether a cancellation after so many turns was lost: the task worked on to its end."""
    publisher = AsyncPublisher(url, spool_dir=None)
    client = connect_async(url)
    asked = False

    async def work() -> bool:
        await client.ping()
        await publisher.publish_many([Message(session_id="s", role="user", content=f"Word {n}.") for n in range(20)])
        await client.ping()
        return asked

    task = asyncio.create_task(work())
    for _ in range(turns):
        await asyncio.sleep(0)
    asked = not task.done()
    task.cancel()
    await asyncio.wait([task])
    await publisher.close()
    await client.aclose()
    return not task.cancelled() and task.result()


@pytest.mark.parametrize("kind", ["valkey", "redis"])
async def test_no_moment_loses_a_cancellation(kind: str) -> None:
    with running(kind) as server:
        assert [turns for turns in range(MOMENTS) if await lost_after(turns, server.url)] == []
