"""The broker loses its queues, beat dies in mid-tick, and two of everything run at once."""

import signal
from pathlib import Path

from tests.crash.workload import check, marker, publish, with_models, workload
from tests.fake_openai import FakeOpenAI
from tests.stack import Stack
from workers.config import queue_prefix


def test_queues_lost_and_the_sweep_makes_them_good(tmp_path: Path) -> None:
    work = workload()
    with Stack(tmp_path) as stack:
        publish(stack, work.events)
        stack.start_ingest()
        queue = f"{queue_prefix(stack.settings.redis_prefix)}summarise"
        stack.wait(stack.stored(len(work.events)), "all events are stored")
        stack.wait(lambda: stack.redis.llen(queue), "a task waits")
        lost = list(stack.redis.scan_iter(f"{queue_prefix(stack.settings.redis_prefix)}*"))
        stack.redis.delete(*lost)
        stack.start_tasks(beat=True)
        stack.wait_quiet()
        check(stack, work)


def test_everything_in_redis_lost(tmp_path: Path) -> None:
    """Rows bring all work back, and the consumer makes its group anew and goes on with what comes after."""
    work = workload()
    with Stack(tmp_path) as stack:
        publish(stack, work.events[:20])
        ingest = stack.start_ingest()
        stack.wait(stack.stored(20), "the first events are stored")
        stack.redis.flushall()
        publish(stack, work.events[20:])
        stack.start_tasks(beat=True)
        stack.wait_quiet()
        check(stack, work)
        assert ingest.exit_code is None


def test_beat_killed_between_tick_and_mark(tmp_path: Path) -> None:
    work = workload()
    fault, reached = marker(tmp_path, "beat.after_tick")
    with Stack(tmp_path) as stack:
        publish(stack, work.events)
        first = stack.start_beat("first", fault=fault)
        stack.start_ingest()
        stack.start_tasks()
        assert first.wait() == -signal.SIGKILL
        assert reached.exists()
        stack.start_beat("second")
        stack.wait_quiet()
        check(stack, work)
        stack.wait(lambda: stack.redis.exists(stack.keys.alive("beat")), "the second beat ticks")


def test_redis_killed_while_beat_is_between_tick_and_mark(tmp_path: Path) -> None:
    work = workload()
    fault, reached = marker(tmp_path, "beat.after_tick", "stop")
    with Stack(tmp_path) as stack:
        publish(stack, work.events)
        beat = stack.start_beat(fault=fault)
        stack.start_ingest()
        stack.start_tasks()
        stack.wait(reached.exists, "beat has ticked and not marked it")
        stack.restart_redis()
        beat.send(signal.SIGCONT)
        stack.wait_quiet()
        check(stack, work)
        stack.wait(lambda: stack.redis.exists(stack.keys.alive("beat")), "beat ticks on")
        assert beat.exit_code is None


def test_two_of_everything(tmp_path: Path, models: FakeOpenAI) -> None:
    work = workload()
    with Stack(tmp_path, ingest_batch=5, **with_models(models)) as stack:
        publish(stack, work.events[:10])
        for number in ("one", "two"):
            stack.start_ingest(f"ingest-{number}")
            stack.start_tasks(f"tasks-{number}")
            stack.start_beat(f"beat-{number}")
        stack.wait(stack.stored(10), "the first events are stored")
        for event in work.events[10:]:
            publish(stack, [event])
        stack.wait_quiet()
        check(stack, work)
        logs = [p.log() for p in stack.processes if p.name.startswith("ingest")]
        assert sum("consumer_active" in log for log in logs) == 1


def test_idle_turn_is_closed_once_by_two_beats(tmp_path: Path) -> None:
    work = workload(sessions=1, turns=2)
    opening = {**work.events[0], "id": "opening", "content": "is anybody there to answer this question"}
    with Stack(tmp_path, turn_idle=1.0) as stack:
        publish(stack, [*work.events, opening])
        stack.start_ingest()
        stack.start_tasks("one", beat=True)
        stack.start_tasks("two", beat=True)
        count = "SELECT count(*) FROM short_term_memories"
        stack.wait(lambda: stack.rows(count)[0][0] == work.turns + 1, "the idle turn is summarised")
        stack.wait_quiet()
        assert stack.rows("SELECT open_turn, closed_turns, extracted_turn FROM sessions") == [(None, 3, 3)]
        assert stack.rows("SELECT subject FROM jobs WHERE kind = 'extract'") == [("turns:1:1-3",)]
