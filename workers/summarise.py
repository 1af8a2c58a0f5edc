"""Summarises closed turns: by the configured model, or by rules where there is none."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llm.errors import BadReply
from llm.ports import ChatModel
from memory.prompts import BadSummary, parse_summary, repair_messages, summary_messages
from memory.summarise import SummaryText, summarise
from memory.terms import terms
from memory.types import StoredMessage
from store import jobs, messages, summaries
from store.db import Database
from store.jobs import Job, JobRow
from workers.in_flight import in_flight
from workers.kinds import EMBED, SUMMARISE
from workers.outcomes import Done, Failed, Outcome

RULES = "rules"
# A turn without a single word still gets its one summary: what was said, shortened.
_WORDLESS_CHARS = 50
_MAX_TOKENS = 400
_BY_MODEL, _BY_RULES = 8, 64


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """A summary to be written."""

    session_pk: int
    scope_id: int
    turn: int
    text: SummaryText
    method: str
    source_count: int
    occurred_at: float


class SummariseHandler:
    """Jobs with a payload of `session_pk` and `turn`. Result None: the turn's messages are gone."""

    kind = SUMMARISE
    min_batch = 1
    max_wait = 0.0

    def __init__(
        self,
        db: Database,
        model: ChatModel | None,
        *,
        keep: int,
        min_chars: int,
        clock: Callable[[], float],
    ) -> None:
        """`keep` summaries of a session stay in recall; those longer than `min_chars` are embedded."""
        self.limit = _BY_RULES if model is None else _BY_MODEL
        self.embeds = 0
        self._db = db
        self._model = model
        self._keep = keep
        self._min_chars = min_chars
        self._clock = clock

    def ready(self) -> str | None:
        """Always: without a model there are rules."""
        return None

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[TurnSummary | None]]:
        """A summary for each job; a model works on all of them at once.

        Raises:
            LlmError: the model did not answer; for all, since it is one service.
        """
        return list(await asyncio.gather(*(self._one(job) for job in claimed)))

    def write(self, done: Sequence[Done[TurnSummary | None]]) -> None:
        """Summaries with their terms, and the embedding that each owes."""
        now = self._clock()
        owed: list[JobRow] = []
        for item in done:
            if item.result is not None and (row := self._insert(item.job, item.result, now)) is not None:
                owed.append(row)
        self.embeds += jobs.owe_many(self._db, owed)

    def _insert(self, job: Job, result: TurnSummary, now: float) -> JobRow | None:
        content = result.text.content
        new = summaries.insert(
            self._db,
            session_pk=result.session_pk,
            scope_id=result.scope_id,
            turn_first=result.turn,
            turn_last=result.turn,
            content=content,
            source_count=result.source_count,
            confidence=result.text.confidence,
            method=result.method,
            occurred_at=result.occurred_at,
            now=now,
            keep=self._keep,
            terms=" ".join(terms(content)),
        )
        if new is None or len(content) <= self._min_chars:
            return None
        return JobRow(EMBED, f"summary:{new}", job.namespace, now, now)

    async def _one(self, job: Job) -> Outcome[TurnSummary | None]:
        try:
            session_pk, turn = int(job.payload["session_pk"]), int(job.payload["turn"])
        except (KeyError, TypeError, ValueError):
            return Failed(job, "payload: session_pk and turn are needed", "lasting")
        said = messages.turn(self._db, session_pk, turn)
        if not said:
            return Done(job, None)
        try:
            text, method = await self._summary(said)
        except (BadSummary, BadReply) as error:
            return Failed(job, f"no summary after one repair: {error}", "lasting")
        scope_id = messages.contents(self._db, [said[0].id])[said[0].id].scope_id
        at = max(message.occurred_at for message in said)
        return Done(job, TurnSummary(session_pk, scope_id, turn, text, method, len(said), at))

    async def _summary(self, said: Sequence[StoredMessage]) -> tuple[SummaryText, str]:
        if self._model is None:
            text = summarise(said)
            if not text.content:
                text = SummaryText(" ".join(m.content for m in said)[:_WORDLESS_CHARS], 0.0)
            return text, RULES
        return await self._ask(self._model, said), f"llm:{self._model.name}"

    async def _ask(self, model: ChatModel, said: Sequence[StoredMessage]) -> SummaryText:
        """One strict reading, one repair.

        Raises:
            BadSummary: the repaired answer is no summary either.
        """
        asked = summary_messages(said)
        answer = (await in_flight(model.complete(asked, max_tokens=_MAX_TOKENS))).content
        try:
            return parse_summary(answer)
        except BadSummary as problem:
            again = repair_messages(asked, answer, str(problem))
        return parse_summary((await in_flight(model.complete(again, max_tokens=_MAX_TOKENS))).content)
