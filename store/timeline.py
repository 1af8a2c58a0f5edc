"""The timeline: an entry for each stretch of a session, and a user's days, weeks and months made from them.

An entry is written anew where one of its period stands already (a day whose evening came later); it then counts as
not rolled up, so that what was made of it is made again.
"""

import json
from dataclasses import dataclass
from typing import NamedTuple

from memory.types import Scope, TimelineEntry, TimelineLevel
from store.db import Database, Row
from store.scopes import find_scope


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to be written; see memory.types.TimelineEntry."""

    scope_id: int
    level: TimelineLevel
    period: str
    content: str
    starts_at: float
    ends_at: float
    raw_length: int
    session_pk: int | None = None
    seq_first: int | None = None
    seq_last: int | None = None
    source_ids: tuple[int, ...] = ()
    method: str = "rules"


class Unrolled(NamedTuple):
    """An entry that no coarser one holds yet."""

    id: int
    scope_id: int
    ends_at: float


class ToldTurn(NamedTuple):
    """A turn that a session's entry is to tell of, with its summary if it has one."""

    scope_id: int
    turn: int
    seq_first: int
    seq_last: int
    starts_at: float
    ends_at: float
    summary: str | None


def put(db: Database, entry: NewEntry, now: float) -> int:
    """Writes the entry, or writes the one of its scope, level and period anew; its id. Its sources are linked to it."""
    with db.atomic():
        new = int(
            db.value(
                "timeline_put",
                scope_id=entry.scope_id,
                session_pk=entry.session_pk,
                level=entry.level,
                period=entry.period,
                content=entry.content,
                source_ids=json.dumps(entry.source_ids),
                starts_at=entry.starts_at,
                ends_at=entry.ends_at,
                now=now,
                method=entry.method,
                raw_length=entry.raw_length,
                seq_first=entry.seq_first,
                seq_last=entry.seq_last,
            )
        )
        db.many("timeline_link", [(new, source) for source in entry.source_ids])
    return new


def unrolled(
    db: Database, level: TimelineLevel, before: float, limit: int, after: Unrolled | None = None
) -> list[Unrolled]:
    """Entries of a level that end before `before` and that no coarser entry holds, the oldest first; those that come
    after `after`, where it is given."""
    params = {
        "level": level,
        "before": before,
        "limit": limit,
        "after_end": after.ends_at if after else float("-inf"),
        "after_id": after.id if after else 0,
    }
    return [Unrolled(*row) for row in db.tuples("timeline_unrolled", params)]


def between(db: Database, scope_id: int, level: TimelineLevel, start: float, end: float) -> list[TimelineEntry]:
    """The scope's entries of a level that end in [start, end), the oldest first; for the workers."""
    params = {"scope_id": scope_id, "level": level, "start": start, "end": end}
    return [_entry(row) for row in db.run_on("", "timeline_between", params)]


def of_period(db: Database, scope_id: int, level: TimelineLevel, period: str) -> TimelineEntry | None:
    """The scope's entry of a period; for the workers."""
    row = db.one("timeline_of_period", scope_id=scope_id, level=level, period=period)
    return None if row is None else _entry(row)


def newest(
    db: Database, scope: Scope, *, level: TimelineLevel | None, start: float, end: float, limit: int
) -> list[TimelineEntry]:
    """The newest entries that touch [start, end], the newest first: of the session that `scope` names, else of all
    the user's. Without a `level` each moment stands in one entry: those that no coarser one holds."""
    params = {
        "scope_id": find_scope(db, scope),
        "namespace": scope.namespace,
        "session_id": scope.session_id,
        "level": level,
        "start": start,
        "end": end,
        "limit": limit,
    }
    name = "timeline_newest" if scope.session_id is None else "timeline_newest_of_session"
    return [_entry(row) for row in db.run_on("", name, params)]


def last_seq(db: Database, session_pk: int) -> int:
    """The last message of the session that an entry stands for; 0 where there is none."""
    return int(db.value("timeline_last_seq", session_pk=session_pk) or 0)


def untold(db: Database, session_pk: int, after: int, up_to: int) -> list[ToldTurn]:
    """The session's turns that begin with `after` < seq <= `up_to`, in order; for the workers.

    A turn that is open and goes on beyond `up_to` is left out, and no turn's `seq_last` lies beyond where it began.
    """
    params = {"session_pk": session_pk, "after": after, "up_to": up_to}
    rows = db.tuples("timeline_untold", params)
    going_on = [row[2] for row in rows if row[3] > up_to and row[-1]]
    most = min([up_to, *(first - 1 for first in going_on)])
    return [
        ToldTurn(scope_id, turn, first, min(last, most), starts_at, ends_at, summary)
        for scope_id, turn, first, last, starts_at, ends_at, summary, _ in rows
        if first not in going_on
    ]


def _entry(row: Row) -> TimelineEntry:
    row["source_ids"] = tuple(json.loads(row["source_ids"]))
    return TimelineEntry(**row)
