"""What people decided about a fact, as `memory.adjust` events say it: pinned, weighed, released or refused."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from sidestream.events import MemoryAdjust
from store import fact_changes, fact_reading, jobs
from store.db import Database
from store.errors import WrongState
from store.fact_reading import KnownFact
from store.jobs import Job, JobRow
from workers.kinds import ADJUST, EMBED
from workers.memory_scope import MemoryEvent, read_event
from workers.outcomes import Done, Failed, Outcome

_LIMIT = 64


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A checked event and whose it is."""

    event: MemoryEvent
    wish: MemoryAdjust


class AdjustHandler:
    """Jobs made of `memory.adjust` events."""

    kind = ADJUST
    limit = _LIMIT
    min_batch = 1
    max_wait = 0.0

    def __init__(self, db: Database, *, clock: Callable[[], float]) -> None:
        self.embeds = 0
        self._db = db
        self._clock = clock

    def ready(self) -> str | None:
        """Always: it needs no model."""
        return None

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[Adjustment]]:
        """Each wish, checked; one that names no fact of its user, or does not go with its state, is dead."""
        return [self._one(job) for job in claimed]

    def write(self, done: Sequence[Done[Adjustment]]) -> None:
        """Carries the wishes out, in the order of their events."""
        now = self._clock()
        for item in sorted(done, key=lambda item: item.job.id):
            self.embeds += adjust(self._db, item.job.namespace, item.result, now)

    def _one(self, job: Job) -> Outcome[Adjustment]:
        event = read_event(self._db, job)
        if event is None:
            return Failed(job, "payload: session_id and occurred_at are needed", "lasting")
        try:
            wish = MemoryAdjust.model_validate(_event_fields(job.payload))
        except ValidationError as error:
            return Failed(job, f"payload: {error}", "lasting")
        known = fact_reading.one_in(self._db, event.scope_id, wish.memory_id)
        problem = _problem(known, wish)
        return Failed(job, problem, "lasting") if problem else Done(job, Adjustment(event, wish))


def adjust(db: Database, namespace: str, adjustment: Adjustment, now: float) -> int:
    """Carries one wish out; how many embeddings it owes. In a transaction of the caller's.

    A wish that does not go with the fact's state any more changes nothing: it was checked, and another came first.
    """
    event, wish = adjustment.event, adjustment.wish
    known = fact_reading.one_in(db, event.scope_id, wish.memory_id)
    if known is None or _problem(known, wish) is not None:
        return 0
    told: dict[str, Any] = {"actor": event.actor, "reason": event.reason or "asked for", "now": now}
    if wish.weight is not None:
        fact_changes.hold_weight(db, known, wish.weight, **told)
    elif wish.free_weight:
        fact_changes.free_weight(db, known, **told)
    if wish.pinned is not None:
        fact_changes.pin(db, known, wish.pinned, **told)
    if wish.verdict == "refuse":
        fact_changes.refuse(db, known.fact, **told)
    elif wish.verdict == "release" and fact_changes.release(db, known.fact, **told):
        return jobs.owe_many(db, [_embedding(known, namespace, now)])
    return 0


def _embedding(known: KnownFact, namespace: str, now: float) -> JobRow:
    return JobRow(EMBED, f"fact:{known.fact.id}:{known.fact.version}", namespace, now, now)


def _problem(known: KnownFact | None, wish: MemoryAdjust) -> str | None:
    """Why the wish cannot be carried out, or None."""
    if known is None:
        return f"memory_id: no fact {wish.memory_id!r} of this user"
    try:
        fact_changes.check_verdict(known.fact, wish.verdict)
    except WrongState as error:
        return str(error)
    return None


def _event_fields(payload: Any) -> dict[str, Any]:
    return {name: value for name, value in payload.items() if name in MemoryAdjust.model_fields and name != "type"}
