"""Redis goes away and comes back: nothing is lost, doubled or out of order. Real servers, sync and async."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sidestream import Message, RedisUnavailable, SpoolFull
from sidestream.events import parse_entry
from tests.contract.conftest import Driver, read_stream
from tests.contract.proxy import LossyProxy
from tests.contract.servers import RedisServer

Make = Callable[..., Driver]
STREAM = "sidestream:events"


def said(number: int) -> Message:
    return Message(id=f"e{number}", session_id="s1", role="user", content=f"message {number}")


def stored(server: RedisServer) -> list[str]:
    with server.connect() as client:
        return [fields["id"] for _, fields in read_stream(client, STREAM)]


def names(*numbers: int) -> list[str]:
    return [f"e{n}" for n in numbers]


def spool_files(folder: Path) -> list[Path]:
    return list(folder.glob("spool-*"))


async def drained(publisher: Driver, seconds: float = 20.0) -> None:
    """Waits for the publisher's own replay, without flush."""
    async with asyncio.timeout(seconds):
        while publisher.spooled:  # noqa: ASYNC110 - a number is what the publisher shows, not an event
            await asyncio.sleep(0.01)


async def test_a_server_killed_in_mid_stream(server: RedisServer, driver: Make, tmp_path: Path) -> None:
    publisher = driver(server.url, spool_dir=tmp_path, timeout=1.0)
    assert not (await publisher.publish(said(0))).spooled
    server.kill()
    receipts = [await publisher.publish(said(1)), *await publisher.publish_many([said(2), said(3)])]
    assert [(r.id, r.entry_id, r.spooled) for r in receipts] == [(n, None, True) for n in names(1, 2, 3)]
    server.start()
    await publisher.publish(said(4))
    await drained(publisher)
    assert not (await publisher.publish(said(5))).spooled
    assert stored(server) == names(0, 1, 2, 3, 4, 5)


async def test_a_spooled_event_keeps_the_time_at_which_it_was_published(
    server: RedisServer, driver: Make, tmp_path: Path
) -> None:
    publisher = driver(server.url, spool_dir=tmp_path, clock=lambda: 1_700_000_000.5)
    server.kill()
    await publisher.publish(said(1))
    server.start()
    assert await publisher.flush(20.0) == 0
    with server.connect() as client:
        event = parse_entry(read_stream(client, STREAM)[0][1])
        tail = read_stream(client, "sidestream:tail:7:default:s1")
    assert event.ts is not None and event.ts.timestamp() == 1_700_000_000.5
    assert [fields["id"] for _, fields in tail] == ["e1"]


async def test_publishing_stays_fast_while_redis_hangs(server: RedisServer, driver: Make, tmp_path: Path) -> None:
    publisher = driver(server.url, spool_dir=tmp_path, timeout=0.5)
    await publisher.publish(said(0))
    server.pause()
    await publisher.publish(said(1))
    begun = time.monotonic()
    for number in range(2, 52):
        assert (await publisher.publish(said(number))).spooled
    assert time.monotonic() - begun < 5.0
    server.resume()
    await drained(publisher)
    assert stored(server) == names(*range(52))


async def test_a_reply_that_is_lost_after_the_write(server: RedisServer, driver: Make, tmp_path: Path) -> None:
    with LossyProxy(server.socket) as proxy:
        publisher = driver(proxy.url, spool_dir=tmp_path, timeout=1.0)
        await publisher.publish(said(0))
        proxy.lose_replies.set()
        receipt = await publisher.publish(said(1))
        assert receipt.spooled and proxy.lost.is_set()
        assert stored(server) == names(0, 1), "the event was written, and nobody was told"
        await publisher.publish_many([said(2), said(3)])
        proxy.lose_replies.clear()
        await drained(publisher)
    assert stored(server) == names(0, 1, 2, 3)


async def test_a_lost_reply_without_a_spool_says_which_ids_to_repeat(server: RedisServer, driver: Make) -> None:
    with LossyProxy(server.socket) as proxy:
        publisher = driver(proxy.url, timeout=1.0)
        proxy.lose_replies.set()
        event = {"type": "message", "session_id": "s1", "role": "user", "content": "hi"}
        with pytest.raises(RedisUnavailable) as caught:
            await publisher.publish(event)
        proxy.lose_replies.clear()
        await publisher.publish({**event, "id": caught.value.ids[0]})
    assert stored(server) == list(caught.value.ids)


