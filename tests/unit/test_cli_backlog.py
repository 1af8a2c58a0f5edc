"""What a waiting command makes of a database that is just being made."""

import asyncio
from pathlib import Path

import fakeredis
import pytest

from cli.backlog import Backlog, Owed
from cli.errors import Unavailable
from recall.database import ReadDatabase
from sidestream.keys import Keys
from store.db import Database
from store.migrate import migrate


def backlog(path: Path) -> Backlog:
    return Backlog(fakeredis.FakeAsyncRedis(), Keys(), ReadDatabase(path), patience=5.0, kinds=("embed",))


def empty(path: Path) -> Database:
    """A database file that no migration has reached yet."""
    db = Database.open(path)
    with db.atomic():
        db.script("unrelated", "CREATE TABLE unrelated (id INTEGER PRIMARY KEY) STRICT")
    return db


async def test_a_database_that_was_just_being_made_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    db = empty(path)
    looking = asyncio.create_task(backlog(path).owed())
    await asyncio.sleep(0)
    assert not looking.done()
    migrate(db)
    assert await looking == Owed(0, {"embed": 0})
    db.close()


async def test_one_that_stays_unfit_is_named(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    empty(path).close()
    with pytest.raises(Unavailable, match=r"has schema version 0, not \d+ yet"):
        await backlog(path).owed()
