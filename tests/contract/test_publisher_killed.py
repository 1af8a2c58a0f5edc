"""A publisher is killed at each of its moments; the next one on the host finishes what was accepted."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sidestream import Message, Publisher
from tests.contract.conftest import read_stream
from tests.contract.servers import RedisServer

ROOT = Path(__file__).resolve().parents[2]
COUNT = 6


def publish_and_die(url: str, spool: Path, point: str, after: int, first: int = 0) -> list[str]:
    """What the process said before it died: ids it was told are accepted, and the point."""
    command = [sys.executable, "-m", "tests.contract.killed", url, str(spool), point, str(after)]
    ended = subprocess.run(
        [*command, str(COUNT), str(first)], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    lines = ended.stdout.splitlines()
    assert ended.returncode == -9, ended.stderr
    assert lines[-1] == f"reached {point}", "the process died elsewhere"
    return [line.removeprefix("published ") for line in lines if line.startswith("published ")]


def stored(server: RedisServer) -> list[str]:
    with server.connect() as client:
        return [fields["id"] for _, fields in read_stream(client, "sidestream:events")]


def adopt(server: RedisServer, spool: Path, also: int) -> None:
    """The next publisher on the host; it publishes one more event of the same session."""
    with Publisher(server.url, spool_dir=spool) as publisher:
        publisher.publish(Message(id=f"e{also}", session_id="s1", role="user", content=f"message {also}"))
        assert publisher.flush(20.0) == 0
    assert list(spool.glob("spool-*")) == []


@pytest.mark.parametrize("after", [1, 4])
def test_between_spool_and_redis(server: RedisServer, tmp_path: Path, after: int) -> None:
    server.kill()
    accepted = publish_and_die(server.url, tmp_path, "publish:spooled", after)
    assert len(accepted) == after - 1
    server.start()
    adopt(server, tmp_path, COUNT)
    ids = stored(server)
    assert ids == [f"e{n}" for n in range(after)] + [f"e{COUNT}"]
    assert set(accepted) <= set(ids)


@pytest.mark.parametrize("point", ["publish:before_redis", "publish:after_redis"])
def test_around_the_write_to_redis(server: RedisServer, tmp_path: Path, point: str) -> None:
    accepted = publish_and_die(server.url, tmp_path, point, 3)
    assert accepted == ["e0", "e1"]
    adopt(server, tmp_path, COUNT)
    written = 2 if point == "publish:before_redis" else 3
    assert stored(server) == [f"e{n}" for n in range(written)] + [f"e{COUNT}"]


@pytest.mark.parametrize("point", ["replay:after_redis", "replay:before_trim"])
def test_in_the_middle_of_a_replay(server: RedisServer, tmp_path: Path, point: str) -> None:
    """What was replayed and not yet struck off is replayed again, and is there once."""
    server.kill()
    accepted = publish_and_die(server.url, tmp_path, "publish:spooled", COUNT)
    server.start()
    publish_and_die(server.url, tmp_path, point, 1, first=COUNT)
    assert stored(server)[:COUNT] == [f"e{n}" for n in range(COUNT)]
    adopt(server, tmp_path, 100)
    ids = stored(server)
    assert len(ids) == len(set(ids)) and set(accepted) <= set(ids)
    assert ids == sorted(ids, key=lambda i: int(i[1:]))


def test_several_dead_publishers_are_adopted_in_order(server: RedisServer, tmp_path: Path) -> None:
    server.kill()
    for first in (0, COUNT, 2 * COUNT):
        publish_and_die(server.url, tmp_path, "publish:spooled", COUNT, first=first)
    assert len(list(tmp_path.glob("spool-*.jsonl"))) == 3
    server.start()
    adopt(server, tmp_path, 100)
    assert stored(server) == [*(f"e{n}" for n in range(3 * COUNT)), "e100"]


def test_a_server_killed_while_the_spool_drains(server: RedisServer, tmp_path: Path) -> None:
    """Redis has the events, the publisher was about to note it; after the restart none is added."""
    count = 1_200
    events = [Message(id=f"e{n}", session_id="s1", role="user", content="x" * 200) for n in range(count)]
    kills = 0
    started = threading.Event()

    def kill_server(point: str) -> None:
        nonlocal kills
        if point == "replay:after_redis" and not kills:
            kills += 1
            assert started.wait(20.0), "the replay is faster than the start that it comes from"
            server.kill()
            server.start()

    server.kill()
    with Publisher(server.url, spool_dir=tmp_path, fault=kill_server) as publisher:
        publisher.publish_many(events)
        server.start()
        started.set()
        assert publisher.flush(30.0) == 0
    assert kills == 1
    assert stored(server) == [e.id for e in events]
