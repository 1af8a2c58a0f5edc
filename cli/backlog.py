"""How much the workers still have before them: room for more events, and whether everything is done."""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from cli.errors import CheckFailed, Unavailable
from config.settings import Settings
from llm.factory import embeds
from recall.database import ReadDatabase
from sidestream.keys import Keys
from store import dead_letters, jobs
from store.errors import StoreError, StoreUnavailable
from store.redis_client import REDIS_ERRORS, AsyncRedis

_POLL = 0.1
_SETTLES = 2.0
"""Longer than a reader remembers that a file could not be opened."""


def handled(found: Settings) -> dict[str, str]:
    """Kinds of job that get done with these settings, each with the word for a thing it was done to.

    Others wait: for a handler of theirs, or for an embedder to be configured.
    """
    return {"embed": "embedded", "summarise": "summarised"} if embeds(found) else {"summarise": "summarised"}


def words(kinds: Mapping[str, str]) -> str:
    """What is done to everything, as in `stored, embedded and summarised`."""
    *others, last = ["stored", *kinds.values()]
    return f"{', '.join(others)} and {last}"


@dataclass(frozen=True, slots=True)
class Owed:
    """Events that are not stored, and jobs that are not done by kind."""

    events: int
    jobs: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """0 when everything is done."""
        return self.events + sum(self.jobs.values())


class Backlog:
    """Looks at Redis and SQLite for one command.

    `patience`: seconds without progress before it gives up; `kinds`: the kinds of job that are waited for.
    """

    def __init__(
        self,
        redis: AsyncRedis,
        keys: Keys,
        database: ReadDatabase,
        *,
        patience: float,
        kinds: Collection[str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._redis = redis
        self._keys = keys
        self._database = database
        self._patience = patience
        self._kinds = kinds
        self._clock = clock

    async def room(self, more: int, bound: int) -> None:
        """Waits until `more` events fit into a stream of at most `bound`: Redis is not filled without end.

        Raises:
            CheckFailed: nobody takes events out of the stream.
            Unavailable: Redis does not answer.
        """
        watch = _Watch(self._patience, self._clock)
        while (waiting := await self._events()) and waiting + more > bound:
            if watch.stands_still(waiting):
                raise CheckFailed(
                    f"{waiting} events wait in Redis and no worker has taken one for {self._patience:.0f} s; "
                    "start the workers (`sidestream up`) and import again: it goes on where it stopped"
                )
            await asyncio.sleep(_POLL)

    async def done(self, told: Callable[[Owed], None]) -> Owed:
        """Waits until every event is stored and its jobs are done; `told` hears how it stands.

        Raises:
            CheckFailed: the workers make no progress.
            Unavailable: Redis or SQLite does not answer.
        """
        watch = _Watch(self._patience, self._clock)
        while True:
            owed = await self.owed()
            told(owed)
            if not owed.total:
                return owed
            if watch.stands_still(owed.total):
                raise CheckFailed(
                    f"the workers have made no progress for {self._patience:.0f} s, and {owed.total} things "
                    "are still to be done; see `sidestream status`"
                )
            await asyncio.sleep(_POLL)

    async def owed(self) -> Owed:
        """How it stands now. The stream is looked at first: what leaves it meanwhile shows as a job."""
        events = await self._events()
        try:
            states = await self._states()
        except StoreError as error:
            if events:
                return Owed(events)
            raise Unavailable(str(error)) from error
        open_jobs = {kind: states.get(kind, {}) for kind in self._kinds}
        return Owed(
            events,
            {kind: found.get("pending", 0) + found.get("running", 0) for kind, found in open_jobs.items()},
        )

    async def newest_letter(self) -> int:
        """Number of the newest dead letter; 0 where there is none, or no database yet."""
        try:
            return await self._database.read(dead_letters.newest)
        except StoreUnavailable:
            return 0
        except StoreError as error:
            raise Unavailable(str(error)) from error

    async def dead_since(self, number: int) -> int:
        """How many events and jobs died after dead letter `number`."""
        try:
            return await self._database.read(lambda db: dead_letters.count_since(db, number))
        except StoreError as error:
            raise Unavailable(str(error)) from error

    async def _states(self) -> dict[str, dict[str, int]]:
        """Jobs by kind and state. A database that was just being made is looked at again before it is given up."""
        end = self._clock() + _SETTLES
        while True:
            try:
                return await self._database.read(jobs.stats)
            except StoreUnavailable:
                if self._clock() >= end:
                    raise
            await asyncio.sleep(_POLL)

    async def _events(self) -> int:
        try:
            return int(await self._redis.xlen(self._keys.events))
        except REDIS_ERRORS as error:
            raise Unavailable(f"Redis does not answer: {error}") from error


class _Watch:
    """Tells when a number has not changed for too long."""

    def __init__(self, patience: float, clock: Callable[[], float]) -> None:
        self._patience = patience
        self._clock = clock
        self._last: int | None = None
        self._since = clock()

    def stands_still(self, number: int) -> bool:
        now = self._clock()
        if number != self._last:
            self._last, self._since = number, now
        return now - self._since >= self._patience
