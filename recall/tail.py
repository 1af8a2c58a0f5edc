"""The tail as a reader needs it: under a deadline, and never an error."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from memory.types import Degraded, Scope, StoredMessage
from sidestream.keys import Keys
from store.redis_client import REDIS_ERRORS, AsyncRedis
from store.tail import opened_by, parse_tail, tail_entries

_PAUSE = 1.0
"""Seconds for which Redis is left alone after it did not answer in time: not every reply must wait for it."""


@dataclass(frozen=True, slots=True)
class TailRead:
    """`messages` oldest first; `unread` events in the whole stream, None where Redis could not be asked."""

    messages: list[StoredMessage] = field(default_factory=list)
    unread: int | None = None
    degraded: Degraded | None = None


@dataclass(frozen=True, slots=True)
class Whose:
    """Of whom a session's tail is shown (`user_id` None: everybody), and whose the session is (see store.tail)."""

    user_id: str | None
    owner: str | None


class TailReader:
    """Reads the tails of one event loop's sessions."""

    def __init__(
        self,
        client: AsyncRedis | None,
        keys: Keys,
        *,
        limit: int,
        timeout: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`limit`: most messages of a tail that are read; `timeout`: seconds for a read."""
        self._client = client
        self._keys = keys
        self._limit = limit
        self._timeout = timeout
        self._monotonic = monotonic
        self._silent_until = 0.0

    async def read(self, scope: Scope, whose: Callable[[Scope], Awaitable[Whose]]) -> TailRead:
        """The session's tail; none where the scope names no session.

        `whose` is asked after the tail was read: what it then does not know of the session is in the tail.
        """
        if self._client is None:
            return TailRead(degraded=Degraded("tail", "no Redis is configured"))
        if self._monotonic() < self._silent_until:
            return TailRead(degraded=Degraded("tail", "Redis did not answer in time a moment ago"))
        namespace, session_id = scope.namespace, scope.session_id
        try:
            async with asyncio.timeout(self._timeout):
                unread = int(await self._client.xlen(self._keys.events))
                if session_id is None:
                    return TailRead(unread=unread)
                entries = await tail_entries(self._client, self._keys, namespace, session_id, self._limit)
        except TimeoutError:
            self._silent_until = self._monotonic() + _PAUSE
            return TailRead(degraded=Degraded("tail", "Redis did not answer in time"))
        except REDIS_ERRORS as error:
            return TailRead(degraded=Degraded("tail", f"Redis is away: {error}"))
        found = await whose(scope)
        if found.owner is None:
            found = await self._as_opened(found, namespace, session_id)
        tail = parse_tail(entries, namespace, session_id, found.user_id, found.owner)
        broken = Degraded("tail", f"{tail.broken} entries could not be read") if tail.broken else None
        return TailRead(tail.messages, unread, broken)

    async def _as_opened(self, asked: Whose, namespace: str, session_id: str) -> Whose:
        """For a session of which nothing is stored: its first event need not be a message."""
        assert self._client is not None
        try:
            async with asyncio.timeout(self._timeout):
                opened = await opened_by(self._client, self._keys, namespace, session_id)
        except REDIS_ERRORS:
            # The tail's first message then tells, as it does for a session that no publisher began.
            return asked
        return asked if opened is None else Whose(None if opened.shared else asked.user_id, opened.user_id)
