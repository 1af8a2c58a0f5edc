"""The mailbox: order, bound, close, and waiting."""

import asyncio

import pytest

from actors.core.envelope import Envelope
from actors.core.mailbox import Mailbox
from actors.errors import ActorStopped, MailboxFull


def box(limit: int = 10) -> Mailbox:
    return Mailbox("box", limit)


async def test_first_in_first_out() -> None:
    mailbox = box()
    for i in range(3):
        mailbox.put(Envelope(i))
    got = [await mailbox.get() for _ in range(3)]
    assert [e.message for e in got if e] == [0, 1, 2]


async def test_an_urgent_envelope_comes_first_and_passes_the_bound() -> None:
    mailbox = box(limit=1)
    mailbox.put(Envelope("a"))
    mailbox.put(Envelope("b"), urgent=True)
    first = await mailbox.get()
    assert first is not None and first.message == "b"


async def test_the_bound_refuses_and_keeps_what_is_there() -> None:
    mailbox = box(limit=1)
    mailbox.put(Envelope("a"))
    with pytest.raises(MailboxFull, match="box has 1"):
        mailbox.put(Envelope("b"))
    assert len(mailbox) == 1


async def test_get_waits_for_the_next_put() -> None:
    mailbox = box()
    waiting = asyncio.create_task(mailbox.get())
    await asyncio.sleep(0)
    mailbox.put(Envelope("late"))
    got = await waiting
    assert got is not None and got.message == "late"


async def test_get_gives_none_when_nothing_comes_in_time() -> None:
    assert await box().get(0.001) is None


async def test_close_returns_what_was_left_and_refuses_more() -> None:
    mailbox = box()
    mailbox.put(Envelope("a"))
    mailbox.put(Envelope("b"))
    assert [e.message for e in mailbox.close()] == ["a", "b"]
    assert mailbox.closed and await mailbox.get() is None
    with pytest.raises(ActorStopped):
        mailbox.put(Envelope("c"))
    with pytest.raises(ActorStopped):
        mailbox.put(Envelope("c"), urgent=True)


async def test_close_wakes_a_waiting_get() -> None:
    mailbox = box()
    waiting = asyncio.create_task(mailbox.get())
    await asyncio.sleep(0)
    mailbox.close()
    assert await waiting is None


async def test_an_envelope_answers_once() -> None:
    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    envelope = Envelope("m", future)
    envelope.answer("first")
    envelope.answer("second")
    envelope.fail(RuntimeError())
    assert await future == "first" and not envelope.abandoned


async def test_an_envelope_whose_asker_left_takes_answers_in_silence() -> None:
    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    envelope = Envelope("m", future)
    future.cancel()
    envelope.answer("x")
    envelope.fail(RuntimeError())
    assert envelope.abandoned
