"""The loop of every task: claim due jobs, work on them with no transaction open, write results and states
together.

While a model is at work the jobs' leases are renewed; whoever loses one drops its result, since another has
the job.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from config.logging import get_logger
from store import jobs
from store.db import Database
from store.errors import LeaseLost, StoreBusy
from store.jobs import Job
from workers import faults
from workers.counting import count_ended
from workers.errors import OUTAGES
from workers.outcomes import Done, Failed, Outcome
from workers.retry import RetryRules, retry_at

log = get_logger("drain")

R = TypeVar("R")
# Jobs whose workers died without a word this often are worked on one by one, so that the one to blame dies
# alone.
SUSPECT_ATTEMPTS = 3
_WRITE_CHUNK = 16
# Seconds between two looks at jobs that wait for company.
_LOOK_AGAIN = 0.2


class Handler(Protocol[R]):
    """One kind of work. `limit` is the most jobs of one claim; fewer than `min_batch` wait up to `max_wait`
    seconds."""

    kind: str
    limit: int
    min_batch: int
    max_wait: float

    def ready(self) -> str | None:
        """None if it can work, else why not; its jobs then stay as they are."""
        ...

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[R]]:
        """One outcome a job. May read the database, may not leave a transaction open; may raise LlmError
        for all."""
        ...

    def write(self, done: Sequence[Done[R]]) -> None:
        """Writes results, inside the transaction that marks their jobs done."""
        ...


@dataclass(frozen=True, slots=True)
class DrainRules:
    """Seconds: the jobs' lease, how long one task goes on, and how long one claim may be worked on."""

    lease: float
    budget: float
    patience: float
    retry: RetryRules


@dataclass(frozen=True, slots=True)
class Drained:
    """What a drain came to; `more` where it stopped at the end of its time and not of its work."""

    done: int = 0
    failed: int = 0
    more: bool = False


