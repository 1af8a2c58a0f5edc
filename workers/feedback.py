"""Tells which of the facts that an answer was given it used, and moves their weights by that."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from memory.usage import Given, Use, uses
from memory.weights import WeightPolicy, after_use
from store import fact_weights, spaces, vectors
from store.db import Database
from store.fact_weights import Moved, Weighed
from store.jobs import Job
from workers.kinds import FEEDBACK
from workers.memory_scope import MemoryEvent, read_event
from workers.outcomes import Done, Failed, Outcome

_LIMIT = 64


@dataclass(frozen=True, slots=True)
class Feedback:
    """What one answer made of the facts it was given."""

    event: MemoryEvent
    answer_id: int
    uses: Sequence[Use]


class FeedbackHandler:
    """Jobs made of `memory.used` events. Result None: none of the facts is active any more."""

    kind = FEEDBACK
    limit = _LIMIT
    min_batch = 1
    max_wait = 0.0

    def __init__(self, db: Database, policy: WeightPolicy, *, clock: Callable[[], float]) -> None:
        self._db = db
        self._policy = policy
        self._clock = clock

    def ready(self) -> str | None:
        """Always: it needs no model."""
        return None

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[Feedback | None]]:
        """Which facts each answer used."""
        return [self._one(job) for job in claimed]

    def write(self, done: Sequence[Done[Feedback | None]]) -> None:
        """Weights and the usage log; weights are read again here, since answers may come close together."""
        for item in done:
            if item.result is not None:
                self._write(item.result)

    def _one(self, job: Job) -> Outcome[Feedback | None]:
        event = read_event(self._db, job)
        memory_ids = job.payload.get("memory_ids")
        if event is None or not isinstance(memory_ids, list) or not memory_ids:
            return Failed(job, "payload: session_pk and memory_ids are needed", "lasting")
        answer = fact_weights.answer(self._db, event.session_pk, job.payload.get("parent_id"))
        if answer is None:
            named = job.payload.get("parent_id")
            return Failed(job, f"the answer {named!r} is not stored" if named else "no answer is stored", "passing")
        facts = fact_weights.weighed(self._db, event.scope_id, memory_ids)
        if not facts:
            return Done(job, None)
        alike = self._similarities(answer.id, [fact.id for fact in facts])
        given = [Given(f.memory_id, f.content, alike.get(f.id)) for f in facts]
        return Done(job, Feedback(event, answer.id, uses(answer.question, answer.content, given)))

    def _write(self, result: Feedback) -> None:
        now, event = self._clock(), result.event
        found = {use.memory_id: use for use in result.uses}
        facts = fact_weights.weighed(self._db, event.scope_id, list(found))
        fact_weights.move(
            self._db,
            [self._moved(fact, found[fact.memory_id], now) for fact in facts],
            scope_id=event.scope_id,
            session_pk=event.session_pk,
            event_id=event.event_id,
            answer_id=result.answer_id,
            at=event.occurred_at,
            now=now,
        )

    def _moved(self, fact: Weighed, use: Use, now: float) -> Moved:
        weight = after_use(fact.standing, use.used, now, self._policy)
        return Moved(fact.id, fact.memory_id, weight, use.used, use.score)

    def _similarities(self, answer_id: int, fact_ids: Sequence[int]) -> dict[int, float]:
        """Cosines of the facts with the answer, for those that are embedded; none while the answer is not."""
        space = spaces.active_space(self._db)
        if space is None:
            return {}
        answer = vectors.fetch(self._db, space, "message", [answer_id]).get(answer_id)
        if answer is None:
            return {}
        said = np.frombuffer(answer, "<f4")
        found = vectors.fetch(self._db, space, "fact", fact_ids)
        return {i: float(np.dot(said, np.frombuffer(vector, "<f4"))) for i, vector in found.items()}
