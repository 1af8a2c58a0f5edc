"""Compacts sessions: a new checkpoint from the active one and the messages after it, by a model or by rules.

The model is asked with no transaction open; the switch is one short transaction. Whoever reads sees the old checkpoint
and all messages after its boundary, or the new one and all messages after that.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from config.logging import get_logger
from config.prompt_files import load_prompt
from config.settings import Settings
from llm.errors import BadReply, LlmError
from llm.ports import ChatModel
from memory.answers import BadAnswer
from memory.chatlist import cut_middle
from memory.compaction.extract import extract
from memory.compaction.parts import Parts, as_text, fit
from memory.compaction.prompt import checkpoint_messages, parse_checkpoint
from memory.compaction.thresholds import CompactionRules, whole_boundary
from memory.tokens import MESSAGE_OVERHEAD, estimate
from memory.types import StoredMessage
from store import checkpoints, counters, jobs
from store.checkpoints import Compacting
from store.db import Database
from store.jobs import Job, JobRow
from workers.ask import ask
from workers.kinds import COMPACT, TIMELINE
from workers.outcomes import Done, Failed, Outcome

log = get_logger("compact")

RULES = "rules"
_MOST_MESSAGES = 400
_LEAST_ANSWER = 400
_KEPT = 3
"""Earlier checkpoints of a session that stay in the table, to show how the active one came about."""
_BY_MODEL, _BY_RULES = 1, 8
_HELD = 5.0
"""Seconds until a compaction is looked at again that another worker has in hand."""


@dataclass(frozen=True, slots=True)
class CompactOptions:
    """`tokens` a summary may have and a `step` may take in; seconds of `lease`; characters to which a message is `cut`;
    `attempts` of a model before rules step in; newest messages to `keep`; the `template` of the prompt."""

    tokens: int
    step: int
    lease: float
    cut: int
    attempts: int
    keep: int
    template: str


def compact_options(settings: Settings) -> CompactOptions:
    """The options that the settings ask for.

    Raises:
        InvalidSettings: the prompt cannot be read.
    """
    return CompactOptions(
        tokens=int(settings.chat_window * settings.context_share * settings.checkpoint_share),
        step=int(settings.chat_window * settings.compact_share),
        lease=settings.compact_lease,
        cut=settings.message_cut,
        attempts=settings.compact_attempts,
        keep=settings.compact_keep,
        template=load_prompt("checkpoint", settings.prompts_dir),
    )


def compaction_rules(settings: Settings) -> CompactionRules:
    """The rules that the settings ask for."""
    return CompactionRules(
        window_tokens=settings.chat_window,
        window_messages=settings.window_messages,
        reuse_share=settings.reuse_share,
        compact_share=settings.compact_share,
        keep=settings.compact_keep,
    )


@dataclass(frozen=True, slots=True)
class Compaction:
    """A checkpoint that is ready to be switched to. `wanted` is the boundary that was asked for: where this one lies
    before it, the rest is owed again."""

    session_pk: int
    checkpoint_id: int
    found: Compacting
    tail: Sequence[StoredMessage]
    parts: Parts
    method: str
    wanted: int

    @property
    def boundary(self) -> int:
        """The last message that it stands for."""
        return self.tail[-1].seq


class CompactHandler:
    """Jobs with a payload of `session_pk` and `boundary`. Result None: it is compacted that far, or was reset."""

    kind = COMPACT
    min_batch = 1
    max_wait = 0.0

    def __init__(
        self, db: Database, model: ChatModel | None, options: CompactOptions, *, clock: Callable[[], float]
    ) -> None:
        self.limit = _BY_RULES if model is None else _BY_MODEL
        self.owes: set[str] = set()
        self._db = db
        self._model = model
        self._options = options
        self._clock = clock

    def ready(self) -> str | None:
        """Always: without a model there are rules."""
        return None

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[Compaction | None]]:
        """A compaction for each session, as far as it was asked for by now: one job does the work of those after it.

        Raises:
            LlmError: the model did not answer; for all, since it is one service.
        """
        wanted = [(job, _wanted(job, self._options.keep)) for job in claimed]
        furthest = dict(sorted(pair for _, pair in wanted if pair is not None))
        outcomes: list[Outcome[Compaction | None]] = []
        for job, pair in wanted:
            if pair is None:
                outcomes.append(Failed(job, "payload: session_pk and boundary are needed", "lasting"))
            elif furthest.get(pair[0]) != pair[1]:
                outcomes.append(Done(job, None))
            else:
                del furthest[pair[0]]
                outcomes.append(await self._one(job, *pair))
        return outcomes

    def write(self, done: Sequence[Done[Compaction | None]]) -> None:
        """Switches to the new checkpoints, and owes what follows from them."""
        for item in done:
            if item.result is not None:
                self._switch(item.job, item.result)

    def _switch(self, job: Job, made: Compaction) -> None:
        now, base = self._clock(), made.found.base
        switched = checkpoints.succeed(
            self._db,
            made.checkpoint_id,
            job.lease_token,
            base=base,
            summary=made.parts.model_dump_json(),
            token_count=estimate(as_text(made.parts)),
            message_count=len(made.tail) + (base.message_count if base else 0),
            source_tokens=sum(m.token_count for m in made.tail) + (base.source_tokens if base else 0),
            method=made.method,
            now=now,
            keep=_KEPT,
        )
        if switched:
            counters.bump(self._db, "compaction_l3_succeeded")
        else:
            counters.bump(self._db, "compaction_l3_late")
        subject = f"session:{made.session_pk}"
        rows = [_job(TIMELINE, f"{subject}:{made.boundary}", made, {"seq": made.boundary}, now)]
        if made.boundary < made.wanted:
            rest = f"{subject}:{made.wanted}:after:{made.boundary}"
            rows.append(_job(COMPACT, rest, made, {"boundary": made.wanted}, now))
        jobs.owe_many(self._db, rows)
        self.owes.update(row.kind for row in rows)

    async def _one(self, job: Job, session_pk: int, wanted: int) -> Outcome[Compaction | None]:
        with self._db.snapshot():
            found = checkpoints.material(self._db, session_pk, wanted, _MOST_MESSAGES)
        step = _step(found.tail, self._options) if found else None
        if found is None or step is None:
            checkpoints.give_up(self._db, session_pk, self._clock())
            return Done(job, None)
        tail = step.messages
        begun = checkpoints.begin(
            self._db, session_pk, tail[-1].seq, job.lease_token, self._clock(), self._options.lease
        )
        if begun is None and wanted < found.boundary_seq:
            # The job that was written last waits for the other worker; the others have nothing to add to it.
            return Done(job, None)
        if begun is None:
            return Failed(job, "another worker is compacting these messages", "passing", _HELD)
        try:
            parts, method = await self._summary(job, found, tail)
        except (BadAnswer, BadReply) as error:
            reason = f"no checkpoint after one repair: {error}"
            self._failed(begun, job, reason)
            return Failed(job, reason, "surprise")
        except LlmError as error:
            self._failed(begun, job, f"{type(error).__name__}: {error}")
            raise
        rest = found.boundary_seq if step.more else tail[-1].seq
        return Done(job, Compaction(session_pk, begun, found, tail, parts, method, rest))

    async def _summary(self, job: Job, found: Compacting, tail: Sequence[StoredMessage]) -> tuple[Parts, str]:
        base = Parts.model_validate_json(found.base.summary) if found.base else None
        options = self._options
        if self._model is not None and job.attempts <= options.attempts:
            asked = checkpoint_messages(options.template, base, tail, tokens=options.tokens, cut=options.cut)
            parts = await ask(
                self._model,
                asked,
                lambda answer: parse_checkpoint(answer, options.tokens),
                max_tokens=max(_LEAST_ANSWER, 2 * options.tokens),
            )
            return parts, f"llm:{self._model.name}"
        if self._model is not None:
            log.warning("compacted_by_rules", subject=job.subject, attempts=job.attempts, reason=job.reason)
        return fit(extract(base, tail), options.tokens), RULES

    def _failed(self, checkpoint_id: int, job: Job, reason: str) -> None:
        with self._db.atomic():
            checkpoints.fail(self._db, checkpoint_id, job.lease_token, reason, self._clock())
            counters.bump(self._db, "compaction_l3_failed")


def _wanted(job: Job, keep: int) -> tuple[int, int] | None:
    """The session and the boundary that a job names; before there was a handler, it named the newest message."""
    payload = job.payload
    try:
        return int(payload["session_pk"]), int(payload["boundary"]) if "boundary" in payload else int(
            payload["seq"]
        ) - keep
    except (KeyError, TypeError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class _Step:
    messages: tuple[StoredMessage, ...]
    more: bool


def _step(tail: tuple[StoredMessage, ...], options: CompactOptions) -> _Step | None:
    """The first of `tail`, as many as one compaction takes in and no call without its result; None where there is
    nothing to be taken in."""
    size, count = 0, 0
    for message in tail:
        size += min(message.token_count, estimate(cut_middle(message.content, options.cut))) + MESSAGE_OVERHEAD
        if size > options.step and count:
            break
        count += 1
    more = count < len(tail) or len(tail) == _MOST_MESSAGES
    end = whole_boundary(tail[:count]) or whole_boundary(tail)
    taken = tuple(message for message in tail if message.seq <= end)
    return _Step(taken, more) if taken else None


def _job(kind: str, subject: str, made: Compaction, payload: dict[str, int], now: float) -> JobRow:
    text = json.dumps({"session_pk": made.session_pk, **payload})
    return JobRow(kind, subject, made.found.namespace, now, now, text)
