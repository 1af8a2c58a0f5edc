"""Extracts facts from windows of turns: by the configured model, or by rules where there is none."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from config.prompt_files import load_prompt
from config.settings import Settings
from llm.errors import BadReply
from llm.ports import ChatModel
from memory.answers import BadAnswer
from memory.facts.extraction import ExtractionRules, extraction_messages, parse_extraction
from memory.facts.model import TYPES, Draft, Fact, Origin, SaidBy
from memory.facts.reading import VERSION, Said, read
from memory.terms import query_terms
from memory.types import Scope, StoredMessage
from store import facts, fulltext, messages, scopes, sessions
from store.db import Database
from store.jobs import Job
from store.sessions import SessionRow
from workers.ask import ask
from workers.gatekeeper import Gatekeeper, memory_id
from workers.kinds import EXTRACT
from workers.outcomes import Done, Failed, Outcome

ACTOR = "extractor"
PROMPT = "memory_extractor"
_BY_MODEL, _BY_RULES = 8, 64
_RECENT = 20
_NEARBY = 20
_MAX_TOKENS = 4_000
_SHOWN = 4_000


@dataclass(frozen=True, slots=True)
class Extracted:
    """Drafts of one window, each with the event that it stands on first."""

    session: SessionRow
    origin: Origin
    drafts: Sequence[tuple[str, Draft]]


@dataclass(frozen=True, slots=True)
class ExtractRules:
    """What becomes a fact: nothing under `min_confidence`, of at most `max_chars` characters; what a model may say.
    Without `consolidation` windows are let pass and nothing does by itself."""

    min_confidence: float
    max_chars: int
    answers: ExtractionRules
    consolidation: bool = True


def extractor_prompt(settings: Settings) -> str:
    """The extractor's prompt: `agents/memory_extractor.md` in the data folder, else as any other prompt.

    Raises:
        InvalidSettings: it cannot be read.
    """
    own = settings.data_dir / "agents"
    folder = own if (own / f"{PROMPT}.md").exists() else settings.prompts_dir
    return load_prompt(PROMPT, folder)


def extract_rules(settings: Settings) -> ExtractRules:
    """The rules that the settings ask for."""
    answers = ExtractionRules(settings.extract_max_facts, (*TYPES, *settings.fact_types), settings.extract_tools)
    return ExtractRules(settings.fact_min_confidence, settings.fact_max_chars, answers, settings.consolidation)


class ExtractHandler:
    """Jobs with a payload of `session_pk`, `turn_first` and `turn_last`. Result None: the messages are gone, or nothing
    is to be extracted."""

    kind = EXTRACT
    min_batch = 1
    max_wait = 0.0

    def __init__(
        self,
        db: Database,
        model: ChatModel | None,
        template: str,
        rules: ExtractRules,
        *,
        clock: Callable[[], float],
        afresh: bool = False,
    ) -> None:
        """`template` is the prompt of a model; its digest tells versions of it apart. `afresh` tells it of no fact that
        stands."""
        self.limit = _BY_RULES if model is None else _BY_MODEL
        self.embeds = 0
        self._db = db
        self._model = model
        self._template = template
        self._rules = rules
        self._clock = clock
        self._afresh = afresh
        self._version = VERSION if model is None else f"llm:{model.name}/{memory_id(template)[1:9]}"

    def ready(self) -> str | None:
        """Always: without a model there are rules."""
        return None

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[Extracted | None]]:
        """The drafts of each window; a model works on all of them at once.

        Raises:
            LlmError: the model did not answer; for all, since it is one service.
        """
        return list(await asyncio.gather(*(self._one(job) for job in claimed)))

    def write(self, done: Sequence[Done[Extracted | None]]) -> None:
        """Each draft through the gate, in the order in which it was said."""
        for item in sorted(done, key=lambda item: item.job.id):
            if item.result is not None:
                self._admit(item.job, item.result)

    def _admit(self, job: Job, found: Extracted) -> None:
        gate = Gatekeeper(self._db, job.namespace, actor=ACTOR, now=self._clock())
        for event_id, draft in found.drafts:
            name = memory_id(job.namespace, found.session.session_id, event_id, draft.attribute, draft.content)
            gate.admit(name, draft, found.origin)
        self.embeds += gate.embeds

    async def _one(self, job: Job) -> Outcome[Extracted | None]:
        try:
            pk, first, last = (int(job.payload[name]) for name in ("session_pk", "turn_first", "turn_last"))
        except (KeyError, TypeError, ValueError):
            return Failed(job, "payload: session_pk, turn_first and turn_last are needed", "lasting")
        if not self._rules.consolidation:
            return Done(job, None)
        session = sessions.by_pk(self._db, pk)
        stored = messages.turns(self._db, pk, first, last)
        if session is None or not stored:
            return Done(job, None)
        said = [heard for message in stored if (heard := self._heard(message)) is not None]
        try:
            drafts = await self._drafts(session, said) if said else []
        except (BadAnswer, BadReply) as error:
            return Failed(job, f"no facts after one repair: {error}", "lasting")
        events = {message.id: message.event_id for message in stored}
        kept = [(events[draft.source_ids[0]], draft) for draft in drafts if self._keeps(draft)]
        origin = Origin(
            session.scope_id, "auto_consolidation", self._version, pk, session.agent_id, session.data_source
        )
        return Done(job, Extracted(session, origin, kept))

    def _keeps(self, draft: Draft) -> bool:
        return draft.hold is not None or (
            draft.confidence >= self._rules.min_confidence and len(draft.content) <= self._rules.max_chars
        )

    def _heard(self, message: StoredMessage) -> Said | None:
        """The message as its speaker's; None for those that never tell a fact."""
        name, human = message.metadata.get("name"), message.metadata.get("human") is True
        speaker = name if human and isinstance(name, str) and name else None
        other = message.metadata.get("user_id")
        by: SaidBy
        if message.role == "user" or (message.role == "assistant" and human):
            by = "person" if human else "user"
            # In a shared session others speak too; the scope is its owner's.
            speaker = speaker or (str(other) if other else None)
        elif message.role == "system" or (message.role == "tool" and not self._rules.answers.tools):
            return None
        else:
            by = "tool" if message.role == "tool" else "assistant"
        return Said(message.id, message.content, message.occurred_at, speaker, by)

    async def _drafts(self, session: SessionRow, said: Sequence[Said]) -> list[Draft]:
        if self._model is None:
            people = [message for message in said if message.said_by in ("user", "person")]
            if self._afresh:
                return read(people)
            recent = facts.last_of_session(self._db, session.scope_id, session.id, _RECENT)
            return read(people, recent, facts.newest(self._db, session.scope_id, _RECENT))
        known = [] if self._afresh else self._nearby(session, said)
        rules = self._rules.answers

        def parse(answer: str) -> list[Draft]:
            try:
                return parse_extraction(answer, said, known, rules)
            except BadAnswer as error:
                raise BadAnswer(f"{error}; the answer was: {answer[:_SHOWN]}") from error

        asked = extraction_messages(self._template, said, known, rules)
        return await ask(self._model, asked, parse, max_tokens=_MAX_TOKENS)

    def _nearby(self, session: SessionRow, said: Sequence[Said]) -> list[Fact]:
        """Active facts about what is spoken of, and the session's own newest."""
        scope = scopes.by_id(self._db, session.scope_id)
        found = facts.last_of_session(self._db, session.scope_id, session.id, _NEARBY // 2)
        if scope is not None:
            terms = query_terms(" ".join(message.content for message in said))
            near = fulltext.search(self._db, Scope(scope[1], scope[0]), terms, _NEARBY, ("fact",))
            rows = (facts.row(self._db, candidate.id) for candidate in near)
            sources = (None, session.data_source)
            found += [
                fact
                for fact in rows
                if fact is not None
                and fact.status == "active"
                and (session.data_source is None or fact.data_source in sources)
            ]
        return list({fact.id: fact for fact in found}.values())[:_NEARBY]
