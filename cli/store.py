"""The database and the archive for one command, and its words for times."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import click

from cli import environment
from cli.errors import Unavailable
from config.settings import Settings
from store.archive import Archive
from store.archive_place import archive_folder
from store.db import Database
from store.errors import StoreError
from store.opening import open_database


@contextmanager
def opened() -> Iterator[tuple[Settings, Database]]:
    """Settings and database; it passes the writers' gate.

    Raises:
        Unavailable: the database, or the archive, refused.
    """
    found = environment.settings()
    try:
        with open_database(found.database, busy_timeout=found.busy_timeout, gate=True, clock=time.time) as db:
            yield found, db
    except StoreError as error:
        raise Unavailable(str(error)) from error


@contextmanager
def archive() -> Iterator[tuple[Settings, Archive]]:
    """Settings and archive, as `opened`."""
    with opened() as (found, db):
        yield found, Archive(db, archive_folder(found))


def shown(seconds: float | None) -> str:
    """A moment in UTC; "-" for none."""
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class Moment(click.ParamType[float]):
    """A moment such as 2026-05-01 or 2026-05-01T12:00:00Z, as unix seconds; without a zone it is UTC."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Unix seconds."""
        if isinstance(value, float):
            return value
        try:
            found = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no time: 2026-05-01 or 2026-05-01T12:00:00Z is allowed", param, ctx)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
