"""The publishers without a server: while Redis is away, in threads, in forks, in cancelled tasks."""

import asyncio
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import fakeredis
import pytest
import redis

from sidestream import (
    AsyncPublisher,
    InvalidEvent,
    Message,
    Publisher,
    PublishError,
    RedisUnavailable,
    SpoolUnavailable,
)
from sidestream.redis_client import is_away

NOW = 1_700_000_000.0


def said(number: int = 0, **more: Any) -> Message:
    return Message(id=f"e{number}", session_id="s1", role="user", content=f"message {number}", **more)


def away(folder: Path) -> str:
    return f"unix://{folder}/nobody-listens"


class Switch:
    """A fake Redis that can be away."""

    def __init__(self) -> None:
        self.server = fakeredis.FakeServer()
        self.client = fakeredis.FakeRedis(server=self.server)

    def ids(self) -> list[str]:
        entries: Any = self.client.xrange("sidestream:events")
        return [fields[b"id"].decode() for _, fields in entries]


def wait_until(condition: Any, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.005)


def test_without_a_spool_the_caller_is_told(tmp_path: Path) -> None:
    with (
        Publisher(away(tmp_path)) as publisher,
        pytest.raises(RedisUnavailable, match="Redis is away") as caught,
    ):
        publisher.publish_many([said(1), said(2)])
    assert (caught.value.accepted, caught.value.ids) == ([], ["e1", "e2"])
    assert isinstance(caught.value.__cause__, redis.ConnectionError)


def test_a_wrong_event_never_reaches_redis_or_spool(tmp_path: Path) -> None:
    publisher = Publisher(away(tmp_path), spool_dir=tmp_path)
    for wrong in ({"type": "message"}, "text", None, 7):
        with pytest.raises(InvalidEvent):
            publisher.publish(wrong)  # type: ignore[arg-type] # what a caller without types may do
    publisher.close(0)
    assert list(tmp_path.iterdir()) == []


def test_a_time_ahead_of_the_clock_is_refused() -> None:
    publisher = Publisher(fakeredis.FakeRedis(), clock=lambda: NOW)
    publisher.publish(said(1, ts="2023-11-14T22:18:20Z"))
    with pytest.raises(InvalidEvent, match=r"ts: .* 301 s ahead of the clock"):
        publisher.publish(said(2, ts="2023-11-14T22:18:21Z"))


def test_ids_are_given_by_the_one_who_makes_them() -> None:
    names = iter(["a", "b"])
    publisher = Publisher(fakeredis.FakeRedis(), ids=lambda: next(names))
    event = {"type": "session.ended", "session_id": "s1"}
    assert [r.id for r in publisher.publish_many([event, said(5), event])] == ["a", "e5", "b"]


def test_a_refusal_for_good_is_no_outage(tmp_path: Path) -> None:
    redis_ = Switch()
    redis_.client.set("sidestream:events", "not a stream")
    with Publisher(redis_.client, spool_dir=tmp_path) as publisher:
        with pytest.raises(PublishError, match=r"Redis refuses the event: .*WRONGTYPE"):
            publisher.publish(said(1))
        assert publisher.spooled == 0


def test_the_background_drains_by_itself(tmp_path: Path) -> None:
    redis_ = Switch()
    with Publisher(redis_.client, spool_dir=tmp_path) as publisher:
        redis_.server.connected = False
        for number in range(3):
            assert publisher.publish(said(number)).spooled
        redis_.server.connected = True
        wait_until(lambda: publisher.spooled == 0)
        assert not publisher.publish(said(3)).spooled
    assert redis_.ids() == ["e0", "e1", "e2", "e3"]


