"""Counts what the models cost: requests, tokens, failures and retries, by model.

One meter a process is enough; hooks hand each count on, to metrics or to a durable counter.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal, TypeAlias

Operation: TypeAlias = Literal["chat", "embed", "rerank"]


@dataclass(frozen=True, slots=True)
class Count:
    """One thing to count; fields not concerned are 0. Tokens are the provider's, 0 where it reports none."""

    model: str
    operation: Operation
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    failures: int = 0
    retries: int = 0


Hook: TypeAlias = Callable[[Count], None]


class UsageMeter:
    """Totals by (model, operation), and the hooks that hear every count. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._totals: dict[tuple[str, Operation], Count] = {}
        self._hooks: list[Hook] = []

    def subscribe(self, hook: Hook) -> None:
        """Calls `hook` with every later count, in the thread that counted; it must be quick and not raise."""
        with self._lock:
            self._hooks.append(hook)

    def add(self, count: Count) -> None:
        """Adds `count` to the totals and tells the hooks."""
        key = (count.model, count.operation)
        with self._lock:
            old = self._totals.get(key, Count(count.model, count.operation))
            self._totals[key] = replace(
                old,
                requests=old.requests + count.requests,
                input_tokens=old.input_tokens + count.input_tokens,
                output_tokens=old.output_tokens + count.output_tokens,
                failures=old.failures + count.failures,
                retries=old.retries + count.retries,
            )
            hooks = tuple(self._hooks)
        for hook in hooks:
            hook(count)

    def totals(self) -> list[Count]:
        """The sums so far, by model and operation, in a stable order."""
        with self._lock:
            return [self._totals[key] for key in sorted(self._totals)]


METER = UsageMeter()
"""The meter of this process, used where none is passed in."""
