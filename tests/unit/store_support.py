"""A small store to test with: sessions and messages of any user, without the consumer."""

import struct
from collections.abc import Sequence
from pathlib import Path

from memory.terms import terms
from memory.types import Scope
from store import events, fulltext, messages, scopes, sessions, summaries
from store.db import Database
from store.events import EventRow
from store.messages import OWED, MessageRow
from store.opening import open_database
from store.sessions import SessionRow

NOW = 1_700_000_000.0


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def opened(folder: Path, clock: Clock | None = None) -> Database:
    """A fresh, migrated database in `folder`."""
    return open_database(folder / "sidestream.db", clock=clock or Clock())


def session(db: Database, scope: Scope, *, shared: bool = False, agent_id: str | None = None) -> SessionRow:
    """The session that `scope` names, made where it is missing."""
    assert scope.session_id is not None
    key = (scope.namespace, scope.session_id)
    found = sessions.load_many(db, [key])
    if found:
        return found[key]
    with db.atomic():
        pk = scopes.scope_id(db, scope.namespace, scope.user_id)
        row = SessionRow(scope.namespace, scope.session_id, pk, NOW, NOW, shared=shared, agent_id=agent_id)
        return sessions.create(db, row)


def say(
    db: Database,
    scope: Scope,
    *texts: str,
    turn: int = 1,
    role: str = "user",
    has_embedding: int = OWED,
    agent_id: str | None = None,
    metadata: str = "{}",
) -> list[int]:
    """Stores and indexes messages in the scope's session; their ids. Event ids are `<session>-<seq>`."""
    row = session(db, scope)
    with db.atomic():
        pk = scopes.scope_id(db, scope.namespace, scope.user_id)
        first = messages.next_message_id(db)
        stored = []
        for number, text in enumerate(texts):
            row.last_seq += 1
            event_id = f"{scope.session_id}-{row.last_seq}"
            stored.append(
                MessageRow(
                    first + number, row.id, pk, event_id, row.last_seq, turn, None, role, text, "normal", agent_id,
                    None, None, None, 1, has_embedding, NOW + row.last_seq, NOW, metadata,
                )
            )  # fmt: skip
        messages.insert_many(db, stored)
        events.record(db, [EventRow(scope.namespace, m.event_id, "message", "d", f"{m.id}-0", NOW) for m in stored])
        fulltext.index(db, [("message", m.id, pk, " ".join(terms(m.content))) for m in stored])
        row.message_count += len(stored)
        sessions.save_many(db, [row])
    return [m.id for m in stored]


def summarise(db: Database, scope: Scope, turn: int, text: str, *, keep: int = 10) -> int | None:
    """Stores and indexes the summary of one turn."""
    row = session(db, scope)
    return summaries.insert(
        db,
        session_pk=row.id,
        scope_id=row.scope_id,
        turn_first=turn,
        turn_last=turn,
        content=text,
        source_count=2,
        confidence=0.5,
        method="rules",
        occurred_at=NOW + turn,
        now=NOW,
        keep=keep,
        terms=" ".join(terms(text)),
    )


def vector(*values: float, dimensions: int = 8) -> bytes:
    """A unit vector that starts with `values`."""
    padded = [*values, *([0.0] * (dimensions - len(values)))]
    length = sum(v * v for v in padded) ** 0.5
    return struct.pack(f"<{dimensions}f", *(v / length for v in padded))


def texts_of(found: Sequence[object]) -> list[str]:
    """The contents of messages or summaries."""
    return [str(getattr(item, "content", "")) for item in found]
