"""Crashes: of every hook, with restarts, giving up, and what children and parents hear of it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from actors.core import Actor, ActorSystem, ChildFailed, RestartPolicy
from actors.errors import ActorStopped, GaveUp, WorkCancelled
from tests.unit.actors_support import FAST, Boom, Gate, Probe, crash, failing_times, until

NEVER = RestartPolicy(restarts=0)


@pytest.fixture
async def system() -> AsyncIterator[ActorSystem]:
    system = ActorSystem()
    yield system
    await system.stop(grace=0.2)


def test_waits_double_up_to_the_longest_and_then_it_is_over() -> None:
    policy = RestartPolicy(restarts=4, first_wait=1, longest_wait=5)
    assert [policy.wait(n) for n in range(1, 6)] == [1, 2, 4, 5, None]
    assert RestartPolicy(restarts=10**6).wait(10**5) == 5.0


async def test_on_start_that_fails_is_tried_again(system: ActorSystem) -> None:
    log: list[str] = []
    ref = system.spawn(failing_times(2, log), "probe", policy=FAST)
    assert await ref.ask("x", timeout=30) == "x"
    assert log == ["start", "failure", "stop"] * 2 + ["start", "receive"]


async def test_on_start_that_always_fails_gives_up_and_answers_what_waits(system: ActorSystem) -> None:
    ref = system.spawn(failing_times(99, []), "probe", policy=FAST)
    with pytest.raises(ActorStopped, match="gave up after 4 crashes"):
        await ref.ask("x", timeout=30)
    await ref.stop()


async def test_a_factory_that_fails_counts_as_a_crash(system: ActorSystem) -> None:
    def broken() -> Actor:
        raise Boom("cannot be made")

    ref = system.spawn(broken, "probe", policy=NEVER)
    with pytest.raises(ActorStopped, match="cannot be made"):
        await ref.ask("x", timeout=30)


@pytest.mark.parametrize("hook", ["failure", "stop"])
async def test_hooks_about_the_end_may_fail_without_harm(system: ActorSystem, hook: str) -> None:
    log: list[str] = []
    ref = system.spawn(lambda: Probe(log, {hook: Boom(hook)}), "probe", policy=FAST)
    with pytest.raises(Boom, match="on purpose"):
        await ref.ask(crash, timeout=30)
    assert await ref.ask("x", timeout=30) == "x"
    assert log == ["start", "receive", "failure", "stop", "start", "receive"]
    await ref.stop()
    assert log[-1] == "stop"


async def test_on_idle_that_fails_is_a_crash(system: ActorSystem) -> None:
    log: list[str] = []
    ref = system.spawn(lambda: Probe(log, {"idle": Boom("idle")}), "probe", policy=NEVER, idle=0.005)
    await until(lambda: not ref.alive)
    await ref.stop()
    assert log == ["start", "idle", "failure", "stop"]


async def test_crashes_in_a_row_end_in_giving_up(system: ActorSystem) -> None:
    log: list[str] = []
    ref = system.spawn(lambda: Probe(log), "probe", policy=FAST)
    for _ in range(4):
        with pytest.raises(Boom):
            await ref.ask(crash, timeout=30)
    with pytest.raises(ActorStopped):
        await ref.ask("x", timeout=30)
    assert log.count("start") == 4


async def test_a_message_handled_well_forgets_earlier_crashes(system: ActorSystem) -> None:
    ref = system.spawn(Probe, "probe", policy=FAST)
    for _ in range(6):
        with pytest.raises(Boom):
            await ref.ask(crash, timeout=30)
        assert await ref.ask("fine", timeout=30) == "fine"


async def test_a_crashing_message_is_delivered_again_where_the_policy_says_so(system: ActorSystem) -> None:
    tries = 0

    def flaky(_: Actor) -> str:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise Boom(f"try {tries}")
        return f"done at try {tries}"

    policy = RestartPolicy(restarts=2, first_wait=0.001, redeliver=True)
    ref = system.spawn(Probe, "probe", policy=policy)
    assert await ref.ask(flaky, timeout=30) == "done at try 3"


async def test_redelivery_ends_with_the_last_crash_as_the_cause(system: ActorSystem) -> None:
    policy = RestartPolicy(restarts=2, first_wait=0.001, redeliver=True)
    ref = system.spawn(Probe, "probe", policy=policy)
    with pytest.raises(GaveUp, match="after 3 crashes") as caught:
        await ref.ask(crash, timeout=30)
    assert isinstance(caught.value.__cause__, Boom)


async def test_work_cancelled_from_within_is_a_crash_and_not_the_end(system: ActorSystem) -> None:
    async def cancelled(_: Actor) -> None:
        raise asyncio.CancelledError

    ref = system.spawn(Probe, "probe", policy=FAST)
    with pytest.raises(WorkCancelled):
        await ref.ask(cancelled, timeout=30)
    assert await ref.ask("x", timeout=30) == "x"


async def test_stop_cuts_the_wait_before_a_restart_short(system: ActorSystem) -> None:
    ref = system.spawn(failing_times(1, []), "probe", policy=RestartPolicy(first_wait=60))
    waiting = asyncio.create_task(ref.ask("x", timeout=None))
    await asyncio.sleep(0.01)
    async with asyncio.timeout(1):
        await ref.stop()
    with pytest.raises(ActorStopped):
        await waiting


async def test_stop_now_in_on_failure_still_runs_on_stop_and_answers(system: ActorSystem) -> None:
    log: list[str] = []
    entered = asyncio.Event()

    class Slow(Probe):
        async def on_failure(self, error: Exception) -> None:
            entered.set()
            await asyncio.Event().wait()

    ref = system.spawn(lambda: Slow(log), "slow", policy=FAST)
    asking = asyncio.create_task(ref.ask(crash, timeout=None))
    await entered.wait()
    await ref.stop(now=True)
    with pytest.raises(ActorStopped):
        await asking
    assert log == ["start", "receive", "stop"]


async def test_children_stop_with_their_parent(system: ActorSystem) -> None:
    child_log: list[str] = []
    parent = system.spawn(Probe, "parent")
    child = await parent.ask(lambda a: a.context.spawn(lambda: Probe(child_log), "child"), timeout=30)
    assert child.name == "parent/child" and await child.ask("x", timeout=30) == "x"
    await parent.stop()
    assert not child.alive and child_log == ["start", "receive", "stop"]


async def test_children_stop_when_their_parent_crashes(system: ActorSystem) -> None:
    parent, gate = system.spawn(Probe, "parent", policy=FAST), Gate()
    child = await parent.ask(lambda a: a.context.spawn(Probe, "child"), timeout=30)
    at_work = asyncio.create_task(child.ask(gate, timeout=None))
    await gate.entered.wait()
    with pytest.raises(Boom):
        await parent.ask(crash, timeout=30)
    assert await parent.ask("x", timeout=30) == "x"
    with pytest.raises(ActorStopped):
        await at_work
    assert gate.cancelled and not child.alive


async def test_a_stuck_child_is_hurried_when_the_system_is(system: ActorSystem) -> None:
    log: list[str] = []
    parent, gate = system.spawn(lambda: Probe(log), "parent"), Gate()
    child = await parent.ask(lambda a: a.context.spawn(Probe, "child"), timeout=30)
    child.tell(gate)
    await gate.entered.wait()
    await system.stop(grace=0.01)
    assert gate.cancelled and not child.alive and log[-1] == "stop"


async def test_a_stopping_actor_starts_no_child(system: ActorSystem) -> None:
    def stop_and_spawn(actor: Actor) -> Any:
        actor.context.stop()
        return actor.context.spawn(Probe, "late")

    parent = system.spawn(Probe, "parent", policy=NEVER)
    with pytest.raises(ActorStopped, match="starts no child"):
        await parent.ask(stop_and_spawn, timeout=30)


async def test_a_parent_hears_of_a_child_that_gave_up(system: ActorSystem) -> None:
    reports: list[ChildFailed] = []

    class Parent(Probe):
        async def on_child_failed(self, report: ChildFailed) -> None:
            reports.append(report)

    parent = system.spawn(Parent, "parent")
    child = await parent.ask(lambda a: a.context.spawn(Probe, "child", policy=NEVER), timeout=30)
    child.tell(crash)
    await until(lambda: bool(reports))
    assert reports[0].name == "parent/child" and isinstance(reports[0].error, Boom)


async def test_on_child_failed_that_raises_makes_the_parent_crash_too(system: ActorSystem) -> None:
    log: list[str] = []
    parent = system.spawn(lambda: Probe(log, {"child_failed": Boom("mine too")}), "parent", policy=FAST)
    child = await parent.ask(lambda a: a.context.spawn(Probe, "child", policy=NEVER), timeout=30)
    child.tell(crash)
    await until(lambda: log.count("start") == 2)
    assert log[:5] == ["start", "receive", "child_failed", "failure", "stop"]
