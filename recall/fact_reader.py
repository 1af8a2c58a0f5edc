"""Reads of facts and of the timeline for one event loop: one, many, their history and their reasons."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory.facts.model import Change
from memory.retention import Policy
from memory.timeline_recall import recalled
from memory.types import Scope, TimelineEntry, TimelineLevel
from memory.weights import WeightPolicy
from recall.database import ReadDatabase
from recall.explain import Explanation, explain
from store import fact_reading, facts, sessions, timeline
from store.db import Database
from store.fact_reading import FactFilter, KnownFact

_EVER = (float("-inf"), float("inf"))
_SEARCHED = 1_000
"""Newest entries among which a topic is looked for; a timeline is kept for three months."""


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

    async def data_source(self, scope: Scope) -> str | None:
        """The source that the scope's session is about; None for one that is about none, or is not stored yet."""

        def work(db: Database) -> str | None:
            session = sessions.get(db, scope)
            return None if session is None else session.data_source

        return await self._db.read(work)

    async def timeline(
        self,
        scope: Scope,
        *,
        since: float | None = None,
        until: float | None = None,
        level: TimelineLevel | None = None,
        topic: str | None = None,
        limit: int = 10,
    ) -> list[TimelineEntry]:
        """What happened: entries that touch [since, until] (unix seconds).

        Without a topic newest first, of the scope's session alone if it names one; without a `level` each moment
        stands in one entry. With a topic the newest of that session come first, then what tells of the topic in any of
        the user's sessions, best first; without a `level` of sessions' entries, which tell most.
        """
        start = _EVER[0] if since is None else since
        end = _EVER[1] if until is None else until

        def newest(db: Database, whose: Scope, most: int) -> list[TimelineEntry]:
            which = level or (None if topic is None else "session")
            return timeline.newest(db, whose, level=which, start=start, end=end, limit=most)

        if topic is None:
            return await self._db.read(lambda db: newest(db, scope, limit))
        asked, everywhere = topic, replace(scope, session_id=None)

        def work(db: Database) -> list[TimelineEntry]:
            own = newest(db, scope, _SEARCHED) if scope.session_id is not None else []
            return recalled(asked, own, newest(db, everywhere, _SEARCHED), limit)

        return await self._db.read(work)

    def close(self) -> None:
        """Closes the connection."""
        self._db.close()
