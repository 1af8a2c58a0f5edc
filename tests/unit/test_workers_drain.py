"""The loop of every task, over a real ledger and handlers that fail in their own ways."""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from store import jobs
from store.db import Database
from store.errors import StoreBusy
from store.jobs import Job, JobRow
from store.opening import open_database
from workers.drain import Drain, Drained, DrainRules
from workers.outcomes import Done, Outcome
from workers.retry import RetryRules

NOW = 1_800_000_000.0
RULES = DrainRules(lease=10.0, budget=5.0, patience=5.0, retry=RetryRules(2, 1.0, 4.0, 100.0))


class Handler:
    """Answers each job with its subject; `write` is what the test makes of the results."""

    kind = "embed"
    limit = 8
    min_batch = 1
    max_wait = 0.0

    def __init__(self, write: Callable[[str], None] = lambda subject: None) -> None:
        self.written: list[str] = []
        self._write = write

    def ready(self) -> str | None:
        return None

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[str]]:
        return [Done(job, job.subject) for job in claimed]

    def write(self, done: Sequence[Done[str]]) -> None:
        for item in done:
            self._write(item.result)
        self.written += [item.result for item in done]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with open_database(tmp_path / "test.db", clock=lambda: NOW) as found:
        yield found


def owe(db: Database, *subjects: str) -> None:
    jobs.owe_many(db, [JobRow("embed", subject, "default", NOW, NOW) for subject in subjects])


def drain(db: Database, handler: Handler, now: float = NOW) -> Drained:
    ids = itertools.count()
    return asyncio.run(Drain(db, handler, RULES, clock=lambda: now, ids=lambda: f"{now}-{next(ids)}").run())


def states(db: Database) -> dict[str, tuple[str, str | None]]:
    rows: Any = db._execute("test", "SELECT subject, state, reason FROM jobs").fetchall()
    return {subject: (state, reason) for subject, state, reason in rows}


def refuse_b(subject: str) -> None:
    if subject == "b":
        raise ValueError("b cannot be written")


def test_a_result_that_cannot_be_written_fails_alone_and_with_its_reason(db: Database) -> None:
    owe(db, "a", "b", "c")
    handler = Handler(refuse_b)
    assert drain(db, handler) == Drained(done=2, failed=1)
    assert handler.written == ["a", "c"]
    reason = "ValueError: b cannot be written"
    assert states(db) == {"a": ("done", None), "b": ("pending", reason), "c": ("done", None)}
    drain(db, handler, NOW + 50)
    assert states(db)["b"] == ("dead", reason)


def test_a_database_out_of_order_fails_no_job(db: Database) -> None:
    def busy(subject: str) -> None:
        raise StoreBusy("locked")

    owe(db, "a", "b")
    with pytest.raises(StoreBusy):
        drain(db, Handler(busy))
    assert states(db) == {"a": ("running", None), "b": ("running", None)}
    assert drain(db, Handler(), NOW + 11) == Drained(done=2)


def test_a_few_jobs_are_done_when_their_wait_is_over_and_not_at_the_next_sweep(db: Database) -> None:
    handler = Handler()
    handler.min_batch, handler.max_wait = 5, 0.5
    begun = time.time()
    jobs.owe_many(db, [JobRow("embed", "a", "default", begun, begun)])
    ids = itertools.count()
    done = asyncio.run(Drain(db, handler, RULES, clock=time.time, ids=lambda: str(next(ids))).run())
    assert (done, handler.written) == (Drained(done=1), ["a"])
    assert 0.5 <= time.time() - begun < 3.0
