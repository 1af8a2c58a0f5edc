"""Writes the timeline's entries of sessions: what happened, turn by turn, since the last entry.

A turn is told by its summary, or, where that is not written yet, by what rules make of it; so a model that summarises
is not asked a second time.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory.frames import one_line
from memory.summarise import summarise
from store import jobs, messages, timeline
from store.db import Database
from store.jobs import Job, JobRow
from store.timeline import NewEntry, ToldTurn
from workers.kinds import TIMELINE
from workers.outcomes import Done, Failed, Outcome

_TURNS = 50
"""Most turns of one entry."""


@dataclass(frozen=True, slots=True)
class Written:
    """Entries of a session to be written, one after the other. `after` is the last message that the timeline told of
    when they were made."""

    session_pk: int
    entries: tuple[NewEntry, ...]
    after: int


class TimelineHandler:
    """Jobs with a payload of `session_pk` and `seq`, up to which is to be told. Result None: that is told."""

    kind = TIMELINE
    limit = 16
    min_batch = 1
    max_wait = 0.0

    def __init__(self, db: Database, *, clock: Callable[[], float]) -> None:
        self.owes = 0
        self._db = db
        self._clock = clock

    def ready(self) -> str | None:
        """Always."""
        return None

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[Written | None]]:
        """The entries that each session lacks; of several jobs of one session the furthest does the work of all."""
        furthest: dict[int, int] = {}
        for job in claimed:
            if (known := _payload(job)) is not None:
                furthest[known[0]] = max(furthest.get(known[0], 0), known[1])
        return [self._one(job, furthest) for job in claimed]

    def write(self, done: Sequence[Done[Written | None]]) -> None:
        """Entries; what another worker told of meanwhile is left to another look."""
        now = self._clock()
        for item in done:
            written = item.result
            if written is None:
                continue
            if timeline.last_seq(self._db, written.session_pk) == written.after:
                for entry in written.entries:
                    timeline.put(self._db, entry, now)
            else:
                job, payload = item.job, json.dumps(dict(item.job.payload))
                again = JobRow(TIMELINE, f"{job.subject}:again", job.namespace, now, now, payload)
                self.owes += jobs.owe_many(self._db, [again])

    def _one(self, job: Job, furthest: dict[int, int]) -> Outcome[Written | None]:
        known = _payload(job)
        if known is None:
            return Failed(job, "payload: session_pk and seq are needed", "lasting")
        session_pk = known[0]
        seq = furthest.pop(session_pk, None)
        if seq is None:
            return Done(job, None)
        with self._db.snapshot():
            after = timeline.last_seq(self._db, session_pk)
            turns = timeline.untold(self._db, session_pk, after, seq)
            lines = {turn.turn: turn.summary or self._by_rules(session_pk, turn.turn) for turn in turns}
        entries = tuple(_entry(session_pk, turns[i : i + _TURNS], lines) for i in range(0, len(turns), _TURNS))
        return Done(job, Written(session_pk, entries, after) if entries else None)

    def _by_rules(self, session_pk: int, turn: int) -> str:
        return summarise(messages.turn(self._db, session_pk, turn)).content


def _payload(job: Job) -> tuple[int, int] | None:
    try:
        return int(job.payload["session_pk"]), int(job.payload["seq"])
    except (KeyError, TypeError, ValueError):
        return None


def _entry(session_pk: int, turns: Sequence[ToldTurn], lines: dict[int, str]) -> NewEntry:
    content = "\n".join(one_line(lines[turn.turn]) for turn in turns)
    first, last = turns[0].seq_first, turns[-1].seq_last
    return NewEntry(
        scope_id=turns[0].scope_id,
        level="session",
        period=f"{session_pk}:{first}-{last}",
        content=content,
        starts_at=min(turn.starts_at for turn in turns),
        ends_at=max(turn.ends_at for turn in turns),
        raw_length=len(content),
        session_pk=session_pk,
        seq_first=first,
        seq_last=last,
    )
