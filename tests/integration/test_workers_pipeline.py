"""A backlog is stored with the help of a second process, which may die at any moment."""

import threading
import time
from pathlib import Path

import pytest

from sidestream.keys import GROUP
from tests.crash.workload import Workload, check_redis, publish, workload
from tests.stack import Stack
from workers.analyst import Analyst
from workers.consumer import StreamConsumer
from workers.entries import find_utterances, read_entries
from workers.errors import AnalystGone
from workers.process import Process
from workers.stream import Entry
from workers.wiring import build_ingest

BATCH = 20


def consume(stack: Stack, work: Workload, *, kill: bool = False) -> Analyst:
    """Runs a consumer in this process until all is stored; its analyst, which has been up from the start."""
    process = Process(lambda: stack.settings, lambda kind: None, lambda kind: f"queue:{kind}")
    stop = threading.Event()
    consumer = build_ingest(process, stop)["stream-consumer"]
    assert isinstance(consumer, StreamConsumer)
    analyst = consumer._analyst
    stack.wait(analyst.ready, "the analyst is up")
    thread = threading.Thread(target=consumer.run)
    thread.start()
    try:
        if kill:
            stack.wait(stack.stored(3 * BATCH), "the backlog is being stored")
            assert analyst._process is not None
            analyst._process.kill()
        stack.wait(stack.stored(len(work.events)), "all is stored")
        stack.wait(lambda: not stack.redis.xlen(stack.keys.events), "all is acknowledged")
    finally:
        stop.set()
        thread.join()
    return analyst


def contents(stack: Stack) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    rows = stack.rows(
        "SELECT s.session_id, m.content FROM main_messages m JOIN sessions s ON s.id = m.session_pk ORDER BY m.seq"
    )
    for session, content in rows:
        found.setdefault(session, []).append(content)
    return found


@pytest.mark.parametrize("killed", [False, True])
def test_a_backlog_is_stored_once_and_in_order(tmp_path: Path, killed: bool) -> None:
    work = workload(sessions=4, turns=60)
    with Stack(tmp_path, ingest_batch=BATCH, embed_min_chars=10_000) as stack:
        publish(stack, work.events)
        analyst = consume(stack, work, kill=killed)
        assert contents(stack) == work.contents
        check_redis(stack)
        assert analyst._process is None


def test_what_a_deleted_consumer_had_read_is_stored_all_the_same(tmp_path: Path) -> None:
    work = workload(sessions=2, turns=4)
    with Stack(tmp_path, ingest_batch=BATCH, embed_min_chars=10_000) as stack:
        publish(stack, work.events)
        stack.redis.xgroup_create(stack.keys.events, GROUP, id="0")
        stack.redis.xreadgroup(GROUP, "gone", {stack.keys.events: ">"}, count=5)
        stack.redis.xgroup_delconsumer(stack.keys.events, GROUP, "gone")
        consume(stack, work)
        assert contents(stack) == work.contents
        check_redis(stack)


def test_an_analyst_reads_as_the_consumer_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    analyst = Analyst()
    with Stack(tmp_path) as stack:
        stack.wait(analyst.ready, "the analyst is up")
    good = {b"type": b"message", b"session_id": b"s", b"role": b"user", b"content": b"hello there"}
    analyst.send([Entry("1-1", good), Entry("1-2", {b"type": b"nothing"})])
    entry = Entry("1-1", good)
    assert analyst.receive(lambda: None) == [*find_utterances([entry]), None]
    (alone,), (helped,) = read_entries([entry], 0.0), read_entries([entry], 0.0, find_utterances([entry]))
    assert alone == helped
    looks: list[float] = []
    monkeypatch.setattr("workers.analyst._PATIENCE", 0.0001)
    analyst.send([Entry("1-1", good)] * 10_000)
    assert len(analyst.receive(lambda: looks.append(time.monotonic()))) == 10_000
    assert looks, "the consumer keeps its lease meanwhile"
    assert analyst._process is not None
    analyst._process.kill()
    analyst._process.wait()
    with pytest.raises(AnalystGone):
        analyst.send([Entry("1-1", good)] * 10_000)
        analyst.receive(lambda: None)
    analyst.close()