class Drain(Generic[R]):
    """Drains one kind of job through one connection."""

    def __init__(
        self,
        db: Database,
        handler: Handler[R],
        rules: DrainRules,
        *,
        clock: Callable[[], float],
        ids: Callable[[], str],
        monotonic: Callable[[], float] = time.monotonic,
        in_order: Sequence[str] = (),
    ) -> None:
        """`in_order`: kinds whose jobs of one scope are worked on one after the other."""
        self._in_order = in_order
        self._db = db
        self._handler = handler
        self._rules = rules
        self._clock = clock
        self._ids = ids
        self._monotonic = monotonic
        self._end = 0.0

    async def run(self) -> Drained:
        """Until nothing is due, something fails for all, or the time is over.

        Raises:
            StoreError: SQLite refused; claimed jobs come back when their leases lapse.
        """
        done = failed = 0
        self._end = self._monotonic() + self._rules.budget
        while self._monotonic() < self._end:
            claimed = self._isolate(self._claim())
            if not claimed:
                if not self._in_order and await self._company():
                    continue
                return Drained(done, failed)
            faults.reach("task.after_claim")
            outcomes = await self._outcomes(claimed)
            faults.reach("task.before_write")
            written = self._write(outcomes)
            faults.reach("task.after_write")
            done += written
            failed += len(outcomes) - written
            if any(isinstance(outcome, Failed) and outcome.passing for outcome in outcomes):
                # What failed may pass, but not by trying the next batch at once.
                return Drained(done, failed)
        return Drained(done, failed, more=True)

    async def _company(self) -> bool:
        """Waits a moment for the company that what is due waits for; False where there is nothing to wait for, or no
        time."""
        wait = jobs.wait_for_company(
            self._db,
            self._handler.kind,
            self._clock(),
            min_batch=self._handler.min_batch,
            max_wait=self._handler.max_wait,
        )
        if wait is None or self._monotonic() + wait >= self._end:
            return False
        await asyncio.sleep(min(wait, _LOOK_AGAIN))
        return True

    def _claim(self) -> list[Job]:
        handler = self._handler
        return jobs.claim(
            self._db,
            handler.kind,
            limit=handler.limit,
            lease=self._rules.lease,
            now=self._clock(),
            token=self._ids(),
            min_batch=handler.min_batch,
            max_wait=handler.max_wait,
            in_order=self._in_order,
        )

    def _isolate(self, claimed: list[Job]) -> list[Job]:
        """Gives all but one suspect back, and buries those that have killed too many workers."""
        suspects = [job for job in claimed if job.attempts > SUSPECT_ATTEMPTS and job.reason is None]
        if not suspects:
            return claimed
        now = self._clock()
        deadly = [job for job in suspects if job.attempts > self._rules.retry.max_attempts]
        for job in deadly:
            reason = f"its worker died or ran out of time {job.attempts - 1} times"
            log.error("job_dead", kind=job.kind, subject=job.subject, reason=reason)
            jobs.fail(self._db, job, reason, now, None)
        kept = [job for job in suspects if job not in deadly][:1] or [job for job in claimed if job not in suspects]
        jobs.release(self._db, [job for job in claimed if job not in kept and job not in deadly], now)
        return kept

    async def _outcomes(self, claimed: list[Job]) -> list[Outcome[R]]:
        """One outcome a job, or none at all where the leases were lost meanwhile."""
        task = asyncio.ensure_future(self._attempt(claimed))
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=self._rules.lease / 3)
                if not task.done():
                    self._renew(claimed)
            return task.result()
        except LeaseLost as error:
            log.warning("lease_lost", kind=self._handler.kind, jobs=len(claimed), reason=str(error))
            return []
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _attempt(self, claimed: list[Job]) -> list[Outcome[R]]:
        """The handler's outcomes. Where it raises, all jobs share the failure, or each is tried alone to
        find whose it is; those for which no time is left keep their lease until it lapses."""
        try:
            async with asyncio.timeout(self._rules.patience):
                return await self._handler.work(claimed)
        except Exception as error:  # the edge: each job must end with an outcome
            failure = self._rules.retry.classify(error)
            log.warning(
                "work_failed",
                kind=self._handler.kind,
                jobs=len(claimed),
                reason=failure.reason,
                exc_info=None if failure.known else error,
            )
            if failure.shared or len(claimed) == 1:
                return [failure.outcome(job) for job in claimed]
        outcomes: list[Outcome[R]] = []
        for job in claimed:
            if self._monotonic() >= self._end:
                break
            outcomes += await self._attempt([job])
        return outcomes

    def _renew(self, claimed: list[Job]) -> None:
        try:
            jobs.renew(self._db, claimed, self._rules.lease, self._clock())
        except StoreBusy as error:
            # Two thirds of the lease are left, and another try comes before they are over.
            log.warning("lease_not_renewed", kind=self._handler.kind, reason=str(error))

    def _write(self, outcomes: list[Outcome[R]]) -> int:
        """Writes in small transactions, so that the consumer never waits long; how many results were
        written."""
        done = [outcome for outcome in outcomes if isinstance(outcome, Done)]
        written = 0
        for start in range(0, len(done), _WRITE_CHUNK):
            written += self._write_done(done[start : start + _WRITE_CHUNK])
        for outcome in outcomes:
            if isinstance(outcome, Failed):
                self._write_failed(outcome)
        return written

    def _write_done(self, chunk: list[Done[R]]) -> int:
        try:
            with self._db.atomic():
                self._handler.write(chunk)
                jobs.finish(self._db, [item.job for item in chunk], self._clock())
                count_ended(self._db, self._handler.kind, "succeeded", len(chunk))
        except LeaseLost as error:
            log.warning("result_dropped", kind=self._handler.kind, jobs=len(chunk), reason=str(error))
            return 0
        except OUTAGES:
            raise
        except Exception as error:  # a result that cannot be written must not stop the rest
            log.error("result_not_written", kind=self._handler.kind, jobs=len(chunk), exc_info=error)
            if len(chunk) > 1:
                return sum(self._write_done([item]) for item in chunk)
            self._write_failed(Failed(chunk[0].job, f"{type(error).__name__}: {error}", "surprise"))
            return 0
        return len(chunk)

    def _write_failed(self, failed: Failed) -> None:
        job, now = failed.job, self._clock()
        again = retry_at(failed, now, self._rules.retry)
        if again is None:
            log.error("job_dead", kind=job.kind, subject=job.subject, attempts=job.attempts, reason=failed.reason)
        try:
            with self._db.atomic():
                jobs.fail(self._db, job, failed.reason, now, again)
                count_ended(self._db, job.kind, "failed", 1)
        except LeaseLost as error:
            log.warning("failure_dropped", kind=job.kind, subject=job.subject, reason=str(error))
