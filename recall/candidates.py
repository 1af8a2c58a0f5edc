"""What the search arms find in SQLite, and the rows behind it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.ranking import Key, Scored
from memory.types import Candidate, Degraded, Hit, Kind, Scope, StoredMessage, Summary
from store import fulltext, messages, spaces, summaries, vectors
from store.db import Database
from store.errors import StoreError

SUMMARY_TOKENS = 40
"""About what the summary of a turn has; its own size is not looked up."""


@dataclass(frozen=True, slots=True)
class QuerySpace:
    """A query's vector and the embedding space that it belongs to."""

    vector: bytes
    model: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates of both arms; `neighbours` and `lengths` as memory.ranking.fuse wants them."""

    text: list[Candidate] = field(default_factory=list)
    dense: list[Candidate] = field(default_factory=list)
    neighbours: dict[Key, list[Key]] = field(default_factory=dict)
    lengths: dict[Key, int] = field(default_factory=dict)
    degraded: list[Degraded] = field(default_factory=list)


def find(
    db: Database,
    scope: Scope,
    terms: Sequence[str],
    query: QuerySpace | None,
    limit: int,
    kinds: Sequence[Kind],
) -> Found:
    """At most `limit` candidates of each arm within the scope."""
    text = fulltext.search(db, scope, terms, limit, kinds)
    dense: list[Candidate] = []
    degraded: list[Degraded] = []
    if query is not None:
        space = spaces.active_space(db)
        if not db.has_vec:
            degraded.append(Degraded("vectors", "sqlite-vec is not loaded"))
        elif space is None:
            # Nothing was ever embedded; that is a lag and no fault.
            pass
        elif (space.model, space.dimensions) != (query.model, query.dimensions):
            degraded.append(Degraded("vectors", f"memories are embedded by {space.model}, the query by {query.model}"))
        else:
            try:
                dense = vectors.knn(db, space, scope, query.vector, limit, kinds)
            except StoreError as error:
                # A space without its table; anything graver would show in every other statement too.
                if type(error) is not StoreError:
                    raise
                degraded.append(Degraded("vectors", str(error)))
    ids = list(dict.fromkeys(c.id for c in (*text, *dense) if c.kind == "message"))
    beside = messages.beside(db, scope, ids)
    neighbours: dict[Key, list[Key]] = {
        ("message", i): [("message", n) for n in near.ids] for i, near in beside.items()
    }
    lengths: dict[Key, int] = {(c.kind, c.id): SUMMARY_TOKENS for c in text if c.kind == "summary"}
    lengths |= {("message", i): b.tokens for i, b in beside.items()}
    return Found(text, dense, neighbours, lengths, degraded)


def load(db: Database, scope: Scope, keys: Sequence[Key]) -> dict[Key, StoredMessage | Summary]:
    """The rows of those keys that are in the scope, and in its session if it names one."""
    rows: dict[Key, StoredMessage | Summary] = {}
    for message in messages.by_ids(db, scope, [i for kind, i in keys if kind == "message"]):
        rows["message", message.id] = message
    for summary in summaries.by_ids(db, scope, [i for kind, i in keys if kind == "summary"]):
        rows["summary", summary.id] = summary
    return rows


def hit(scored: Scored, row: StoredMessage | Summary) -> Hit:
    """A scored row as it is handed out."""
    if isinstance(row, Summary):
        return Hit(
            kind="summary",
            id=row.id,
            score=scored.score,
            content=row.content,
            occurred_at=row.occurred_at,
            session_id=row.session_id,
            turn=row.turn_last,
            metadata={"turn_first": row.turn_first, "confidence": row.confidence, "method": row.method},
            parts=scored.parts,
        )
    return Hit(
        kind="message",
        id=max(row.id, 0),
        score=scored.score,
        content=row.content,
        occurred_at=row.occurred_at,
        session_id=row.session_id,
        role=row.role,
        turn=row.turn or None,
        event_id=row.event_id,
        metadata=row.metadata,
        parts=scored.parts,
    )
