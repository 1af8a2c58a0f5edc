"""Several processes of one role: each shows for itself that it works, and none is taken for another."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import redis

from cli.status import why_not, why_not_here
from tests.crash.workload import check, publish, with_models, workload
from tests.fake_openai import FakeOpenAI, Held
from tests.integration.commands import sidestream
from tests.stack import Process, Stack

CONTAINER = ["unshare", "--map-root-user", "--pid", "--fork", "--mount-proc"]


def signs(stack: Stack, role: str) -> set[str]:
    """The processes that are listed in this role."""
    return {str(name) for name in stack.redis.hgetall(stack.keys.alive(role))}


def sign_of(stack: Stack, role: str, process: Process) -> str:
    [name] = [name for name in signs(stack, role) if f":{process.pid}:" in name]
    return name


def shown_at(stack: Stack, role: str, name: str) -> float:
    return float(json.loads(str(stack.redis.hget(stack.keys.alive(role), name)))["at"])


def complaint(stack: Stack, role: str) -> str:
    """What the health check finds wrong, without a process of its own for each look."""
    with redis.Redis.from_url(stack.server.url) as client:
        return why_not_here(client, stack.keys, role, time.time(), stack.settings.heartbeat_every) or ""


def health(stack: Stack, *roles: str) -> tuple[int, str]:
    """Exit code and complaint of the health check of a container that runs these roles."""
    options = [option for role in roles for option in ("--worker", role)]
    done = sidestream(stack, "status", "--here", *options)
    return done.returncode, done.stderr


def test_a_hung_replica_is_unhealthy_though_the_others_work(tmp_path: Path) -> None:
    with Stack(tmp_path) as stack:
        first = stack.start_tasks("first", queues="embed")
        second = stack.start_tasks("second", queues="embed")
        stack.wait(lambda: len(signs(stack, "embed")) == 2, "both show that they live")
        hung, well = (sign_of(stack, "embed", process) for process in (first, second))
        first.send(signal.SIGSTOP)

        def told_apart() -> bool:
            found = complaint(stack, "embed")
            return f"{hung}: silent for" in found and well not in found

        stack.wait(told_apart, "the hung one is missed, and it alone")
        with redis.Redis.from_url(stack.server.url) as client:
            assert why_not(client, stack.keys, "embed", time.time(), 60.0) is None, "the queue is served"
        code, said = health(stack, "embed")
        # On a loaded machine it may have been silent long enough by now to be struck off.
        assert code == 1 or hung not in signs(stack, "embed")
        assert not said or said.startswith("Error: embed: ")
        first.kill()
        stack.wait(lambda: not complaint(stack, "embed"), "one that is dead is nobody's trouble")


def test_a_process_that_ends_in_order_is_not_missed(tmp_path: Path) -> None:
    with Stack(tmp_path) as stack:
        ingest = stack.start_ingest()
        beat = stack.start_beat()
        roles = ("ingest", "consumer", "beat")
        stack.wait(lambda: all(signs(stack, role) for role in roles), "all show that they live")
        assert health(stack, *roles) == (0, "")
        assert (ingest.stop(), beat.stop()) == (0, 0)
        assert [signs(stack, role) for role in roles] == [set(), set(), set()]
        assert health(stack, *roles)[0] == 1


def test_a_consumer_that_stands_by_is_healthy(tmp_path: Path) -> None:
    with Stack(tmp_path) as stack:
        stack.start_ingest("first")
        stack.wait(lambda: len(signs(stack, "consumer")) == 1, "one consumes")
        second = stack.start_ingest("second")
        stack.wait(lambda: "consumer_standing_by" in second.log(), "the other stands by")
        stack.wait(lambda: len(signs(stack, "consumer")) == 2, "it shows that too")
        assert health(stack, "ingest", "consumer") == (0, "")


def test_a_task_that_fills_the_worker_is_no_silence(tmp_path: Path) -> None:
    work = workload(sessions=1, turns=3)
    with FakeOpenAI(dimensions=16) as models, Stack(tmp_path, **with_models(models)) as stack:
        models.script(Held(), path="embeddings")
        publish(stack, work.events)
        stack.start_ingest()
        worker = stack.start_tasks("full", queues="embed")
        stack.wait(lambda: models.requests("embeddings"), "the only slot is taken")
        own = stack.settings.redis_prefix + "celery:own:"
        stack.wait(lambda: stack.redis.keys(f"{own}*:{worker.pid}:*"), "its heartbeat waits behind the task")
        stack.wait(lambda: signs(stack, "embed"), "it shows that it lives")
        name = sign_of(stack, "embed", worker)
        later = shown_at(stack, "embed", name) + 2
        stack.wait(lambda: shown_at(stack, "embed", name) > later, "it shows on that it lives")
        models.release()
        assert "worker_silent" not in worker.log()


def test_two_containers_of_one_host_name_do_not_take_the_lease_from_each_other(tmp_path: Path) -> None:
    if not shutil.which("unshare") or subprocess.run([*CONTAINER, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this system lets nobody make namespaces of process ids")
    work = workload(sessions=2, turns=3)
    with Stack(tmp_path) as stack:
        ingest = [*CONTAINER, *stack.worker("ingest", "--pool", "solo")]
        both = [stack.start(name, ingest) for name in ("one", "two")]
        stack.wait(lambda: len(signs(stack, "consumer")) == 2, "both show that they live")
        publish(stack, work.events)
        stack.start_tasks(beat=True)
        stack.wait_quiet()
        check(stack, work)
        logs = [process.log() for process in both]
        assert sum("consumer_active" in log for log in logs) == 1
        assert not any("consumer_lease_lost" in log for log in logs)
