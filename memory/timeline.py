"""The timeline's rules: which day, week and month an entry belongs to, when it is rolled up, and how long the result is.

Levels from fine to coarse: session, day, week, month. Days are those of a time zone, weeks are ISO weeks, and a week
belongs to the month of its Thursday, so that each entry has exactly one coarser one. Times are unix seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

from memory.condense import condense
from memory.types import TimelineEntry, TimelineLevel

HOUR, DAY = 3_600.0, 86_400.0
COARSER: dict[TimelineLevel, TimelineLevel] = {"session": "day", "day": "week", "week": "month"}


@dataclass(frozen=True, slots=True)
class TimelineRules:
    """Ages in seconds at which entries of a level are rolled up, and shares of the session entries' length."""

    raw_age: float = 6 * HOUR
    day_age: float = 7 * DAY
    week_age: float = 30 * DAY
    day_share: float = 0.5
    week_share: float = 0.25
    month_share: float = 0.1

    def before(self, level: TimelineLevel, now: float) -> float:
        """Entries of `level` (not the month) that end before this are rolled up."""
        return now - {"session": self.raw_age, "day": self.day_age, "week": self.week_age}[level]

    def length(self, level: TimelineLevel, raw_length: int) -> int:
        """Characters that an entry of `level` may have, whose session entries have `raw_length` in all."""
        share = {"session": 1.0, "day": self.day_share, "week": self.week_share, "month": self.month_share}[level]
        return max(_LEAST, int(raw_length * share))


_LEAST = 40
"""A roll-up of very little is not cut to a word or two."""


def period(level: TimelineLevel, at: float, zone: tzinfo) -> str:
    """The day (2026-11-30), ISO week (2026-W49) or month (2026-12) in which a moment lies.

    The month is that of the moment's week. Raises ValueError for the level "session", which is no period.
    """
    day = datetime.fromtimestamp(at, zone).date()
    if level == "day":
        return day.isoformat()
    year, week, weekday = day.isocalendar()
    if level == "week":
        return f"{year:04}-W{week:02}"
    if level == "month":
        thursday = day + timedelta(days=4 - weekday)
        return f"{thursday:%Y-%m}"
    raise ValueError("a session is no period")


def bounds(level: TimelineLevel, name: str, zone: tzinfo) -> tuple[float, float]:
    """From when (included) until when (not included) the moments lie whose `period` is `name`."""
    if level == "day":
        first = date.fromisoformat(name)
        return _midnight(first, zone), _midnight(first + timedelta(days=1), zone)
    if level == "week":
        first = date.fromisocalendar(int(name[:4]), int(name[6:]), 1)
        return _midnight(first, zone), _midnight(first + timedelta(days=7), zone)
    if level == "month":
        year, month = int(name[:4]), int(name[5:])
        return _midnight(_first_monday(year, month), zone), _midnight(_first_monday(*_next(year, month)), zone)
    raise ValueError("a session is no period")


def roll_up(entries: Sequence[TimelineEntry], length: int) -> str:
    """The entries in their order, shortened by rule to about `length` characters; nothing is said that none of them says."""
    return condense([line for entry in entries for line in entry.content.splitlines()], length)


def _midnight(day: date, zone: tzinfo) -> float:
    return datetime.combine(day, time(), zone).timestamp()


def _first_monday(year: int, month: int) -> date:
    """Monday of the first week whose Thursday lies in the month."""
    first = date(year, month, 1)
    thursday = first + timedelta(days=(4 - first.isoweekday()) % 7)
    return thursday - timedelta(days=3)


def _next(year: int, month: int) -> tuple[int, int]:
    return (year + 1, 1) if month == 12 else (year, month + 1)
