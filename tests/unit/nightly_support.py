"""Nights over a small store: a folder, a clock, and a way to run them."""

from collections.abc import Callable
from pathlib import Path

from memory.nights import Night
from memory.retention import DAY, Policy, Rule
from store.archive import Archive
from store.archive_folder import LocalArchive
from store.db import Database
from store.nightly import Nightly, Report, Rules
from store.nightly_steps import steps
from tests.unit.store_support import NOW, Clock

NIGHT = Night("2023-11-15", NOW + 10_000)
LATER = 400 * DAY


def archive_in(folder: Path, db: Database) -> Archive:
    """The archive of a test's database."""
    return Archive(db, LocalArchive(folder / "archive"))


def nightly(
    archive: Archive,
    clock: Clock,
    *rules: Rule,
    batch: int = 200,
    reach: Callable[[str], None] = lambda _: None,
) -> Nightly:
    """A runner without pauses."""
    return Nightly(
        archive,
        steps(),
        Rules(Policy.of(rules), batch=batch, pause=0.0),
        owner="test",
        clock=clock,
        sleep=lambda _: None,
        reach=reach,
    )


def run_night(archive: Archive, clock: Clock, *rules: Rule, days: float = 400.0, batch: int = 200) -> Report:
    """A whole night, so many days from now, to its end."""
    clock.now = NOW + days * DAY
    found = nightly(archive, clock, *rules, batch=batch).run(Night(f"day-{days:g}", clock.now))
    assert found is not None
    return found
