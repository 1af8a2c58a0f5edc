"""The consumer is killed, stopped, or loses Redis at each of its moments; nothing is lost, doubled or out
of order."""

import signal
from pathlib import Path

import pytest

from tests.crash.workload import check, marker, publish, workload
from tests.stack import Stack

POINTS = ["consumer.after_read", "consumer.before_commit", "consumer.after_commit", "consumer.after_ack"]
BATCH = 7


@pytest.mark.parametrize("point", POINTS)
def test_consumer_killed_at(point: str, tmp_path: Path) -> None:
    work = workload()
    fault, reached = marker(tmp_path, point)
    with Stack(tmp_path, ingest_batch=BATCH) as stack:
        publish(stack, work.events)
        first = stack.start_ingest("first", fault=fault)
        stack.start_tasks(beat=True)
        assert first.wait() == -signal.SIGKILL
        assert reached.read_text().split() == [point, str(first.pid)]
        assert not stack.quiet()
        stack.start_ingest("second")
        stack.wait_quiet()
        check(stack, work)


@pytest.mark.parametrize("point", POINTS)
def test_redis_killed_while_consumer_is_at(point: str, tmp_path: Path) -> None:
    work = workload()
    fault, reached = marker(tmp_path, point, "stop")
    with Stack(tmp_path, ingest_batch=BATCH) as stack:
        publish(stack, work.events)
        ingest = stack.start_ingest(fault=fault)
        stack.start_tasks(beat=True)
        stack.wait(reached.exists, f"{point} reached")
        stack.restart_redis()
        ingest.send(signal.SIGCONT)
        stack.wait_quiet()
        check(stack, work)
        assert ingest.exit_code is None


def test_stopped_consumer_that_wakes_up_past_its_lease_writes_nothing(tmp_path: Path) -> None:
    work = workload()
    fault, reached = marker(tmp_path, "consumer.after_read", "stop")
    with Stack(tmp_path, ingest_batch=BATCH, ingest_lease=1.0) as stack:
        publish(stack, work.events[:20])
        stale = stack.start_ingest("stale", fault=fault)
        stack.wait(reached.exists, "the first consumer has read a batch")
        stack.start_ingest("fresh")
        stack.start_tasks(beat=True)
        stack.wait(stack.stored(20), "the second consumer has taken over, pending entries first")
        stale.send(signal.SIGCONT)
        stack.wait(lambda: "consumer_lease_lost" in stale.log(), "the stale consumer was refused")
        publish(stack, work.events[20:])
        stack.wait_quiet()
        check(stack, work)


def test_entries_read_by_a_stale_consumer_are_not_stranded(tmp_path: Path) -> None:
    """A stopped consumer is woken just long enough to read what it can no longer store."""
    work = workload()
    fault, reached = marker(tmp_path, "consumer.after_ack", "stop")
    with Stack(tmp_path, ingest_batch=BATCH, ingest_lease=1.0) as stack:
        publish(stack, work.events[:BATCH])
        stale = stack.start_ingest("stale", fault=fault)
        stack.wait(reached.exists, "the first consumer has acknowledged a batch")
        stack.start_ingest("fresh")
        stack.start_tasks(beat=True)
        stack.wait(lambda: "consumer_active" in stack.processes[1].log(), "the second consumer is active")
        stack.processes[1].send(signal.SIGSTOP)
        publish(stack, work.events[BATCH:])
        stale.send(signal.SIGCONT)
        stack.wait(lambda: "consumer_lease_lost" in stale.log(), "the stale consumer has read and was refused")
        stack.processes[1].send(signal.SIGCONT)
        stack.wait_quiet()
        check(stack, work)


def test_poison_event_ends_as_a_dead_letter_and_the_rest_flows_on(tmp_path: Path) -> None:
    work = workload()
    poison = [
        {
            "type": "message",
            "id": "p1",
            "session_id": "s0",
            "role": "user",
            "content": "no",
            "meta": "{broken",
        },
        {"type": "telegram", "id": "p2", "session_id": "s0"},
        {
            "type": "message",
            "id": "p3",
            "session_id": "s0",
            "user_id": "stranger",
            "role": "user",
            "content": "hi",
        },
        {**work.events[0], "content": "the same id with other words"},
    ]
    with Stack(tmp_path, ingest_batch=BATCH) as stack:
        publish(stack, work.events[:10])
        publish(stack, poison)
        publish(stack, work.events[10:])
        stack.start_ingest()
        stack.start_tasks(beat=True)
        stack.wait_quiet()
        check(stack, work, dead=len(poison))
        reasons = [row[0] for row in stack.rows("SELECT reason FROM dead_letters ORDER BY id")]
        assert [reason.partition(":")[0] for reason in reasons] == ["meta", "type", "user_id", "id"]


def test_surprise_inside_a_batch_buries_nobody_else(tmp_path: Path) -> None:
    """An error that nobody foresaw makes the batch go in halves; here it passes, so that nothing is buried
    at all."""
    work = workload()
    fault, reached = marker(tmp_path, "consumer.before_commit", "raise")
    with Stack(tmp_path, ingest_batch=BATCH) as stack:
        publish(stack, work.events)
        stack.start_ingest(fault=fault)
        stack.start_tasks(beat=True)
        stack.wait_quiet()
        assert reached.exists()
        assert "batch_failed" in stack.processes[0].log()
        check(stack, work)
