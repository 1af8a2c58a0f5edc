"""What `memory.remember` and `memory.forget` events ask for: facts stored and taken out on purpose."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from memory.facts.keys import key
from memory.facts.model import Draft, Fact, Origin, SaidBy
from memory.facts.noise import HELD, is_order
from memory.facts.reading import TAKEN_BACK, understood
from sidestream.events import MemoryForget, MemoryRemember
from store import fact_changes, facts, holds, scopes
from store.db import Database
from store.errors import LegalHold
from store.jobs import Job
from workers.gatekeeper import Gatekeeper, memory_id
from workers.kinds import FORGET, REMEMBER
from workers.memory_scope import NOBODY, MemoryEvent, read_event
from workers.outcomes import Done, Failed, Outcome

IN_ORDER = (REMEMBER, FORGET)
"""What is forgotten after it was remembered must not be remembered after it was forgotten."""
_LIMIT = 64
_IMPORTANCE, _CONFIDENCE = 0.7, 0.9


@dataclass(frozen=True, slots=True)
class Remember:
    """A checked event and whose it is."""

    event: MemoryEvent
    wish: MemoryRemember


@dataclass(frozen=True, slots=True)
class Forget:
    """The facts that one event means."""

    event: MemoryEvent
    hard: bool
    memory_ids: Sequence[str]


class RememberHandler:
    """Jobs made of `memory.remember` events."""

    kind = REMEMBER
    limit = _LIMIT
    min_batch = 1
    max_wait = 0.0

    def __init__(self, db: Database, max_chars: int, *, clock: Callable[[], float]) -> None:
        self.embeds = 0
        self._db = db
        self._max_chars = max_chars
        self._clock = clock

    def ready(self) -> str | None:
        """Always: it needs no model."""
        return None

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[Remember]]:
        """Each wish, checked."""
        return [self._one(job) for job in claimed]

    def write(self, done: Sequence[Done[Remember]]) -> None:
        """Each fact through the gate, in the order of their events."""
        for item in sorted(done, key=lambda item: item.job.id):
            self._store(item.job, item.result)

    def _store(self, job: Job, wanted: Remember) -> None:
        event, wish = wanted.event, wanted.wish
        scope_id = event.scope_id
        if scope_id == NOBODY:
            scope_id = scopes.scope_id(self._db, job.namespace, str(wish.user_id))
        origin = Origin(scope_id, "explicit_tool", "", event.session_pk, wish.agent_id, wish.data_source)
        gate = Gatekeeper(self._db, job.namespace, actor=event.actor, now=self._clock())
        gate.admit(memory_id(job.subject), explicit_draft(wish, event.occurred_at), origin)
        self.embeds += gate.embeds

    def _one(self, job: Job) -> Outcome[Remember]:
        event = read_event(self._db, job)
        if event is None:
            return Failed(job, "payload: session_id and occurred_at are needed", "lasting")
        try:
            fields = {n: v for n, v in job.payload.items() if n in MemoryRemember.model_fields and n != "type"}
            wish = MemoryRemember.model_validate(fields)
        except ValidationError as error:
            return Failed(job, f"payload: {error}", "lasting")
        if len(wish.content) > self._max_chars:
            reason = f"content: {len(wish.content)} characters long; a fact has at most {self._max_chars}"
            return Failed(job, reason, "lasting")
        return Done(job, Remember(event, wish))


class ForgetHandler:
    """Jobs made of `memory.forget` events."""

    kind = FORGET
    limit = _LIMIT
    min_batch = 1
    max_wait = 0.0

    def __init__(self, db: Database, *, clock: Callable[[], float]) -> None:
        self._db = db
        self._clock = clock

    def ready(self) -> str | None:
        """Always: it needs no model."""
        return None

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[Forget]]:
        """The facts that each event means; one that means none is dead."""
        return [self._one(job) for job in claimed]

    def write(self, done: Sequence[Done[Forget]]) -> None:
        """Archives or destroys them."""
        now = self._clock()
        for item in sorted(done, key=lambda item: item.job.id):
            event = item.result.event
            for memory in item.result.memory_ids:
                fact = facts.get_in(self._db, event.scope_id, memory)
                if fact is not None:
                    self._forget(fact, item.result, event.reason or "asked to forget it", now)

    def _forget(self, fact: Fact, wanted: Forget, reason: str, now: float) -> None:
        act = facts.destroy if wanted.hard else fact_changes.archive
        act(self._db, fact, actor=wanted.event.actor, reason=reason, now=now)

    def _one(self, job: Job) -> Outcome[Forget]:
        event = read_event(self._db, job)
        if event is None:
            return Failed(job, "payload: session_id and occurred_at are needed", "lasting")
        try:
            fields = {n: v for n, v in job.payload.items() if n in MemoryForget.model_fields and n != "type"}
            wish = MemoryForget.model_validate(fields)
        except ValidationError as error:
            return Failed(job, f"payload: {error}", "lasting")
        found = self._meant(event.scope_id, wish)
        if not found:
            named = f"memory_id: {wish.memory_id!r}" if wish.memory_id is not None else f"key: {wish.key!r}"
            return Failed(job, f"{named} names no fact of this user", "lasting")
        try:
            if wish.hard:
                holds.refuse_held_scope(self._db, event.scope_id)
        except LegalHold as error:
            return Failed(job, str(error), "lasting")
        return Done(job, Forget(event, wish.hard, found))

    def _meant(self, scope_id: int, wish: MemoryForget) -> list[str]:
        if wish.key is not None:
            return [fact.memory_id for fact in facts.all_with_key(self._db, scope_id, wish.key)]
        fact = facts.get_in(self._db, scope_id, str(wish.memory_id))
        return [] if fact is None else [fact.memory_id]


def explicit_draft(wish: MemoryRemember, occurred_at: float) -> Draft:
    """A fact stored on purpose. What reads like an instruction to the agent is held back all the same."""
    said_by: SaidBy = "assistant" if wish.agent_id else "user"
    draft = Draft(
        content=wish.content,
        memory_type=wish.memory_type,
        value=key(wish.content),
        key=wish.key,
        confidence=_CONFIDENCE if wish.confidence is None else wish.confidence,
        importance=_IMPORTANCE if wish.importance is None else wish.importance,
        tags=tuple(wish.tags),
        source_text=wish.content,
        said_by=said_by,
        said_at=occurred_at,
        expires_at=None if wish.expires_at is None else wish.expires_at.timestamp(),
        hold=HELD if is_order(wish.content) else None,
    )
    meaning = understood(wish.content, set())
    if meaning is None or meaning[1].attribute in ("", TAKEN_BACK):
        return draft
    subject, sense = meaning
    return replace(
        draft,
        subject=subject,
        attribute=sense.attribute,
        topic=sense.topic,
        value=sense.value,
        polarity=sense.polarity,
        single=sense.single,
        ends=sense.ends,
    )
