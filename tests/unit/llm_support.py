"""A clock that moves only when somebody sleeps, and a guard that runs by it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from llm.circuit import CircuitBreaker
from llm.providers import Provider
from llm.rate import TokenBucket
from llm.resilience import Attempted, Guard, Limits


@dataclass
class FakeTime:
    """Seconds that pass by `sleep` alone; `slept` is the list of waits."""

    now: float = 1_000.0
    slept: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@dataclass
class Bench:
    """A guard with its parts within reach."""

    time: FakeTime
    provider: Provider
    guard: Guard
    attempts: list[Attempted]


def bench(
    *,
    retries: int = 3,
    timeout: float = 10.0,
    total: float = 60.0,
    failures: int = 5,
    reset: float = 30.0,
    per_minute: int = 6_000,
    burst: int | None = None,
    random: Callable[[], float] = lambda: 0.5,
) -> Bench:
    """A guard under a clock that stands still. The first back-off is drawn from 0 to 1 s."""
    time = FakeTime()
    provider = Provider(
        "http://provider.test",
        TokenBucket(per_minute, burst=burst, clock=time.clock),
        CircuitBreaker(failures, reset, clock=time.clock),
    )
    attempts: list[Attempted] = []
    guard = Guard(
        provider,
        Limits(timeout, total, retries, backoff=1.0, backoff_max=4.0),
        report=attempts.append,
        clock=time.clock,
        sleep=time.sleep,
        random=random,
    )
    return Bench(time, provider, guard, attempts)
