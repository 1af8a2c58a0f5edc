"""Carries a request through what can pass: retries, rate limit, circuit, time limits.

A request is tried again only for errors that can pass, and only while its total time lasts. A stream is never
tried again once its first piece was delivered: the reader has seen it.
"""

import asyncio
import random as random_module
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

from llm.circuit import CircuitState, Ticket
from llm.errors import CircuitOpen, LlmError, RateLimited, Timeout, Transient
from llm.providers import Provider

T = TypeVar("T")

_LONGEST_PAUSE = 60.0
"""Seconds for which one Retry-After can silence a provider; a mistaken one must not do so for a day."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how often a request is tried. Seconds.

    Attributes:
        timeout: of one try; of one piece when streaming.
        total: of all tries together, waits included.
        retries: tries after the first.
        backoff: the first wait is drawn from 0 to this, then from twice as much, and so on.
        backoff_max: no wait is drawn from a wider range than this.
    """

    timeout: float
    total: float
    retries: int
    backoff: float = 0.5
    backoff_max: float = 20.0


@dataclass(frozen=True, slots=True)
class Attempted:
    """What became of one try, for counting."""

    failed: bool
    retry: bool


class Guard:
    """Runs requests to one provider under its limits.

    Args:
        provider: rate limit and circuit, shared by everything that talks to this provider.
        limits: times and retries.
        report: hears of every try that was sent.
        clock, sleep, random: monotonic seconds; waits so many seconds; a number in [0, 1).
    """

    def __init__(
        self,
        provider: Provider,
        limits: Limits,
        *,
        report: Callable[[Attempted], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = random_module.random,
    ) -> None:
        self._provider = provider
        self._limits = limits
        self._report = report or (lambda _attempted: None)
        self._clock = clock
        self._sleep = sleep
        self._random = random

    async def call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """What `attempt` returns, tried again while its errors can pass.

        Raises:
            LlmError: the last try's error, or why nothing could be sent.
        """
        deadline = self._clock() + self._limits.total
        for tried in count():
            try:
                ticket = await self._admit(deadline)
                with self._judged(ticket, retry=tried > 0):
                    async with _time_limit(self._patience(deadline)):
                        return await attempt()
            except Transient as error:
                await self._back_off(error, tried, deadline)
        raise AssertionError("unreachable")

    async def stream(self, attempt: Callable[[], AsyncGenerator[T | None, None]]) -> AsyncGenerator[T, None]:
        """The pieces of `attempt`, tried again only while none was delivered. Errors as in `call`.

        A None is a sign of life: it starts the time limit anew and is not handed on.
        """
        deadline = self._clock() + self._limits.total
        for tried in count():
            delivered = False
            pieces = self._pieces(attempt, deadline, retry=tried > 0)
            try:
                async for piece in pieces:
                    delivered = True
                    yield piece
                return
            except Transient as error:
                if delivered:
                    raise
                await self._back_off(error, tried, deadline)
            finally:
                await pieces.aclose()

    async def _pieces(
        self, attempt: Callable[[], AsyncGenerator[T | None, None]], deadline: float, *, retry: bool
    ) -> AsyncGenerator[T, None]:
        ticket = await self._admit(deadline)
        with self._judged(ticket, retry=retry):
            source = attempt()
            limit = self._patience(deadline)
            try:
                while True:
                    # The limit holds for the provider alone: no yield inside, the reader may take its time.
                    async with _time_limit(limit):
                        try:
                            piece = await anext(source)
                        except StopAsyncIteration:
                            return
                    if piece is not None:
                        yield piece
                    limit = self._limits.timeout
            finally:
                await source.aclose()

    def _patience(self, deadline: float) -> float:
        return min(self._limits.timeout, deadline - self._clock())

    async def _admit(self, deadline: float) -> Ticket:
        """Waits for the rate limit, then asks the circuit.

        Raises:
            RateLimited: the wait would be longer than the time left.
            CircuitOpen: the provider is not to be asked now.
        """
        if self._provider.breaker.state is not CircuitState.OPEN:
            await self._take_turn(deadline - self._clock())
        admitted = self._provider.breaker.admit()
        if isinstance(admitted, Ticket):
            return admitted
        raise CircuitOpen(f"{self._provider.url} failed too often of late", retry_after=admitted)

    async def _take_turn(self, patience: float) -> None:
        bucket = self._provider.bucket
        wait = bucket.reserve(patience)
        if wait > patience:
            raise RateLimited(f"the rate limit of {self._provider.url} is used up", retry_after=wait)
        if wait > 0:
            try:
                await self._sleep(wait)
            except asyncio.CancelledError:
                bucket.refund()
                raise

    @contextmanager
    def _judged(self, ticket: Ticket, *, retry: bool) -> Iterator[None]:
        """Tells the circuit, the rate limit and the count what became of a try."""
        breaker = self._provider.breaker
        try:
            yield
        except RateLimited as error:
            breaker.succeeded(ticket)
            self._provider.bucket.pause(min(error.retry_after or 0.0, _LONGEST_PAUSE))
            self._report(Attempted(failed=True, retry=retry))
            raise
        except Transient:
            breaker.failed(ticket)
            self._report(Attempted(failed=True, retry=retry))
            raise
        except LlmError:
            breaker.succeeded(ticket)
            self._report(Attempted(failed=True, retry=retry))
            raise
        except BaseException:
            # Cancelled, or closed by the reader: says nothing of the provider; a probe is given back.
            breaker.withdrawn(ticket)
            self._report(Attempted(failed=False, retry=retry))
            raise
        breaker.succeeded(ticket)
        self._report(Attempted(failed=False, retry=retry))

    async def _back_off(self, error: Transient, tried: int, deadline: float) -> None:
        """Waits before the next try, or raises `error` if there is to be none."""
        if isinstance(error, CircuitOpen) or tried >= self._limits.retries:
            raise error
        if self._provider.breaker.state is CircuitState.OPEN:
            raise error
        widest = min(self._limits.backoff * 2**tried, self._limits.backoff_max)
        wait = self._random() * widest + (error.retry_after or 0.0)
        if self._clock() + wait >= deadline:
            raise error
        await self._sleep(wait)


@asynccontextmanager
async def _time_limit(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(max(seconds, 0.0)):
            yield
    except TimeoutError as error:
        raise Timeout(f"no answer within {seconds:.1f} s") from error
