"""The rows behind candidates, and how each is handed out."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from memory.facts.model import Fact
from memory.ranking import Key, Scored
from memory.types import Hit, Scope, StoredMessage, Summary, TimelineEntry
from store import messages, recalled, summaries
from store.db import Database

Row: TypeAlias = StoredMessage | Summary | Fact | TimelineEntry
Rows: TypeAlias = Mapping[Key, Row]


def load(db: Database, scope: Scope, keys: Sequence[Key]) -> dict[Key, Row]:
    """The rows of those keys that are in the scope, and in its session if it names one."""
    ids: dict[str, list[int]] = {"message": [], "summary": [], "fact": [], "timeline": []}
    for kind, row_id in keys:
        ids[kind].append(row_id)
    rows: dict[Key, Row] = {("message", m.id): m for m in messages.by_ids(db, scope, ids["message"])}
    rows |= {("summary", s.id): s for s in summaries.by_ids(db, scope, ids["summary"])}
    rows |= {("fact", f.id): f for f in recalled.facts(db, scope, ids["fact"])}
    return rows | {("timeline", t.id): t for t in recalled.timeline(db, scope, ids["timeline"])}


def hit(scored: Scored, row: Row) -> Hit:
    """A scored row as it is handed out."""
    match row:
        case StoredMessage():
            return _message(scored, row)
        case Summary():
            return _summary(scored, row)
        case Fact():
            return _fact(scored, row)
        case TimelineEntry():
            return _entry(scored, row)


def _message(scored: Scored, row: StoredMessage) -> Hit:
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


def _summary(scored: Scored, row: Summary) -> Hit:
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


def _fact(scored: Scored, row: Fact) -> Hit:
    """Dated by when it began to hold."""
    return Hit(
        kind="fact",
        id=row.id,
        score=scored.score,
        content=row.content,
        occurred_at=row.valid_from,
        session_id=row.session_id or "",
        metadata={
            "memory_id": row.memory_id,
            "type": row.memory_type,
            "key": row.key,
            "status": row.status,
            "tags": list(row.tags),
            "confidence": row.confidence,
            "importance": row.importance,
            "weight": row.weight,
            "valid_to": row.valid_to,
            "superseded_by": row.superseded_by,
            "said_by": row.said_by,
        },
        parts=scored.parts,
    )


def _entry(scored: Scored, row: TimelineEntry) -> Hit:
    """Dated by its end."""
    return Hit(
        kind="timeline",
        id=row.id,
        score=scored.score,
        content=row.content,
        occurred_at=row.ends_at,
        session_id=row.session_id or "",
        metadata={"level": row.level, "period": row.period, "starts_at": row.starts_at, "method": row.method},
        parts=scored.parts,
    )
