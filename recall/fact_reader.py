"""Reads of facts and of the timeline for one event loop: one, many, their history and their reasons."""

import time
from collections.abc import Callable, Sequence

from memory.facts.model import Change
from memory.retention import Policy
from memory.types import Scope, TimelineEntry, TimelineLevel
from memory.weights import WeightPolicy
from recall.database import ReadDatabase
from recall.explain import Explanation, explain
from store import fact_reading, facts, timeline
from store.db import Database
from store.fact_reading import FactFilter, KnownFact

_EVER = (float("-inf"), float("inf"))


class FactReader:
    """Every method may raise StoreError where SQLite cannot be read. `policy` says what weights come to, `retention`
    what becomes of what is not recalled any more."""

    def __init__(
        self,
        db: ReadDatabase,
        policy: WeightPolicy,
        *,
        retention: Policy | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.policy = policy
        self._retention = Policy() if retention is None else retention
        self.clock = clock
        self._db = db

    async def one(self, scope: Scope, memory_id: str) -> KnownFact | None:
        """A fact of the scope, whatever its status; None where there is none."""
        return await self._db.read(lambda db: fact_reading.one(db, scope, memory_id))

    async def page(
        self, scope: Scope, which: FactFilter, limit: int, offset: int = 0
    ) -> tuple[Sequence[KnownFact], int]:
        """Facts, pinned ones first, then the heaviest; and how many match in all."""
        return await self._db.read(lambda db: fact_reading.page(db, scope, which, limit, offset))

    async def history(self, scope: Scope, memory_id: str) -> list[Change]:
        """All changes of a fact, oldest first; of one that was destroyed, that it was."""
        return await self._db.read(lambda db: facts.history(db, scope, memory_id))

    async def explain(self, scope: Scope, memory_id: str) -> Explanation | None:
        """Where a fact comes from, why it is as it is, when it will be forgotten; None where there is none."""

        def work(db: Database) -> Explanation | None:
            return explain(db, scope, memory_id, self.policy, self._retention, self.clock())

        return await self._db.read(work)

    async def timeline(
        self,
        scope: Scope,
        *,
        since: float | None = None,
        until: float | None = None,
        level: TimelineLevel | None = None,
        limit: int = 10,
    ) -> list[TimelineEntry]:
        """What happened, newest first: entries that touch [since, until] (unix seconds). Without a `level` each moment
        stands in one entry."""
        start = _EVER[0] if since is None else since
        end = _EVER[1] if until is None else until
        return await self._db.read(
            lambda db: timeline.newest(db, scope, level=level, start=start, end=end, limit=limit)
        )

    def close(self) -> None:
        """Closes the connection."""
        self._db.close()
