"""The night as a task: what is due by the settings, and roll-ups that a kill does not repeat."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from config.settings import load
from memory.nights import Night
from memory.retention import DAY
from memory.timeline import TimelineRules
from memory.types import Scope
from memory.weights import WeightPolicy
from store import facts, nightly, timeline
from store.db import Database
from store.nightly import Nightly, Rules
from store.nightly_steps import steps
from store.timeline import NewEntry
from tests.unit.nightly_support import archive_in
from tests.unit.store_support import NOW, Clock, opened, session
from workers.nightly import run_due
from workers.nightly_facts import FactUpkeep
from workers.nightly_rollups import RollUps
from workers.rollups import Shortener

ADA = Scope("ada", session_id="a")
DAYS = 120


class Stopped(BaseException):
    """Ends a run like a kill would, where nothing catches it."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def db(tmp_path: Path, clock: Clock) -> Iterator[Database]:
    with opened(tmp_path, clock) as found:
        fill(found)
        yield found


def fill(db: Database) -> None:
    """One session's entry a day."""
    row = session(db, ADA)
    for day in range(DAYS):
        at = NOW + day * DAY
        text = f"Ada visited harbour {day} and wrote report R{day} about what she saw there."
        entry = NewEntry(
            row.scope_id, "session", f"{row.id}:{at}", text, at - 60, at, len(text), row.id, seq_first=1, seq_last=2
        )
        timeline.put(db, entry, at)


def periods(db: Database) -> list[str]:
    return [
        f"{level} {period} {content}"
        for level, period, content in db._execute(
            "test", "SELECT level, period, content FROM timeline ORDER BY level, period"
        )
    ]


def night(db: Database, folder: Path, clock: Clock, stop_at: str = "") -> None:
    def reach(moment: str) -> None:
        if moment == stop_at:
            raise Stopped

    rollups = RollUps(Shortener(None, ""), TimelineRules(), ZoneInfo("UTC"), asyncio.run)
    runner = Nightly(
        archive_in(folder, db),
        steps(rollups),
        Rules(pause=0.0),
        owner="t",
        clock=clock,
        sleep=lambda _: None,
        reach=reach,
    )
    runner.run(Night("n", clock.now))


def test_the_timeline_is_rolled_up_and_its_old_part_archived(db: Database, tmp_path: Path, clock: Clock) -> None:
    clock.now = NOW + DAYS * DAY
    night(db, tmp_path, clock)
    found = nightly.report(db)
    assert found is not None
    assert found.failed == {}
    assert next(s.seen for s in found.steps if s.step == "roll_ups") >= DAYS
    starts = [at for (at,) in db._execute("test", "SELECT ends_at FROM timeline").fetchall()]
    assert min(float(str(at)) for at in starts) >= clock.now - 90 * DAY
    assert {line.split()[0] for line in periods(db)} >= {"session", "day", "week"}


@pytest.mark.parametrize("moment", ["roll_ups.prepared", "roll_ups.applied", "roll_ups.committed", "timeline.prepared"])
def test_a_run_that_was_stopped_ends_as_one_that_was_not(
    moment: str, db: Database, tmp_path: Path, clock: Clock
) -> None:
    clock.now = NOW + DAYS * DAY
    for _ in range(2):
        with pytest.raises(Stopped):
            night(db, tmp_path, clock, stop_at=moment)
    night(db, tmp_path, clock)
    (tmp_path / "other").mkdir()
    with opened(tmp_path / "other", Clock()) as other:
        fill(other)
        night(other, tmp_path / "other", Clock(clock.now))
        assert periods(db) == periods(other)


def test_a_task_does_a_night_once(db: Database, tmp_path: Path, clock: Clock) -> None:
    settings = load(data_dir=tmp_path, nightly_pause=0.0, nightly_zone="UTC")
    assert run_due(settings, db, budget=60.0, model=lambda: None, run=asyncio.run) is None
    clock.now = NOW + 2 * DAY
    found = run_due(settings, db, budget=60.0, model=lambda: None, run=asyncio.run)
    assert found is not None
    assert (found.state, found.night) == ("done", "2023-11-16")
    assert run_due(settings, db, budget=60.0, model=lambda: None, run=asyncio.run) is None


def test_expired_facts_leave_in_the_night_and_stand_in_its_report(db: Database, clock: Clock, tmp_path: Path) -> None:
    row = session(db, ADA)
    for name, expires_at in (("gone", NOW + DAY), ("stays", NOW + 9 * DAY), ("endless", None)):
        db.script(
            "fact",
            "INSERT INTO long_term_memories (memory_id, scope_id, content, memory_type, status, source_type,"
            " importance, valid_from, expires_at, created_at, updated_at) VALUES"
            f" ('{name}', {row.scope_id}, 'fact {name}', 'fact', 'active', 'manual', 0.9,"
            f" {NOW}, {expires_at or 'NULL'}, {NOW}, {NOW})",
        )
    clock.now = NOW + 2 * DAY
    runner = Nightly(
        archive_in(tmp_path, db), steps(FactUpkeep(WeightPolicy())), Rules(pause=0.0), owner="t", clock=clock,
        sleep=lambda _: None,
    )  # fmt: skip
    night = Night("2023-11-16", clock.now)
    assert runner.statistics(night)["fact_upkeep"] == 1
    found = runner.run(night)
    assert found is not None
    (step,) = [s for s in found.steps if s.step == "fact_upkeep"]
    assert (step.seen, step.kept, step.archived) == (3, 2, 1)
    assert [line.change for line in facts.history(db, ADA, "gone")] == ["archived"]
