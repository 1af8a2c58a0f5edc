"""Roll-ups of the timeline over a real database, by rules and by a scripted model."""

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from llm.errors import Unreachable
from memory.timeline import DAY, TimelineRules
from memory.types import Scope, TimelineEntry, TimelineLevel
from store import scopes, timeline
from store.db import Database
from store.timeline import NewEntry
from tests.unit.scripted_model import Scripted
from tests.unit.store_support import opened, session
from workers.rollups import Group, Shortener, due, make

ZONE = ZoneInfo("Europe/Berlin")
RULES = TimelineRules()
SCOPE = Scope("ann", session_id="s1")
MONDAY = datetime(2026, 11, 2, 9, tzinfo=UTC).timestamp()


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as database:
        yield database


def write(db: Database, at: float, content: str, scope: Scope = SCOPE) -> int:
    row = session(db, scope)
    entry = NewEntry(
        row.scope_id, "session", f"{row.id}:{at}", content, at - 60, at, len(content), row.id, seq_first=1, seq_last=2
    )
    return timeline.put(db, entry, at)


BY_RULES = Shortener(None, "")


async def roll(db: Database, now: float, shortener: Shortener = BY_RULES) -> int:
    """Everything that is due, as the night does it; how many entries were made."""
    made = 0
    finer: TimelineLevel
    for finer in ("session", "day", "week"):
        while groups := due(db, finer, RULES, ZONE, now, 10):
            for group in groups:
                made += await make(db, group, shortener, RULES, ZONE, now) is not None
    return made


def stand(db: Database, level: TimelineLevel) -> list[TimelineEntry]:
    whole = Scope("ann")
    return timeline.newest(db, whole, level=level, start=0.0, end=1e12, limit=1_000)[::-1]


def a_month(db: Database, days: int = 40) -> list[int]:
    texts = [
        f"Ana visited harbour number {day} and wrote report R{day} about it.\nBo paid invoice {day} for the crane."
        for day in range(days)
    ]
    return [write(db, MONDAY + day * DAY, text) for day, text in enumerate(texts)]


async def test_days_weeks_and_months_are_made_by_age(db: Database) -> None:
    written = a_month(db)
    assert await roll(db, MONDAY + 39 * DAY + 60) > 0
    days, weeks, months = stand(db, "day"), stand(db, "week"), stand(db, "month")
    assert [d.period for d in days[:2]] == ["2026-11-02", "2026-11-03"] and len(days) == 39
    assert [w.period for w in weeks] == ["2026-W45", "2026-W46", "2026-W47", "2026-W48"]
    assert months == []
    linked = [source for day in days for source in day.source_ids]
    assert linked == written[:39]
    assert [source for week in weeks for source in week.source_ids] == [d.id for d in days[:28]]


async def test_each_moment_stands_in_one_entry(db: Database) -> None:
    a_month(db)
    now = MONDAY + 70 * DAY
    await roll(db, now)
    shown = timeline.newest(db, Scope("ann"), level=None, start=0.0, end=1e12, limit=1_000)[::-1]
    assert [e.period for e in shown] == ["2026-11", "2026-W49", "2026-W50"]
    ends = [e.ends_at for e in shown]
    assert ends == sorted(ends) and all(a.ends_at < b.starts_at for a, b in itertools.pairwise(shown))


async def test_lengths_are_shares_of_the_raw_one(db: Database) -> None:
    for day in range(7):
        write(db, MONDAY + day * DAY, "\n".join(f"Ana saw heron {day}-{n} near pier {n}." for n in range(40)))
    await roll(db, MONDAY + 80 * DAY)
    raw = sum(len(e.content) for e in stand(db, "session"))
    shares: dict[TimelineLevel, float] = {"day": 0.5, "week": 0.25, "month": 0.1}
    for level, share in shares.items():
        made = stand(db, level)
        assert sum(e.raw_length for e in made) == raw
        assert share * 0.8 * raw <= sum(len(e.content) for e in made) <= share * raw


async def test_a_second_run_changes_nothing(db: Database) -> None:
    a_month(db)
    now = MONDAY + 70 * DAY
    await roll(db, now)
    before = db.run("timeline_newest", scope_id=1, level=None, start=0, end=1e12, limit=1000)
    assert await roll(db, now) == 0
    assert db.run("timeline_newest", scope_id=1, level=None, start=0, end=1e12, limit=1000) == before


async def test_what_comes_late_makes_its_day_and_week_anew(db: Database) -> None:
    a_month(db, 7)
    now = MONDAY + 20 * DAY
    await roll(db, now)
    raw = stand(db, "week")[0].raw_length
    late = write(db, MONDAY + 3_600, "Ana found the anchor.")
    assert await roll(db, now) == 2
    (week,) = stand(db, "week")
    assert late in stand(db, "day")[0].source_ids
    assert len(week.source_ids) == 7 and week.raw_length == raw + len("Ana found the anchor.")


async def test_what_its_sources_no_longer_say_stays_in_an_entry(db: Database) -> None:
    write(db, MONDAY, "Ana bought the lighthouse at Hven. " * 3)
    await roll(db, MONDAY + DAY)
    first = stand(db, "day")[0]
    assert "lighthouse" in first.content
    db.script("archived", "DELETE FROM timeline WHERE level = 'session'")
    late = write(db, MONDAY + 60, "Bo sold the old ferry to Malmo.")
    await roll(db, MONDAY + DAY)
    again = stand(db, "day")[0]
    assert "lighthouse" in again.content and "ferry" in again.content
    assert set(again.source_ids) == {*first.source_ids, late}


async def test_entries_of_another_user_stay_apart(db: Database) -> None:
    write(db, MONDAY, "Ann saw the heron.")
    write(db, MONDAY, "Bob sold the boat.", Scope("bob", session_id="s2"))
    await roll(db, MONDAY + DAY)
    assert [e.content for e in stand(db, "day")] == ["Ann saw the heron."]
    with db.atomic():
        bob = scopes.scope_id(db, "default", "bob")
    assert timeline.between(db, bob, "day", 0, 1e12)[0].content == "Bob sold the boat."


async def test_young_entries_stay_raw(db: Database) -> None:
    write(db, MONDAY, "Ann saw the heron.")
    assert due(db, "session", RULES, ZONE, MONDAY + 3_600, 10) == []
    assert due(db, "session", RULES, ZONE, MONDAY + 7 * 3_600, 10) == [Group(1, "session", "2026-11-02")]


LONG = "\n".join(f"Ana saw heron number {n} near the old pier {n}." for n in range(30))


async def test_a_model_shortens_and_is_asked_once_more(db: Database) -> None:
    write(db, MONDAY, LONG)
    model = Scripted("no json", json.dumps({"text": "Ana counted thirty herons."}))
    await roll(db, MONDAY + DAY, Shortener(model, "{length} {language}"))
    (day,) = stand(db, "day")
    assert (day.content, day.method) == ("Ana counted thirty herons.", "llm:scripted")
    assert len(model.asked) == 2


@pytest.mark.parametrize("answers", [("no", "no"), (Unreachable("away"),)], ids=["unusable", "away"])
async def test_rules_step_in_for_a_model_that_fails(db: Database, answers: tuple[str | Exception, ...]) -> None:
    write(db, MONDAY, LONG)
    await roll(db, MONDAY + DAY, Shortener(Scripted(*answers), "{length} {language}"))
    (day,) = stand(db, "day")
    assert day.method == "rules" and "heron" in day.content
