"""Counts what the levels of compaction did for a reply, in Redis and beside the reply: it never waits for it."""

import asyncio
from collections import Counter

from memory.context import Context
from sidestream.keys import Keys
from store.read_counts import add
from store.redis_client import REDIS_ERRORS, AsyncRedis


def levels(context: Context, *, reuse: bool, there: bool) -> list[str]:
    """What there is to count of a context: level 1 where a message was cut, level 2 where the session was so long that
    a checkpoint was to stand in; that failed where there was no room for it or it could not be read, and waits where
    there was none yet."""
    found = ["l1_triggered", "l1_succeeded"] if context.statistics["cut_messages"] else []
    if reuse:
        used = context.statistics["kept"]["checkpoint"]
        unread = any(note.part == "checkpoint" for note in context.degraded)
        found += ["l2_triggered", "l2_succeeded" if used else "l2_failed" if there or unread else "l2_waiting"]
    return found


class Tally:
    """One reader's counts. What cannot be sent is kept and sent with what comes next."""

    def __init__(self, client: AsyncRedis | None, keys: Keys, timeout: float) -> None:
        """`timeout`: seconds for Redis to answer."""
        self._client = client
        self._keys = keys
        self._timeout = timeout
        self._counts: Counter[str] = Counter()
        self._sending: asyncio.Task[None] | None = None

    def add(self, names: list[str]) -> None:
        """Counts each of `names` once."""
        self._counts.update(names)
        if names and self._client is not None and (self._sending is None or self._sending.done()):
            self._sending = asyncio.create_task(self._send(self._client))

    async def aclose(self) -> None:
        """Waits for what is on its way."""
        if self._sending is not None:
            await self._sending

    async def _send(self, client: AsyncRedis) -> None:
        while self._counts:
            counts, self._counts = self._counts, Counter()
            try:
                async with asyncio.timeout(self._timeout):
                    await add(client, self._keys, counts)
            except REDIS_ERRORS:
                # Where the answer alone was lost, these are counted twice; a count of reads can bear that.
                self._counts += counts
                return
