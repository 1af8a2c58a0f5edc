"""Tell, ask, hooks and the end of an actor."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from actors.core import Actor, ActorRef, ActorSystem, DeadLetter
from actors.errors import ActorStopped, AskTimeout, MailboxFull, Refused
from tests.unit.actors_support import FAST, Boom, Gate, Probe, crash, until


@pytest.fixture
async def system() -> AsyncIterator[ActorSystem]:
    system = ActorSystem()
    yield system
    await system.stop(grace=0.2)


async def test_an_ask_is_answered_by_what_on_receive_returns(system: ActorSystem) -> None:
    ref = system.spawn(Probe, "probe")
    assert await ref.ask("hello", timeout=30) == "hello"
    assert ref.alive and repr(ref) == "<ActorRef probe>"


async def test_messages_are_handled_one_at_a_time_and_in_order(system: ActorSystem) -> None:
    seen: list[int] = []
    ref = system.spawn(Probe, "probe")

    async def step(number: int) -> None:
        await asyncio.sleep(0)
        seen.append(number)

    for i in range(20):
        ref.tell(lambda _, i=i: step(i))
    await ref.ask("done", timeout=30)
    assert seen == list(range(20))


async def test_hooks_run_in_order(system: ActorSystem) -> None:
    log: list[str] = []
    ref = system.spawn(lambda: Probe(log), "probe")
    await ref.ask("x", timeout=30)
    await ref.stop()
    assert log == ["start", "receive", "stop"]


async def test_a_refusal_reaches_the_asker_and_is_no_crash(system: ActorSystem) -> None:
    log: list[str] = []
    ref = system.spawn(lambda: Probe(log), "probe")

    def refuse(_: Actor) -> None:
        raise Refused("not like this")

    ref.tell(refuse)
    with pytest.raises(Refused, match="not like this"):
        await ref.ask(refuse, timeout=30)
    assert log == ["start", "receive", "receive"]


async def test_an_ask_that_takes_too_long_raises_and_the_work_goes_on(system: ActorSystem) -> None:
    ref, gate = system.spawn(Probe, "probe"), Gate()
    with pytest.raises(AskTimeout, match=r"within 0.01 s"):
        await ref.ask(gate, timeout=0.01)
    assert not gate.cancelled
    gate.opened.set()
    assert await ref.ask("next", timeout=30) == "next"


async def test_bound_work_ends_with_its_ask(system: ActorSystem) -> None:
    ref, gate = system.spawn(Probe, "probe"), Gate()
    with pytest.raises(AskTimeout):
        await ref.ask(gate, timeout=0.01, bound=True)
    assert await ref.ask("next", timeout=30) == "next"
    assert gate.cancelled


async def test_bound_work_whose_asker_left_before_its_turn_is_not_begun(system: ActorSystem) -> None:
    log: list[str] = []
    ref, gate = system.spawn(lambda: Probe(log), "probe"), Gate()
    first = asyncio.create_task(ref.ask(gate, timeout=30))
    await gate.entered.wait()
    with pytest.raises(AskTimeout):
        await ref.ask("never", timeout=0.01, bound=True)
    gate.opened.set()
    assert await first == "through"
    await ref.ask("last", timeout=30)
    assert log.count("receive") == 2


async def test_a_cancelled_asker_leaves_the_actor_at_work(system: ActorSystem) -> None:
    ref, gate = system.spawn(Probe, "probe"), Gate()
    asking = asyncio.create_task(ref.ask(gate, timeout=None))
    await gate.entered.wait()
    asking.cancel()
    gate.opened.set()
    assert await ref.ask("next", timeout=30) == "next" and not gate.cancelled


async def test_a_full_mailbox_refuses(system: ActorSystem) -> None:
    ref, gate = system.spawn(Probe, "probe", mailbox_limit=1), Gate()
    ref.tell(gate)
    await gate.entered.wait()
    ref.tell("fits")
    with pytest.raises(MailboxFull):
        ref.tell("too many")
    with pytest.raises(MailboxFull):
        await ref.ask("too many", timeout=30)
    gate.opened.set()


async def test_stop_finishes_the_message_at_work_and_answers_the_rest(system: ActorSystem) -> None:
    ref, gate = system.spawn(Probe, "probe"), Gate()
    at_work = asyncio.create_task(ref.ask(gate, timeout=30))
    await gate.entered.wait()
    waiting = asyncio.create_task(ref.ask("left", timeout=30))
    await asyncio.sleep(0)
    ref.tell("left too")
    stopping = asyncio.create_task(ref.stop())
    with pytest.raises(ActorStopped, match="before it got to this message"):
        await waiting
    assert not ref.alive and not stopping.done()
    gate.opened.set()
    assert await at_work == "through"
    await stopping
    assert [d.message for d in system.dead_letters] == ["left too"]


async def test_stop_now_cancels_the_message_at_work(system: ActorSystem) -> None:
    log: list[str] = []
    ref, gate = system.spawn(lambda: Probe(log), "probe"), Gate()
    at_work = asyncio.create_task(ref.ask(gate, timeout=30))
    await gate.entered.wait()
    await ref.stop(now=True)
    with pytest.raises(ActorStopped, match="while it handled"):
        await at_work
    assert gate.cancelled and log == ["start", "receive", "stop"]


async def test_an_actor_can_be_stopped_before_it_has_begun(system: ActorSystem) -> None:
    ref = system.spawn(Probe, "probe")
    waiting = ref.tell("never handled")
    async with asyncio.timeout(1):
        await ref.stop(now=True)
    assert waiting and not ref.alive
    assert [letter.message for letter in system.dead_letters] == ["never handled"]


async def test_an_actor_stops_itself(system: ActorSystem) -> None:
    ref = system.spawn(Probe, "probe")
    await ref.ask(lambda actor: actor.context.stop(), timeout=30)
    await ref.stop()
    with pytest.raises(ActorStopped):
        await ref.ask("x", timeout=30)


async def test_a_tell_to_a_stopped_actor_is_a_dead_letter(system: ActorSystem) -> None:
    ref = system.spawn(Probe, "probe")
    await ref.stop()
    assert ref.tell("nobody") is False
    assert list(system.dead_letters) == [DeadLetter("probe", "nobody", "probe has stopped")]


async def test_an_idle_actor_is_passivated(system: ActorSystem) -> None:
    log: list[str] = []
    ref = system.spawn(lambda: Probe(log), "probe", idle=0.005)
    await until(lambda: not ref.alive)
    await ref.stop()
    assert log == ["start", "idle", "stop"]


async def test_a_stopped_system_starts_nothing_and_waits_for_all(system: ActorSystem) -> None:
    refs: list[ActorRef] = [system.spawn(Probe, f"probe{i}") for i in range(3)]
    gate = Gate()
    stuck = asyncio.create_task(refs[0].ask(gate, timeout=None))
    await gate.entered.wait()
    await system.stop(grace=0.01)
    with pytest.raises(ActorStopped):
        await stuck
    assert gate.cancelled and not any(ref.alive for ref in refs)
    with pytest.raises(ActorStopped):
        system.spawn(Probe, "late")


async def test_a_crash_is_told_to_the_asker_and_the_actor_restarts(system: ActorSystem) -> None:
    log: list[str] = []
    ref = system.spawn(lambda: Probe(log), "probe", policy=FAST)
    with pytest.raises(Boom):
        await ref.ask(crash, timeout=30)
    assert await ref.ask("still here", timeout=30) == "still here"
    assert log == ["start", "receive", "failure", "stop", "start", "receive"]


async def test_an_actor_that_takes_no_messages_says_so(system: ActorSystem) -> None:
    with pytest.raises(Refused, match="Actor takes no str"):
        await system.spawn(Actor, "plain").ask("x", timeout=30)
