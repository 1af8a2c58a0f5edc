"""Embeds messages, summaries and facts: texts that were embedded before come from the cache, the rest from the
model."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from llm.ports import Embedder
from memory.terms import searchable
from memory.types import Kind
from store import embedding_cache, facts, messages, spaces, summaries, vectors
from store.db import Database
from store.jobs import Job
from store.spaces import Space
from workers.in_flight import in_flight
from workers.kinds import EMBED
from workers.outcomes import Done, Failed, Outcome

NO_SESSION = 0
"""Of a fact whose session is gone."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A vector to be written, and whether it is new to the cache."""

    kind: Kind
    id: int
    scope_id: int
    session_pk: int
    digest: bytes
    vector: bytes
    fresh: bool


@dataclass(frozen=True, slots=True)
class _Text:
    job: Job
    kind: Kind
    id: int
    scope_id: int
    session_pk: int
    text: str
    digest: bytes


class EmbedHandler:
    """Jobs whose subject is `message:<id>`, `summary:<id>` or `fact:<id>`. Result None: what was to be embedded is
    gone."""

    kind = EMBED

    def __init__(
        self,
        db: Database,
        embedder: Embedder | None,
        *,
        limit: int,
        min_batch: int,
        max_wait: float,
        clock: Callable[[], float],
    ) -> None:
        self.limit = limit
        self.min_batch = min_batch
        self.max_wait = max_wait
        self._db = db
        self._embedder = embedder
        self._clock = clock
        self._space: Space | None = None

    def ready(self) -> str | None:
        """It needs a model and sqlite-vec; until they are there its jobs wait."""
        if self._embedder is None:
            return "no embedding model is configured"
        return None if self._db.has_vec else "sqlite-vec could not be loaded"

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[Embedded | None]]:
        """A vector for each job.

        Raises:
            LlmError: the model did not answer, or not as it should.
        """
        texts = {text.job.id: text for text in self._texts(claimed)}
        space = self._ensure_space()
        cached = embedding_cache.get_many(self._db, space.id, (t.digest for t in texts.values()))
        missing = {t.digest: t.text for t in texts.values() if t.digest not in cached}
        fresh = await self._embed(missing)
        outcomes: list[Outcome[Embedded | None]] = []
        for job in claimed:
            if _subject(job) is None:
                outcomes.append(Failed(job, f"subject {job.subject!r} names nothing to embed", "lasting"))
            elif (text := texts.get(job.id)) is None:
                outcomes.append(Done(job, None))
            else:
                vector = cached.get(text.digest) or fresh[text.digest]
                outcomes.append(Done(job, _embedded(text, vector, text.digest in fresh)))
        return outcomes

    def write(self, done: Sequence[Done[Embedded | None]]) -> None:
        """Vectors, cache and flags together."""
        rows = [item.result for item in done if item.result is not None]
        # A fact may have ended or been destroyed while the model was at work.
        alive = facts.contents(self._db, [r.id for r in rows if r.kind == "fact"])
        rows = [r for r in rows if r.kind != "fact" or r.id in alive]
        if not rows:
            return
        db, space = self._db, self._ensure_space()
        vectors.upsert(db, space, [(r.kind, r.id, r.scope_id, r.session_pk, r.vector) for r in rows])
        embedding_cache.put_many(db, space.id, {r.digest: r.vector for r in rows if r.fresh})
        messages.mark_embedded(db, [r.id for r in rows if r.kind == "message"])
        summaries.mark_embedded(db, [r.id for r in rows if r.kind == "summary"])
        facts.mark_embedded(db, [r.id for r in rows if r.kind == "fact"])

    async def _embed(self, missing: dict[bytes, str]) -> dict[bytes, bytes]:
        if not missing or self._embedder is None:
            return {}
        found = await in_flight(self._call(list(missing.values())))
        return dict(zip(missing, found, strict=True))

    async def _call(self, texts: list[str]) -> list[bytes]:
        assert self._embedder is not None
        return await self._embedder.embed(texts, "passage")

    def _texts(self, claimed: Sequence[Job]) -> Iterable[_Text]:
        wanted = [(job, subject) for job in claimed if (subject := _subject(job)) is not None]
        by_kind = {kind: [i for _, (k, i) in wanted if k == kind] for kind in ("message", "summary", "fact")}
        of_messages = messages.contents(self._db, by_kind["message"])
        of_summaries = summaries.contents(self._db, by_kind["summary"])
        of_facts = facts.contents(self._db, by_kind["fact"])
        for job, (kind, row_id) in wanted:
            if kind == "message" and (message := of_messages.get(row_id)) is not None:
                text = searchable(message.name, message.content)
                yield _text(job, "message", row_id, message.scope_id, message.session_pk, text)
            elif kind == "summary" and (summary := of_summaries.get(row_id)) is not None:
                yield _text(job, "summary", row_id, summary.scope_id, summary.session_pk, summary.content)
            elif kind == "fact" and (fact := of_facts.get(row_id)) is not None:
                yield _text(job, "fact", row_id, fact.scope_id, fact.session_pk or NO_SESSION, fact.content)

    def _ensure_space(self) -> Space:
        if self._space is None:
            assert self._embedder is not None
            self._space = spaces.ensure_space(self._db, self._embedder.model, self._embedder.dimensions, self._clock())
        return self._space


def _text(job: Job, kind: Kind, row_id: int, scope_id: int, session_pk: int, text: str) -> _Text:
    return _Text(job, kind, row_id, scope_id, session_pk, text, embedding_cache.digest(text))


def _embedded(text: _Text, vector: bytes, fresh: bool) -> Embedded:
    return Embedded(text.kind, text.id, text.scope_id, text.session_pk, text.digest, vector, fresh)


def _subject(job: Job) -> tuple[str, int] | None:
    kind, _, rest = job.subject.partition(":")
    number = rest.partition(":")[0]
    return (kind, int(number)) if kind in ("message", "summary", "fact") and number.isdigit() else None
