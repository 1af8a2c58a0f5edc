"""Reads chosen sessions again for a generation of facts, and puts a generation in the place of what stood."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from config.errors import InvalidSettings
from memory.facts.model import Draft, Origin
from store import facts, generations, jobs, sessions
from store.db import Database
from store.errors import NotFound
from store.generations import Drafted, Generation
from store.jobs import Job, JobRow
from store.sessions import SessionRow
from workers.extract import ExtractHandler
from workers.gatekeeper import Gatekeeper, memory_id
from workers.kinds import EXTRACT, REEXTRACT, SWITCH
from workers.outcomes import Done, Failed, Outcome

ACTOR = "extractor"
_LIMIT = 4
PART = 200
TURNS = 20
"""Turns that a model reads at once; rules read a session as a whole."""


@dataclass(frozen=True, slots=True)
class Reread:
    """What was found in one session; `extractor` says by what."""

    generation: int
    session_pk: int
    extractor: str
    drafts: Sequence[Draft]


@dataclass(frozen=True, slots=True)
class Switched:
    """A generation whose facts are let in: `session_pk` None for its beginning, which takes the old ones out."""

    generation: Generation
    session_pk: int | None


class ReextractHandler:
    """Jobs with a payload of `generation` and `session_pk`. Result None: the generation was dropped."""

    kind = REEXTRACT
    limit = _LIMIT
    min_batch = 1
    max_wait = 0.0

    def __init__(
        self, db: Database, reader: Callable[[Generation], ExtractHandler], *, clock: Callable[[], float]
    ) -> None:
        """`reader` gives the extractor of a generation, one that is told of no fact that stands."""
        self._db = db
        self._reader = reader
        self._clock = clock

    def ready(self) -> str | None:
        """Always: without a model there are rules."""
        return None

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[Reread | None]]:
        """The drafts of each session.

        Raises:
            LlmError: the model did not answer.
        """
        return [await self._one(job) for job in claimed]

    def write(self, done: Sequence[Done[Reread | None]]) -> None:
        """Drafts beside the facts that stand; the last session makes the generation ready."""
        for item in done:
            found = item.result
            if found is not None and generations.get(self._db, found.generation).state == "building":
                generations.put(self._db, found.generation, found.session_pk, found.extractor, found.drafts)
                generations.one_done(self._db, found.generation, "building", self._clock())

    async def _one(self, job: Job) -> Outcome[Reread | None]:
        try:
            generation = generations.get(self._db, int(job.payload["generation"]))
            pk = int(job.payload["session_pk"])
        except (KeyError, TypeError, ValueError, NotFound) as error:
            return Failed(job, f"payload: {error}", "lasting")
        if generation.state != "building":
            return Done(job, None)
        session = sessions.by_pk(self._db, pk)
        try:
            reader = self._reader(generation)
        except InvalidSettings as error:
            return Failed(job, str(error), "lasting")
        drafts: list[Draft] = []
        extractor = ""
        for window in _windows(job, pk, 0 if session is None else session.turn_count, whole=generation.model is None):
            (outcome,) = await reader.work([window])
            if isinstance(outcome, Failed):
                return Failed(job, outcome.reason, outcome.why, outcome.after)
            if outcome.result is not None:
                extractor = outcome.result.origin.extractor
                drafts += [draft for _, draft in outcome.result.drafts]
        return Done(job, Reread(generation.id, pk, extractor, drafts))


class SwitchHandler:
    """Jobs with a payload of `generation`, and `session_pk` where its drafts are to be let in."""

    kind = SWITCH
    limit = _LIMIT
    min_batch = 1
    max_wait = 0.0

    def __init__(self, db: Database, *, clock: Callable[[], float], part: int = PART) -> None:
        """`part`: most facts of one transaction."""
        self.embeds = 0
        self._db = db
        self._part = part
        self._clock = clock

    def ready(self) -> str | None:
        """Always: it needs no model."""
        return None

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[Switched]]:
        """The generation that each job means."""
        return [self._one(job) for job in claimed]

    def write(self, done: Sequence[Done[Switched]]) -> None:
        """First all facts whose place is taken go, then each session's drafts go through the gate, one session after
        another; a part in each transaction, since others wait for it."""
        for item in done:
            generation, now = item.result.generation, self._clock()
            if generations.get(self._db, generation.id).state != "switching":
                continue
            if item.result.session_pk is None:
                self._begin(generation, now)
            else:
                self._let_in(generation, item.result.session_pk, now)

    def _one(self, job: Job) -> Outcome[Switched]:
        try:
            generation = generations.get(self._db, int(job.payload["generation"]))
        except (KeyError, TypeError, ValueError, NotFound) as error:
            return Failed(job, f"payload: {error}", "lasting")
        pk = job.payload.get("session_pk")
        return Done(job, Switched(generation, None if pk is None else int(pk)))

    def _begin(self, generation: Generation, now: float) -> None:
        reason = f"generation {generation.id} takes its place: {generation.reason}"
        old = generations.replaced(self._db, generation, self._part + 1)
        for fact in old[: self._part]:
            facts.set_status(self._db, fact, "archived", actor=generation.actor, reason=reason, now=now)
        if len(old) > self._part:
            self._owe(generation, f"after:{old[self._part - 1].id}", None, now)
        else:
            self._owe(generation, f"session:{generation.sessions[0]}", generation.sessions[0], now)

    def _let_in(self, generation: Generation, pk: int, now: float) -> None:
        drafted = generations.drafts(self._db, generation.id, pk, self._part + 1)
        session = sessions.by_pk(self._db, pk)
        if session is not None:
            self._admit(generation, session, drafted[: self._part], now)
            if len(drafted) > self._part:
                last = drafted[self._part - 1].place
                generations.forget_drafts(self._db, generation.id, pk, last)
                self._owe(generation, f"session:{pk}:{last}", pk, now)
                return
        generations.forget_drafts(self._db, generation.id, pk)
        generations.one_done(self._db, generation.id, "switching", now)
        for following in generation.sessions[generation.sessions.index(pk) + 1 :][:1]:
            self._owe(generation, f"session:{following}", following, now)

    def _owe(self, generation: Generation, what: str, pk: int | None, now: float) -> None:
        payload = {"generation": generation.id, **({} if pk is None else {"session_pk": pk})}
        subject = f"generation:{generation.id}:{what}"
        jobs.owe_many(self._db, [JobRow(SWITCH, subject, generation.namespace, now, now, json.dumps(payload))])

    def _admit(self, generation: Generation, session: SessionRow, part: Sequence[Drafted], now: float) -> None:
        gate = Gatekeeper(self._db, generation.namespace, actor=ACTOR, now=now)
        for drafted in part:
            origin = Origin(
                generation.scope_id,
                "auto_consolidation",
                drafted.extractor,
                session.id,
                session.agent_id,
                session.data_source,
            )
            place = (str(generation.id), str(session.id), str(drafted.place))
            gate.admit(memory_id("generation", *place, drafted.draft.content), drafted.draft, origin)
        self.embeds += gate.embeds


def _windows(job: Job, pk: int, turns: int, *, whole: bool) -> Iterator[Job]:
    """The session as jobs of the extractor."""
    step = max(turns, 1) if whole else TURNS
    for first in range(1, turns + 1, step):
        last = min(turns, first + step - 1)
        payload = {"session_pk": pk, "turn_first": first, "turn_last": last}
        yield Job(job.id, EXTRACT, f"{job.subject}:{first}-{last}", job.namespace, payload)
