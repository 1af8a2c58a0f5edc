"""The nightly run: steps that go on where they were killed, each night once.

A step works in slices. What a slice does in SQLite, the cursor that stands behind it, and what it came to are
committed together; what it must do outside of a transaction (write an archive file) comes before, and does no
harm when it is done again. A lease lets one process at a time work on a night; what makes a night run once is its
row.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from config.logging import get_logger
from memory.nights import Night
from memory.retention import Policy
from store import leases
from store.archive import Archive
from store.db import Database, Row
from store.errors import LeaseLost, StoreBusy, StoreError
from store.leases import Lease

log = get_logger("nightly")

LEASE: Final = "nightly"
LEASE_SECONDS: Final = 300.0
RETRY_AFTER: Final = 600.0
"""Seconds after which steps that failed are tried again."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the steps go by. `batch` is rows a transaction, `pause` seconds between two of them."""

    policy: Policy = field(default_factory=Policy)
    batch: int = 200
    pause: float = 0.05


@dataclass(frozen=True, slots=True)
class Context:
    """What a step works with. `moment` (unix seconds) is when the night began: ages count up to there, so that a
    run which goes on later does the same; `now` is the clock."""

    db: Database
    archive: Archive
    rules: Rules
    night: str
    moment: float
    now: float


@dataclass(frozen=True, slots=True)
class Slice:
    """What one slice came to; `cursor` None where the step is done."""

    cursor: str | None = None
    seen: int = 0
    kept: int = 0
    archived: int = 0
    deleted: int = 0


class Step(Protocol):
    """One step. It is called again and again with the cursor that it gave last, "" at first."""

    @property
    def name(self) -> str:
        """Its name, in reports and cursors."""
        ...

    def due(self, context: Context) -> int:
        """How much there is to do, as far as it can be told beforehand."""
        ...

    def prepare(self, context: Context, cursor: str) -> Any:
        """What must be done outside of a transaction; repeating it does no harm."""
        ...

    def apply(self, context: Context, cursor: str, prepared: Any) -> Slice:
        """The slice's own work, inside a transaction."""
        ...


@dataclass(frozen=True, slots=True)
class StepReport:
    """How one step stands. `seconds` is time at work, pauses left out."""

    step: str
    state: str
    seen: int
    kept: int
    archived: int
    deleted: int
    seconds: float
    reason: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """How a night stands. `due` is what each step had to do, counted before the first began."""

    night: str
    moment: float
    state: str
    due: dict[str, int]
    started_at: float
    finished_at: float | None
    steps: tuple[StepReport, ...]

    @property
    def failed(self) -> dict[str, str]:
        """Reasons by step, of those that failed and will be tried again."""
        return {s.step: s.reason or "" for s in self.steps if s.state == "failed"}


