"""Publishes a session's events in order, and keeps those that could not be published until they can."""

import asyncio
from collections import deque
from typing import Protocol

from config.logging import get_logger
from sidestream.errors import PublishError
from sidestream.event_base import Event

_log = get_logger("actors")


class Accepted(Protocol):
    """What a publisher answers: the event is durable, in Redis or in its spool."""

    @property
    def spooled(self) -> bool:
        """It waits in the spool, because Redis is away."""
        ...


class EventPublisher(Protocol):
    """The part of sidestream's asynchronous publisher that the actors use."""

    async def publish(self, event: Event) -> Accepted:
        """Makes the event durable.

        Raises:
            PublishError: it was not accepted; nothing of it was kept.
            InvalidEvent: it breaks the contract.
        """
        ...


class Recorder:
    """One session's way to the publisher. Events that it had to keep go first, so order holds."""

    def __init__(self, publisher: EventPublisher) -> None:
        self._publisher = publisher
        self._kept: deque[Event] = deque()
        self._turn = asyncio.Lock()
        self.spooled = False
        """The newest event waits in the publisher's spool."""

    @property
    def kept(self) -> int:
        """How many events wait here, in memory alone."""
        return len(self._kept)

    async def require(self, event: Event) -> None:
        """Publishes an event that must be durable before anything else is done.

        Raises:
            PublishError: it was not accepted, or an earlier one is still waiting to be.
            InvalidEvent: it breaks the contract.
        """
        async with self._turn:
            await self._flush()
            self.spooled = (await self._publisher.publish(event)).spooled

    async def record(self, event: Event) -> bool:
        """Publishes an event, or keeps it for the next call; whether it is durable.

        Raises:
            InvalidEvent: it breaks the contract.
        """
        async with self._turn:
            self._kept.append(event)
            try:
                await self._flush()
            except PublishError as error:
                _log.error("event_kept", type=event.type, kept=len(self._kept), error=str(error))
                return False
        return True

    async def flush(self) -> int:
        """Tries to publish what was kept; how many events still wait."""
        async with self._turn:
            try:
                await self._flush()
            except PublishError as error:
                _log.warning("events_still_kept", kept=len(self._kept), error=str(error))
        return len(self._kept)

    async def _flush(self) -> None:
        while self._kept:
            self.spooled = (await self._publisher.publish(self._kept[0])).spooled
            self._kept.popleft()
