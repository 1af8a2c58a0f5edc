"""Extraction is counted where it is written: windows that are fixed, extracted, and attempts that failed."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from llm.errors import Unreachable
from store import counters, jobs
from store.jobs import Job
from tests.unit.compaction_support import DRAIN
from tests.unit.workers_support import NOW, Bench, message
from workers.drain import Drain, Drained
from workers.outcomes import Done, Outcome


class Extractor:
    """Does nothing with a window, or fails as its model does."""

    kind = "extract"
    limit = 8
    min_batch = 1
    max_wait = 0.0

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def ready(self) -> str | None:
        return None

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[str]]:
        if self._error is not None:
            raise self._error
        return [Done(job, job.subject) for job in claimed]

    def write(self, done: Sequence[Done[str]]) -> None:
        """Nothing comes of it."""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.db.close()


def drain(bench: Bench, extractor: Extractor) -> Drained:
    later = NOW + 86_400.0
    return asyncio.run(Drain(bench.db, extractor, DRAIN, clock=lambda: later, ids=lambda: "t").run())


def extraction(bench: Bench) -> dict[str, int]:
    found = counters.all_counters(bench.db).items()
    return {name: value for name, value in found if name.startswith("extraction")}


def test_windows_and_what_became_of_them_are_counted(bench: Bench) -> None:
    bench.apply(message(), {"type": "session.ended", "session_id": "s1", "id": "end"})
    owed = jobs.stats(bench.db)["extract"]["pending"]
    assert extraction(bench) == {"extraction_triggered": owed} and owed > 0
    drain(bench, Extractor(Unreachable("away")))
    assert extraction(bench) == {"extraction_triggered": owed, "extraction_failed": owed}
    bench.db.script("due", "UPDATE jobs SET due_at = 0")
    assert drain(bench, Extractor()).done == owed
    assert extraction(bench)["extraction_succeeded"] == owed
