"""Retries, waits and limits of the guard, by a clock that moves only when it sleeps."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

import pytest

from llm.circuit import CircuitState
from llm.errors import (
    BadReply,
    BadRequest,
    CircuitOpen,
    CutStream,
    LlmError,
    RateLimited,
    ServerError,
    Timeout,
    Transient,
    Unauthorised,
    Unreachable,
)
from llm.resilience import Attempted, Guard, Limits
from tests.unit.llm_support import bench


def failing(*errors: Exception) -> Callable[[], Awaitable[str]]:
    """Raises each error once, then answers."""
    queue = list(errors)

    async def attempt() -> str:
        if queue:
            raise queue.pop(0)
        return "done"

    return attempt


@pytest.mark.parametrize("error", [Timeout("t"), RateLimited("r"), ServerError("s"), Unreachable("u")])
async def test_what_can_pass_is_tried_again(error: Transient) -> None:
    b = bench()
    assert await b.guard.call(failing(error)) == "done"
    assert b.attempts == [Attempted(failed=True, retry=False), Attempted(failed=False, retry=True)]


@pytest.mark.parametrize("error", [BadRequest("b"), Unauthorised("u"), BadReply("r")])
async def test_what_cannot_pass_is_raised_at_once(error: LlmError) -> None:
    b = bench()
    with pytest.raises(type(error)):
        await b.guard.call(failing(error))
    assert b.attempts == [Attempted(failed=True, retry=False)]
    assert b.time.slept == []


async def test_the_last_error_is_raised_when_the_tries_are_used_up() -> None:
    b = bench(retries=2)
    with pytest.raises(ServerError, match="third"):
        await b.guard.call(failing(ServerError("first"), Timeout("second"), ServerError("third")))
    assert len(b.attempts) == 3


async def test_waits_are_drawn_from_a_range_that_doubles_up_to_a_bound() -> None:
    b = bench(retries=5, failures=99, random=lambda: 0.999)
    await b.guard.call(failing(*[ServerError("s")] * 5))
    assert b.time.slept == pytest.approx([0.999, 1.998, 3.996, 3.996, 3.996])
    b = bench(retries=5, failures=99, random=lambda: 0.0)
    await b.guard.call(failing(*[ServerError("s")] * 5))
    assert sum(b.time.slept) == 0


async def test_retry_after_is_the_least_wait() -> None:
    b = bench()
    await b.guard.call(failing(RateLimited("r", retry_after=7.0)))
    assert b.time.now - 1_000 == pytest.approx(7.5)


async def test_retry_after_beyond_the_time_left_is_raised_with_it() -> None:
    b = bench(total=20)
    with pytest.raises(RateLimited) as caught:
        await b.guard.call(failing(RateLimited("r", retry_after=30.0)))
    assert caught.value.retry_after == 30.0
    assert b.time.slept == []


async def test_one_requests_429_holds_the_others_back() -> None:
    b = bench(retries=0)
    with pytest.raises(RateLimited):
        await b.guard.call(failing(RateLimited("r", retry_after=9.0)))
    await b.guard.call(failing())
    assert b.time.now - 1_000 == pytest.approx(9.0)


async def test_a_mistaken_retry_after_silences_for_a_minute_at_most() -> None:
    b = bench(retries=0, total=100)
    with pytest.raises(RateLimited):
        await b.guard.call(failing(RateLimited("r", retry_after=86_400.0)))
    await b.guard.call(failing())
    assert b.time.now - 1_000 == pytest.approx(60.0)


async def test_the_total_time_bounds_the_retries() -> None:
    b = bench(retries=100, failures=1_000, total=10, random=lambda: 0.999)

    async def attempt() -> str:
        b.time.now += 2
        raise ServerError("s")

    with pytest.raises(ServerError):
        await b.guard.call(attempt)
    assert b.time.now - 1_000 <= 10


async def test_a_try_that_hangs_times_out() -> None:
    b = bench(timeout=0.02, retries=1)
    never = asyncio.Event()
    with pytest.raises(Timeout):
        await b.guard.call(never.wait)
    assert b.attempts == [Attempted(failed=True, retry=False), Attempted(failed=True, retry=True)]


async def test_the_rate_limit_makes_requests_wait() -> None:
    b = bench(per_minute=60, burst=1)
    for _ in range(3):
        await b.guard.call(failing())
    assert b.time.slept == pytest.approx([1.0, 1.0])


async def test_a_wait_beyond_the_time_left_is_refused_and_nothing_sent() -> None:
    b = bench(per_minute=1, burst=1, total=5)
    await b.guard.call(failing())
    with pytest.raises(RateLimited) as caught:
        await b.guard.call(failing())
    assert caught.value.retry_after == pytest.approx(60)
    assert len(b.attempts) == 1


async def test_who_stops_waiting_for_the_rate_limit_gives_the_place_back() -> None:
    b = bench(per_minute=60, burst=1)
    await b.guard.call(failing())
    waiting, never = asyncio.Event(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await never.wait()

    impatient = Guard(b.provider, Limits(10, 60, 0), clock=b.time.clock, sleep=sleep)
    task = asyncio.create_task(impatient.call(failing()))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await b.guard.call(failing())
    assert b.time.slept == pytest.approx([1.0])


async def test_an_open_circuit_sends_nothing_then_one_probe_heals_it() -> None:
    b = bench(retries=0, failures=2, reset=30)
    for _ in range(2):
        with pytest.raises(ServerError):
            await b.guard.call(failing(ServerError("s")))
    with pytest.raises(CircuitOpen) as caught:
        await b.guard.call(failing())
    assert caught.value.retry_after == pytest.approx(30)
    assert len(b.attempts) == 2
    b.time.now += 30
    assert await b.guard.call(failing()) == "done"
    assert b.provider.breaker.state is CircuitState.CLOSED


async def test_the_error_that_opens_the_circuit_is_raised_itself() -> None:
    b = bench(retries=10, failures=3)
    with pytest.raises(ServerError):
        await b.guard.call(failing(*[ServerError("s")] * 10))
    assert len(b.attempts) == 3


@pytest.mark.parametrize("error", [RateLimited("r"), BadRequest("b"), BadReply("r"), Unauthorised("u")])
async def test_a_provider_that_answers_keeps_its_circuit_closed(error: LlmError) -> None:
    b = bench(retries=0, failures=1)
    with pytest.raises(type(error)):
        await b.guard.call(failing(error))
    assert b.provider.breaker.state is CircuitState.CLOSED


async def test_a_cancelled_probe_is_given_back() -> None:
    b = bench(retries=0, failures=1, reset=30)
    with pytest.raises(ServerError):
        await b.guard.call(failing(ServerError("s")))
    b.time.now += 30
    begun, never = asyncio.Event(), asyncio.Event()

    async def attempt() -> str:
        begun.set()
        await never.wait()
        return ""

    probe = asyncio.create_task(b.guard.call(attempt))
    await begun.wait()
    with pytest.raises(CircuitOpen):
        await b.guard.call(failing())
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    assert await b.guard.call(failing()) == "done"


def pieces(*runs: list[str | Exception | None]) -> Callable[[], AsyncGenerator[str | None, None]]:
    """The first call plays the first run, and so on."""
    queue = list(runs)

    async def attempt() -> AsyncGenerator[str | None, None]:
        for piece in queue.pop(0):
            if isinstance(piece, Exception):
                raise piece
            yield piece

    return attempt


async def test_a_stream_is_tried_again_before_its_first_piece() -> None:
    b = bench()
    heard = [p async for p in b.guard.stream(pieces([ServerError("s")], [Timeout("t")], ["a", "b"]))]
    assert heard == ["a", "b"]
    assert len(b.attempts) == 3


async def test_a_stream_is_never_tried_again_after_its_first_piece() -> None:
    b = bench()
    heard: list[str] = []
    with pytest.raises(CutStream):
        async for piece in b.guard.stream(pieces(["a", CutStream("c")], ["again"])):
            heard.append(piece)
    assert heard == ["a"]
    assert b.attempts == [Attempted(failed=True, retry=False)]


async def test_a_stream_that_falls_silent_times_out() -> None:
    b = bench(timeout=0.02)
    never = asyncio.Event()

    async def attempt() -> AsyncGenerator[str | None, None]:
        yield "a"
        await never.wait()

    with pytest.raises(Timeout):
        async for _ in b.guard.stream(attempt):
            pass


async def test_signs_of_life_hold_the_time_limit_off_and_are_not_handed_on() -> None:
    b = bench(timeout=0.2)
    loop = asyncio.get_running_loop()

    async def attempt() -> AsyncGenerator[str | None, None]:
        until = loop.time() + 0.5
        while loop.time() < until:
            await asyncio.sleep(0.01)
            yield None
        yield "a"

    assert [piece async for piece in b.guard.stream(attempt)] == ["a"]


async def test_a_stream_that_has_only_shown_life_is_tried_again() -> None:
    b = bench()
    heard = [p async for p in b.guard.stream(pieces([None, ServerError("s")], [None, "a"]))]
    assert heard == ["a"]


async def test_closing_a_stream_early_closes_its_source_and_frees_the_probe() -> None:
    b = bench(retries=0, failures=1, reset=30)
    with pytest.raises(ServerError):
        await b.guard.call(failing(ServerError("s")))
    b.time.now += 30
    closed = asyncio.Event()

    async def attempt() -> AsyncGenerator[str | None, None]:
        try:
            yield "a"
            yield "b"
        finally:
            closed.set()

    async with aclosing(b.guard.stream(attempt)) as stream:
        assert await anext(stream) == "a"
    assert closed.is_set()
    assert await b.guard.call(failing()) == "done"
