"""Embeds everything anew after a change of model: piece by piece into a space of its own, which then replaces the old.

Each piece is a job that owes the next one in the transaction that writes it, so that a killed worker's piece is done
again and nothing else is. Its subject says where it begins: `<space>:<round>:<scope id>:<key>`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from config.logging import get_logger
from llm.ports import Embedder
from memory.terms import searchable
from memory.types import Kind
from store import embedding_cache, facts, jobs, messages, space_change, spaces, summaries, vectors
from store.db import Database
from store.jobs import Job
from store.space_change import REEMBED, Missing
from store.spaces import Space
from workers.in_flight import in_flight
from workers.outcomes import Done, Failed, Outcome

log = get_logger("reembed")

_BEGINNING = (0, -1)
_FORGET, _FORGET_ROUNDS = 200, 50
"""Vectors of a retired space that one transaction deletes, and how many of these a sweep does."""


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a piece begins."""

    space_id: int
    round: int
    after: tuple[int, int]

    @property
    def subject(self) -> str:
        """As it stands in the job."""
        return f"{self.space_id}:{self.round}:{self.after[0]}:{self.after[1]}"


@dataclass(frozen=True, slots=True)
class Piece:
    """What a piece came to.

    Attributes:
        vectors: for `new`, each with the digest of its text.
        gone: rows that have a vector in `old` and no text any more: they would never be complete.
        end: after which row the next piece begins; None after the last.
    """

    start: _Start
    old: Space
    new: Space
    vectors: Sequence[tuple[Missing, bytes, bytes]]
    gone: Sequence[Missing]
    end: tuple[int, int] | None


def begin(db: Database, embedder: Embedder | None, now: float) -> bool:
    """Owes the first piece, if searches use the space of another model than `embedder`; part of the sweep.

    True where it was owed; one that is under way, or dead, is left alone.
    """
    active = spaces.active_space(db)
    if embedder is None or active is None or not db.has_vec or _is_of(active, embedder):
        return False
    space = spaces.ensure_space(db, embedder.model, embedder.dimensions, now)
    if space_change.being_filled(db, space):
        return False
    log.info("reembedding_begun", old=active.model, model=space.model, dimensions=space.dimensions)
    return _owe(db, _Start(space.id, int(now), _BEGINNING), now)


def forget_retired(db: Database) -> int:
    """Deletes some of what a replaced model left; how many vectors and cached embeddings."""
    deleted = 0
    for _ in range(_FORGET_ROUNDS):
        count = space_change.forget_retired(db, _FORGET)
        deleted += count
        if not count:
            break
    return deleted


class ReembedHandler:
    """Jobs of kind `reembed`, one at a time. Result None: the space is not the configured model's, or is in use."""

    kind = REEMBED
    limit = 1
    min_batch = 1
    max_wait = 0.0

    def __init__(self, db: Database, embedder: Embedder | None, *, batch: int, clock: Callable[[], float]) -> None:
        self._db = db
        self._embedder = embedder
        self._batch = batch
        self._clock = clock

    def ready(self) -> str | None:
        """It needs a model and sqlite-vec."""
        if self._embedder is None:
            return "no embedding model is configured"
        return None if self._db.has_vec else "sqlite-vec could not be loaded"

    async def work(self, claimed: Sequence[Job]) -> list[Outcome[Piece | None]]:
        """The vectors of a piece.

        Raises:
            LlmError: the model did not answer, or not as it should.
        """
        outcomes: list[Outcome[Piece | None]] = []
        for job in claimed:
            start = _parse(job.subject)
            if start is None:
                outcomes.append(Failed(job, f"subject {job.subject!r} names no piece", "lasting"))
            else:
                outcomes.append(Done(job, await self._piece(start)))
        return outcomes

    def write(self, done: Sequence[Done[Piece | None]]) -> None:
        """Vectors, cache and the next piece together; after the last one, the switch."""
        for piece in (item.result for item in done if item.result is not None):
            rows: list[vectors.VectorRow] = [
                (*row.row, row.scope_id, row.session_pk, vector) for row, _, vector in piece.vectors
            ]
            vectors.upsert(self._db, piece.new, rows)
            embedding_cache.put_many(self._db, piece.new.id, {digest: vector for _, digest, vector in piece.vectors})
            for kind, row_id in (row.row for row in piece.gone):
                vectors.remove(self._db, piece.old, kind, [row_id])
            self._go_on(piece)

    def _go_on(self, piece: Piece) -> None:
        now, start = self._clock(), piece.start
        if piece.end is not None:
            _owe(self._db, _Start(start.space_id, start.round, piece.end), now)
        elif space_change.switch(self._db, piece.old, piece.new, now):
            log.info("reembedding_done", old=piece.old.model, model=piece.new.model, dimensions=piece.new.dimensions)
        else:
            # Somebody wrote to the old space behind the pieces.
            _owe(self._db, _Start(start.space_id, start.round + 1, _BEGINNING), now)

    async def _piece(self, start: _Start) -> Piece | None:
        assert self._embedder is not None
        new = spaces.ensure_space(self._db, self._embedder.model, self._embedder.dimensions, self._clock())
        old = spaces.active_space(self._db)
        if new.id != start.space_id or old is None or old.id == new.id:
            return None
        rows = space_change.missing(self._db, old, new, start.after, self._batch)
        texts = dict(_texts(self._db, rows))
        digests = {key: embedding_cache.digest(text) for key, text in texts.items()}
        known = embedding_cache.get_many(self._db, new.id, digests.values())
        wanted = {digests[key]: text for key, text in texts.items() if digests[key] not in known}
        if wanted:
            found = await in_flight(self._call(list(wanted.values())))
            known |= dict(zip(wanted, found, strict=True))
        made = [(row, digests[row.key], known[digests[row.key]]) for row in rows if row.key in texts]
        gone = [row for row in rows if row.key not in texts]
        return Piece(start, old, new, made, gone, (rows[-1].scope_id, rows[-1].key) if rows else None)

    async def _call(self, texts: list[str]) -> list[bytes]:
        assert self._embedder is not None
        return await self._embedder.embed(texts, "passage")


def _texts(db: Database, rows: Sequence[Missing]) -> Iterable[tuple[int, str]]:
    """Texts by key, as they are embedded."""
    ids: dict[Kind, dict[int, int]] = {"message": {}, "summary": {}, "fact": {}}
    for row in rows:
        kind, row_id = row.row
        ids[kind][row_id] = row.key
    for row_id, message in messages.contents(db, list(ids["message"])).items():
        yield ids["message"][row_id], searchable(message.name, message.content)
    for row_id, summary in summaries.contents(db, list(ids["summary"])).items():
        yield ids["summary"][row_id], summary.content
    for row_id, fact in facts.contents(db, list(ids["fact"])).items():
        yield ids["fact"][row_id], fact.content


def _owe(db: Database, start: _Start, now: float) -> bool:
    return jobs.owe(db, REEMBED, start.subject, "", due_at=now, now=now)


def _parse(subject: str) -> _Start | None:
    parts = subject.split(":")
    try:
        space_id, number, scope_id, key = map(int, parts)
    except ValueError:
        return None
    return _Start(space_id, number, (scope_id, key))


def _is_of(space: Space, embedder: Embedder) -> bool:
    return (space.model, space.dimensions) == (embedder.model, embedder.dimensions)