def test_threads_share_a_publisher_through_an_outage(tmp_path: Path) -> None:
    redis_ = Switch()
    with Publisher(redis_.client, spool_dir=tmp_path) as publisher:

        def talk(session: int) -> None:
            for number in range(50):
                publisher.publish(Message(id=f"{session}-{number}", session_id=str(session), role="user", content="x"))
                if session == 0 and number in (10, 30):
                    redis_.server.connected = number == 30

        threads = [threading.Thread(target=talk, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert publisher.flush(10) == 0
    ids = redis_.ids()
    assert len(ids) == 200
    for session in range(4):
        assert [i for i in ids if i.startswith(f"{session}-")] == [f"{session}-{n}" for n in range(50)]


def test_a_forked_child_has_a_publisher_of_its_own(tmp_path: Path) -> None:
    with Publisher(away(tmp_path), spool_dir=tmp_path / "spool") as publisher:
        publisher.publish(said(1))
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            publisher.publish(said(2))
            os.write(writer, str(publisher.spooled).encode())
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        assert os.read(reader, 10) == b"1"
        assert publisher.spooled == 1
    heir = Publisher(away(tmp_path), spool_dir=tmp_path / "spool")
    assert heir.spooled == 2
    heir.close(0)


def test_a_fault_in_the_background_does_not_end_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The next publish starts it anew."""
    redis_ = Switch()
    faults = iter([RuntimeError("fault")])

    def fault(point: str) -> None:
        if point == "replay:before_trim" and (error := next(faults, None)):
            raise error

    hook, threading.excepthook = threading.excepthook, lambda arguments: None
    try:
        redis_.server.connected = False
        with Publisher(redis_.client, spool_dir=tmp_path, fault=fault) as publisher:
            publisher.publish(said(1))
            redis_.server.connected = True
            wait_until(lambda: publisher._thread is None)
            publisher.publish(said(2))
            wait_until(lambda: publisher.spooled == 0)
    finally:
        threading.excepthook = hook
    assert redis_.ids() == ["e1", "e2"]


def test_a_spool_that_fails_too_is_an_error(tmp_path: Path) -> None:
    publisher = Publisher(away(tmp_path), spool_dir=tmp_path / "spool")
    (tmp_path / "spool").rmdir()
    (tmp_path / "spool").write_text("a file now")
    with pytest.raises(SpoolUnavailable, match="spool folder") as caught:
        publisher.publish(said(1))
    assert isinstance(caught.value.__cause__, OSError) and caught.value.ids == ["e1"]


async def test_a_cancelled_publish_leaves_the_spool_sound(tmp_path: Path) -> None:
    async with AsyncPublisher(away(tmp_path), spool_dir=tmp_path / "spool") as publisher:
        for number in range(20):
            task = asyncio.create_task(publisher.publish(said(number)))
            await asyncio.sleep(0)
            if number % 2:
                task.cancel()
            await asyncio.wait([task])
        kept = publisher.spooled
        await publisher.close(0)
    heir = AsyncPublisher(away(tmp_path), spool_dir=tmp_path / "spool")
    assert heir.spooled == kept >= 10
    await heir.close(0)


async def test_a_cancelled_flush_counts_nothing_twice(tmp_path: Path) -> None:
    server = fakeredis.FakeServer()
    server.connected = False
    client = fakeredis.FakeAsyncRedis(server=server)
    async with AsyncPublisher(client, spool_dir=tmp_path) as publisher:
        await publisher.publish_many([said(n) for n in range(1_500)])
        server.connected = True
        for turns in range(1, 12):
            task = asyncio.create_task(publisher.flush(10))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        assert await publisher.flush(10) == 0
    assert await client.xlen("sidestream:events") == 1_500


@pytest.mark.parametrize(
    "error",
    [
        redis.ConnectionError("refused"),
        redis.TimeoutError("slow"),
        redis.BusyLoadingError("loading"),
        redis.AuthenticationError("WRONGPASS"),
        redis.ReadOnlyError("replica"),
        redis.OutOfMemoryError("full"),
        redis.ResponseError("NOREPLICAS Not enough good replicas to write."),
        redis.ResponseError("MISCONF Errors writing to the AOF file: No space left on device"),
        redis.ResponseError("ERR Error running script (call to f_1): @user_script:2: -OOM command not allowed"),
        ConnectionResetError(),
    ],
)
def test_errors_that_pass(error: Exception) -> None:
    assert is_away(error)


@pytest.mark.parametrize(
    "error",
    [
        redis.ResponseError("WRONGTYPE Operation against a key holding the wrong kind of value"),
        redis.exceptions.NoPermissionError("this user has no permissions to run the 'eval' command"),
        redis.ResponseError("ERR unknown command 'EVAL'"),
    ],
)
def test_errors_that_do_not_pass(error: Exception) -> None:
    assert not is_away(error)
