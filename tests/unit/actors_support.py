"""Actors that the tests of the core drive."""

import asyncio
from collections.abc import Callable
from typing import Any

from actors.core import Actor, ChildFailed, RestartPolicy

FAST = RestartPolicy(restarts=3, first_wait=0.001, longest_wait=0.002)


class Boom(Exception):  # noqa: N818 - short, and no error of the program
    """What the test actors crash with."""


class Probe(Actor):
    """Answers what it is told to; writes down every hook that ran.

    Messages: a callable is called with the actor, and awaited where it must be; anything else comes back.
    """

    def __init__(self, log: list[str] | None = None, fail: dict[str, Exception] | None = None) -> None:
        self.log = log if log is not None else []
        self.fail = fail if fail is not None else {}

    def _note(self, hook: str) -> None:
        self.log.append(hook)
        if hook in self.fail:
            raise self.fail[hook]

    async def on_start(self) -> None:
        self._note("start")

    async def on_receive(self, message: Any) -> Any:
        self._note("receive")
        if callable(message):
            result = message(self)
            return await result if asyncio.iscoroutine(result) else result
        return message

    async def on_failure(self, error: Exception) -> None:
        self._note("failure")

    async def on_stop(self) -> None:
        self._note("stop")

    async def on_idle(self) -> bool:
        self._note("idle")
        return True

    async def on_child_failed(self, report: ChildFailed) -> None:
        self._note("child_failed")


def crash(_: Actor) -> None:
    """A message that makes the actor crash."""
    raise Boom("crashed on purpose")


class Gate:
    """A message that holds the actor until the test opens it."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()
        self.cancelled = False

    async def _hold(self) -> str:
        self.entered.set()
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return "through"

    def __call__(self, _: Actor) -> Any:
        return self._hold()


def failing_times(times: int, log: list[str]) -> Callable[[], Probe]:
    """A factory whose first `times` actors crash in `on_start`."""
    made = 0

    def make() -> Probe:
        nonlocal made
        made += 1
        return Probe(log, {"start": Boom("no start")} if made <= times else None)

    return make


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Returns when the condition holds; fails the test after `seconds`."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - the condition is somebody else's state
            await asyncio.sleep(0.001)