async def test_a_restart_between_two_publishes_costs_nothing(server: RedisServer, driver: Make) -> None:
    publisher = driver(server.url, timeout=1.0)
    await publisher.publish(said(0))
    server.kill()
    server.start()
    assert not (await publisher.publish(said(1))).spooled


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param({"maxmemory": "1", "maxmemory-policy": "noeviction"}, id="out of memory"),
        pytest.param({"min-replicas-to-write": "1"}, id="replicas missing"),
    ],
)
async def test_a_server_that_takes_no_writes(
    server: RedisServer, driver: Make, tmp_path: Path, trouble: dict[str, str]
) -> None:
    publisher = driver(server.url, spool_dir=tmp_path)
    await publisher.publish(said(0))
    with server.connect() as client:
        for name, value in trouble.items():
            client.config_set(name, value)
        assert (await publisher.publish(said(1))).spooled
        assert await publisher.flush(0.3) == 1
        client.config_set(next(iter(trouble)), "0")
    assert await publisher.flush(20.0) == 0
    assert stored(server) == names(0, 1)


async def test_a_replica_takes_no_writes(server: RedisServer, driver: Make, tmp_path: Path) -> None:
    publisher = driver(server.url, spool_dir=tmp_path)
    await publisher.publish(said(0))
    with server.connect() as client:
        client.execute_command("REPLICAOF", "127.0.0.1", "1")
        assert (await publisher.publish(said(1))).spooled
        client.execute_command("REPLICAOF", "NO", "ONE")
    await drained(publisher)
    assert stored(server) == names(0, 1)


async def test_a_full_spool_names_size_and_bound(
    driver: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    publisher = driver(f"unix://{tmp_path}/none", spool_dir=tmp_path / "spool", spool_max_bytes=1_000)
    with caplog.at_level(logging.WARNING, "sidestream"), pytest.raises(SpoolFull) as caught:
        for number in range(100):
            await publisher.publish(said(number))
    assert publisher.spooled == int(caught.value.ids[0][1:]) > 2
    assert "at most 1000 bytes" in str(caught.value)
    size = sum(file.stat().st_size for file in (tmp_path / "spool").iterdir())
    assert f"holds {size} of" in str(caught.value) and size <= 1_000
    assert [r.message.split()[0] for r in caplog.records] == ["spool_begun"]


async def test_two_publishers_on_one_folder(server: RedisServer, driver: Make, tmp_path: Path) -> None:
    one, two = (driver(server.url, spool_dir=tmp_path) for _ in range(2))
    server.kill()
    for number in range(0, 20, 2):
        await one.publish(said(number))
        await two.publish(said(number + 1))
    assert len(spool_files(tmp_path)) == 2
    server.start()
    assert (await one.flush(20.0), await two.flush(20.0)) == (0, 0)
    ids = stored(server)
    assert sorted(ids) == sorted(names(*range(20)))
    for first in (0, 1):
        assert [i for i in ids if int(i[1:]) % 2 == first] == names(*range(first, 20, 2))


async def test_a_publisher_that_closes_leaves_the_rest_to_the_next(
    server: RedisServer, driver: Make, tmp_path: Path
) -> None:
    first = driver(server.url, spool_dir=tmp_path)
    server.kill()
    await first.publish_many([said(n) for n in range(3)])
    await first.close(0)
    second = driver(server.url, spool_dir=tmp_path)
    assert second.spooled == 3
    assert (await second.publish(said(3))).spooled, "what came before goes first"
    server.start()
    assert await second.flush(20.0) == 0
    assert stored(server) == names(0, 1, 2, 3)
    await second.close()
    assert spool_files(tmp_path) == []


async def test_an_adopted_spool_is_replayed_though_nothing_is_published(
    server: RedisServer, driver: Make, tmp_path: Path
) -> None:
    first = driver(server.url, spool_dir=tmp_path)
    server.kill()
    await first.publish_many([said(n) for n in range(3)])
    await first.close(0)
    server.start()
    await drained(driver(server.url, spool_dir=tmp_path))
    assert stored(server) == names(0, 1, 2)
