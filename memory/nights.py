"""When a night's upkeep is due: once a calendar day of the configured zone, at a wall-clock time."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple


class Night(NamedTuple):
    """One night: its day in the zone, and the moment (unix seconds) at which it begins."""

    day: str
    moment: float


def parse_time(text: str) -> time:
    """A time of day from `HH:MM`.

    Raises:
        ValueError: it is none.
    """
    try:
        found = datetime.strptime(text, "%H:%M")  # noqa: DTZ007 - a wall-clock time has no zone
    except ValueError as error:
        raise ValueError(f"{text!r} is no time of day: HH:MM is needed, such as 02:00") from error
    return found.time()


def latest_night(now: float, at: time, zone: tzinfo) -> Night:
    """The last night that has begun by `now` (unix seconds).

    A wall-clock time that occurs twice counts the first time; one that a change to summer time leaves out counts
    as long after midnight as the clock would have shown without the change. So every day has one night.
    """
    today = datetime.fromtimestamp(now, zone).date()
    for day in (today, today - timedelta(days=1), today - timedelta(days=2)):
        moment = begins(day, at, zone)
        if moment <= now:
            return Night(day.isoformat(), moment)
    raise AssertionError("no zone is two days wide")


def begins(day: date, at: time, zone: tzinfo) -> float:
    """Unix seconds at which the night of `day` begins."""
    return datetime.combine(day, at, zone).astimezone(UTC).timestamp()