class Nightly:
    """Runs nights over one database. `reach` is called at each moment at which a crash could matter."""

    def __init__(
        self,
        archive: Archive,
        steps: Sequence[Step],
        rules: Rules,
        *,
        owner: str,
        clock: Callable[[], float],
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        reach: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._db = archive.db
        self._archive = archive
        self._steps = steps
        self._rules = rules
        self._owner = owner
        self._clock = clock
        self._sleep = sleep
        self._monotonic = monotonic
        self._reach = reach

    def run(self, night: Night, budget: float = float("inf")) -> Report | None:
        """Works on the night for up to `budget` seconds; how it stands then. None while another process works on
        it. A night that is done is left as it is.

        Raises:
            StoreError: SQLite refused; what was committed stands, and the next call goes on.
        """
        now = self._clock()
        lease = leases.acquire(self._db, LEASE, self._owner, LEASE_SECONDS, now)
        if lease is None:
            return None
        try:
            self._begin(night, now)
            found = report(self._db, night.day)
            assert found is not None
            if found.state != "done":
                self._work(night, found, lease, self._monotonic() + budget)
        finally:
            leases.release(self._db, lease)
        return report(self._db, night.day)

    def statistics(self, night: Night) -> dict[str, int]:
        """What each step would have to do, -1 where that cannot be told; nothing is written."""
        context = self._context(night)
        return {step.name: _due(step, context) for step in self._steps}

    def _begin(self, night: Night, now: float) -> None:
        if self._db.one("nightly_run", night=night.day) is not None:
            return
        due = json.dumps(self.statistics(night))
        with self._db.atomic():
            self._db.run("nightly_begin", night=night.day, moment=night.moment, due=due, now=now)
        self._reach("begun")

    def _work(self, night: Night, found: Report, lease: Lease, end: float) -> None:
        done = {s.step for s in found.steps if s.state == "done"}
        for step in self._steps:
            if step.name not in done and not self._step(night, step, lease, end):
                return
        with self._db.atomic():
            leases.hold(self._db, lease, self._clock())
            now = self._clock()
            self._db.run("nightly_settle", night=night.day, now=now, retry_at=now + RETRY_AFTER)
        self._reach("settled")

    def _step(self, night: Night, step: Step, lease: Lease, end: float) -> bool:
        """Runs a step to its end; False where the time is over first. A step that fails is noted, and the others
        go on."""
        row = self._db.one("nightly_step", night=night.day, step=step.name)
        cursor: str | None = row["cursor"] if row is not None else ""
        while cursor is not None:
            if self._monotonic() >= end:
                return False
            try:
                cursor = self._slice(night, step, cursor, lease)
            except (LeaseLost, StoreBusy):
                raise
            except StoreError as error:
                self._fail(night, step, error)
                return True
            if cursor is not None:
                self._sleep(self._rules.pause)
        return True

    def _slice(self, night: Night, step: Step, cursor: str, lease: Lease) -> str | None:
        began = self._monotonic()
        context = self._context(night)
        prepared = step.prepare(context, cursor)
        self._reach(f"{step.name}.prepared")
        with self._db.atomic():
            leases.hold(self._db, lease, self._clock())
            found = step.apply(context, cursor, prepared)
            self._save(night, step, found, self._monotonic() - began)
            self._reach(f"{step.name}.applied")
        self._reach(f"{step.name}.committed")
        return found.cursor

    def _save(self, night: Night, step: Step, found: Slice, seconds: float) -> None:
        self._db.run(
            "nightly_save",
            night=night.day,
            step=step.name,
            state="done" if found.cursor is None else "running",
            cursor=found.cursor or "",
            seen=found.seen,
            kept=found.kept,
            archived=found.archived,
            deleted=found.deleted,
            seconds=seconds,
        )

    def _fail(self, night: Night, step: Step, error: StoreError) -> None:
        reason = f"{type(error).__name__}: {error}"
        log.error("nightly_step_failed", night=night.day, step=step.name, reason=reason)
        with self._db.atomic():
            self._db.run("nightly_fail", night=night.day, step=step.name, reason=reason)

    def _context(self, night: Night) -> Context:
        return Context(self._db, self._archive, self._rules, night.day, night.moment, self._clock())


def _due(step: Step, context: Context) -> int:
    try:
        return step.due(context)
    except StoreBusy:
        raise
    except StoreError:  # the step itself will say what is wrong
        return -1


def due(db: Database, night: Night, now: float) -> bool:
    """Whether there is something to do for this night at `now`: it has not been done, no failed step of it waits,
    and the database is old enough to have anything for it."""
    row = db.one("nightly_run", night=night.day)
    if row is not None:
        waits = row["retry_at"] is not None and now < row["retry_at"] <= now + RETRY_AFTER
        return row["state"] != "done" and not waits
    born = db.value("nightly_born")
    return born is not None and born < night.moment


def report(db: Database, day: str | None = None) -> Report | None:
    """How a night stands, by default the one that began last; None where there is none."""
    row = db.one("nightly_run", night=day) if day is not None else db.one("nightly_latest")
    if row is None:
        return None
    steps = tuple(_step_report(found) for found in db.run("nightly_steps", night=row["night"]))
    return Report(
        row["night"],
        row["moment"],
        row["state"],
        json.loads(row["due"]),
        row["started_at"],
        row["finished_at"],
        steps,
    )


def reports(db: Database, limit: int) -> list[Report]:
    """The newest nights, newest first."""
    days = [day for (day,) in db.tuples("nightly_days", {"limit": limit})]
    return [found for day in days if (found := report(db, day)) is not None]


def _step_report(row: Row) -> StepReport:
    return StepReport(**row)
