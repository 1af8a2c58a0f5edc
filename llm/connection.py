"""One model at one provider: where its requests go, under which limits, and where they are counted."""

import asyncio
import random as random_module
import time
from collections.abc import Awaitable, Callable

from llm.http import Endpoint, Transport
from llm.ports import Usage
from llm.providers import Provider
from llm.resilience import Attempted, Guard, Limits
from llm.usage import Count, Operation, UsageMeter


class Connection:
    """What an adapter needs to talk to its model.

    Attributes:
        model: name that the provider knows the model by.
        provider: the endpoint's short name.
        transport: sends and receives.
        guard: retries, limits and the circuit; every request runs through it.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        operation: Operation,
        *,
        provider: Provider,
        limits: Limits,
        meter: UsageMeter,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = random_module.random,
    ) -> None:
        self.model = model
        self.provider = endpoint.provider
        self.transport = Transport(endpoint, limits.timeout, clock=wall_clock)
        self.guard = Guard(provider, limits, report=self._attempted, clock=clock, sleep=sleep, random=random)
        self._operation: Operation = operation
        self._meter = meter

    def used(self, usage: Usage) -> None:
        """Counts the tokens of one answer."""
        self._meter.add(
            Count(
                self.model,
                self._operation,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
            )
        )

    def _attempted(self, tried: Attempted) -> None:
        self._meter.add(
            Count(
                self.model,
                self._operation,
                requests=1,
                failures=int(tried.failed),
                retries=int(tried.retry),
            )
        )
