"""The timeline about a topic: this session's newest first, then what tells of it elsewhere, of this user alone."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory.timeline_recall import recalled
from memory.types import Scope, TimelineEntry, TimelineLevel
from memory.weights import WeightPolicy
from recall.database import ReadDatabase
from recall.fact_reader import FactReader
from store import timeline
from store.db import Database
from store.opening import open_database
from tests.unit.store_support import NOW, session

TODAY = Scope("ann", session_id="today")
BEFORE = Scope("ann", session_id="before")
BOB = Scope("bob", session_id="bobs")
DAY = 86_400.0


def write(db: Database, scope: Scope, day: int, content: str, level: TimelineLevel = "session") -> None:
    row = session(db, scope)
    at = NOW + day * DAY
    entry = timeline.NewEntry(
        row.scope_id,
        level,
        f"{row.id}:{day}",
        content,
        at,
        at + 60,
        len(content),
        row.id if level == "session" else None,
    )
    timeline.put(db, entry, at)


@pytest.fixture
def db(tmp_path: Path) -> Database:
    made = open_database(tmp_path / "m.db")
    write(made, BEFORE, 1, "Ann chose a lighthouse for the postcard.")
    write(made, BEFORE, 2, "Bo repaired the ferry's engine.")
    write(made, BEFORE, 3, "The ferry to Hven was cancelled; Ann waited for the ferry.")
    write(made, BOB, 3, "Bob bought a ferry.")
    write(made, TODAY, 8, "Ann asked about tickets.")
    write(made, TODAY, 9, "Ann bought bread.")
    write(made, BEFORE, 3, "A day about the ferry.", "day")
    return made


@pytest.fixture
async def reader(tmp_path: Path, db: Database) -> AsyncIterator[FactReader]:
    found = FactReader(ReadDatabase(tmp_path / "m.db"), WeightPolicy())
    yield found
    found.close()
    db.close()


async def contents(reader: FactReader, scope: Scope, **wish: object) -> list[str]:
    return [entry.content for entry in await reader.timeline(scope, **wish)]  # type: ignore[arg-type]  # a test's shorthand


async def test_this_sessions_newest_first_then_the_topic_elsewhere(reader: FactReader) -> None:
    assert await contents(reader, TODAY, topic="the ferry", limit=4) == [
        "Ann bought bread.",
        "Ann asked about tickets.",
        "The ferry to Hven was cancelled; Ann waited for the ferry.",
        "Bo repaired the ferry's engine.",
    ]


async def test_without_a_session_the_topic_alone(reader: FactReader) -> None:
    assert await contents(reader, Scope("ann"), topic="violins", limit=9) == []
    assert await contents(reader, Scope("ann"), topic="ferry", limit=9) == [
        "The ferry to Hven was cancelled; Ann waited for the ferry.",
        "Bo repaired the ferry's engine.",
    ]


async def test_a_window_and_a_level_narrow_it(reader: FactReader) -> None:
    until = NOW + 2.5 * DAY
    assert await contents(reader, Scope("ann"), topic="ferry", until=until) == ["Bo repaired the ferry's engine."]
    assert await contents(reader, Scope("ann"), topic="ferry", level="day") == ["A day about the ferry."]


async def test_nobody_elses_is_found(reader: FactReader) -> None:
    assert await contents(reader, Scope("bob"), topic="ferry") == ["Bob bought a ferry."]
    assert await contents(reader, Scope("bob", session_id="today"), topic="bread") == []


async def test_without_a_topic_a_session_has_its_own_newest_first(reader: FactReader) -> None:
    assert await contents(reader, TODAY) == ["Ann bought bread.", "Ann asked about tickets."]


def entry(number: int, content: str) -> TimelineEntry:
    return TimelineEntry(number, "session", str(number), content, float(number), float(number), len(content))


def test_chinese_topics_are_found() -> None:
    entries = [entry(1, "张伟把数据库迁移到上海。"), entry(2, "李娜买了一本书。")]
    assert recalled("数据库", [], entries, 5) == entries[:1]


def test_of_equals_the_newer_comes_first_and_each_stands_once() -> None:
    entries = [entry(2, "the ferry"), entry(1, "the ferry")]
    assert recalled("ferry", entries[:1], entries, 5) == entries
