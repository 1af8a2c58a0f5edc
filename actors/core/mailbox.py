"""A bounded queue of envelopes with one reader."""

import asyncio
from collections import deque

from actors.core.envelope import Envelope
from actors.errors import ActorStopped, MailboxFull


class Mailbox:
    """First in, first out. Belongs to one event loop; no method blocks but `get`."""

    def __init__(self, owner: str, limit: int) -> None:
        self._owner = owner
        self._limit = limit
        self._items: deque[Envelope] = deque()
        self._closed = False
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def closed(self) -> bool:
        """True once `close` was called."""
        return self._closed

    def put(self, envelope: Envelope, *, urgent: bool = False) -> None:
        """Appends an envelope; an urgent one goes to the front whatever the bound.

        Raises:
            ActorStopped: the mailbox is closed.
            MailboxFull: `limit` envelopes are waiting.
        """
        if self._closed:
            raise ActorStopped(f"{self._owner} has stopped")
        if urgent:
            self._items.appendleft(envelope)
        elif len(self._items) >= self._limit:
            raise MailboxFull(f"{self._owner} has {self._limit} messages waiting")
        else:
            self._items.append(envelope)
        self._changed.set()

    async def get(self, timeout: float | None = None) -> Envelope | None:  # noqa: ASYNC109 - None is an answer here
        """The next envelope; None when the mailbox is closed or nothing came for `timeout` seconds."""
        while not self._items:
            if self._closed:
                return None
            self._changed.clear()
            try:
                async with asyncio.timeout(timeout):
                    await self._changed.wait()
            except TimeoutError:
                if not self._items:
                    return None
        return self._items.popleft()

    def close(self) -> list[Envelope]:
        """Takes no more; returns what was left, oldest first."""
        self._closed = True
        left = list(self._items)
        self._items.clear()
        self._changed.set()
        return left
