"""A session that is stored by the consumer's own code and compacted by the tasks' own, over a real database."""

import asyncio
import itertools
from pathlib import Path
from typing import Any

from llm.ports import ChatModel
from memory.compaction.thresholds import CompactionRules
from memory.types import Scope
from store import checkpoints, jobs, messages
from store.checkpoints import Checkpoint
from store.jobs import Job
from tests.unit.workers_support import Bench, message
from workers.batch import IngestRules
from workers.compact import CompactHandler, CompactOptions
from workers.drain import Drain, Drained, DrainRules
from workers.retry import RetryRules
from workers.timeline import TimelineHandler

ANN = Scope("default", session_id="s1")
OPTIONS = CompactOptions(
    tokens=400, step=600, lease=120.0, cut=2_000, attempts=2, keep=2, template="{words} {language}"
)
DRAIN = DrainRules(lease=10.0, budget=50.0, patience=50.0, retry=RetryRules(8, 1.0, 4.0, 100.0))


class Session:
    """One session `s1`; its messages are `m1`, `m2` and so on unless they are given."""

    def __init__(self, folder: Path, model: ChatModel | None = None, options: CompactOptions = OPTIONS) -> None:
        rules = CompactionRules(window_tokens=1_000_000, window_messages=12, keep=2)
        self.bench = Bench(folder, IngestRules(10, 1_000, rules, 100))
        self.db = self.bench.db
        self.model = model
        self.options = options
        self._ids = itertools.count()
        self.said = 0

    def say(self, *texts: str) -> None:
        """User and assistant in turns."""
        for text in texts:
            self.said += 1
            self.bench.apply(message(role="user" if self.said % 2 else "assistant", content=text))

    def chat(self, count: int) -> None:
        """So many further messages."""
        self.say(*(f"m{self.said + n + 1}" for n in range(count)))

    def reset(self) -> None:
        """Empties the window."""
        self.bench.apply({"type": "session.reset", "session_id": "s1", "id": f"reset-{next(self._ids)}"})

    def handler(self) -> CompactHandler:
        """The handler as a task makes it."""
        return CompactHandler(self.db, self.model, self.options, clock=lambda: self.bench.now)

    def claim(self, limit: int = 1) -> list[Job]:
        """Due compactions, as a task claims them."""
        token, now = f"token-{next(self._ids)}", self.bench.now
        return jobs.claim(self.db, "compact", limit=limit, lease=10.0, now=now, token=token)

    def teller(self) -> TimelineHandler:
        """The timeline's handler as a task makes it."""
        return TimelineHandler(self.db, clock=lambda: self.bench.now)

    def ended(self) -> list[Job]:
        """The session ends; the job that is owed for its timeline, as a task claims it."""
        self.bench.apply({"type": "session.ended", "session_id": "s1", "id": f"end-{next(self._ids)}"})
        token, now = f"token-{next(self._ids)}", self.bench.now
        return jobs.claim(self.db, "timeline", limit=1, lease=10.0, now=now, token=token)

    def drain(self) -> Drained:
        """Compacts what is due, then writes the timeline."""
        done = asyncio.run(self._drain(self.handler()))
        asyncio.run(self._drain(self.teller()))
        return done

    @property
    def active(self) -> Checkpoint | None:
        """The checkpoint that readers see."""
        return checkpoints.active(self.db, ANN)

    def window(self) -> list[str]:
        """All messages that stand verbatim after it."""
        with self.db.snapshot():
            found = self.active
            return [m.content for m in messages.window(self.db, ANN, 10_000, found.boundary_seq if found else 0)]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of any SQL."""
        return self.bench.rows(sql)

    async def _drain(self, handler: Any) -> Drained:
        ids = (f"drain-{next(self._ids)}" for _ in itertools.count())
        return await Drain(self.db, handler, DRAIN, clock=lambda: self.bench.now, ids=lambda: next(ids)).run()
