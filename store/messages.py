"""Messages of the main dialogue."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory.types import Scope, StoredMessage
from store import sessions
from store.db import Database, Row
from store.scopes import find_scope
from store.sessions import SessionRow

OWED, EMBEDDED, NEEDS_NONE = 0, 1, 2
"""Values of `has_embedding`."""


class MessageRow(NamedTuple):
    """One message, in the order of the table's columns (a tuple, since thousands a second are bound).

    `id` comes from `next_message_id`. `has_embedding` is OWED where an embed job is written with it,
    NEEDS_NONE where the message is too short or of a role that is not embedded. Times are unix seconds;
    `metadata` is JSON text.
    """

    id: int
    session_pk: int
    scope_id: int
    event_id: str
    seq: int
    turn: int
    turn_id: str | None
    role: str
    content: str
    msg_type: str
    agent_id: str | None
    data_source: str | None
    parent_id: str | None
    run_id: str | None
    token_count: int
    has_embedding: int
    occurred_at: float
    ingested_at: float
    metadata: str = "{}"


class Beside(NamedTuple):
    """A message's tokens, and the ids of those beside it."""

    tokens: int
    ids: list[int]


@dataclass(frozen=True, slots=True)
class MessageText:
    """What the workers need of a message to embed or index it."""

    id: int
    scope_id: int
    session_pk: int
    role: str
    content: str
    name: str | None
    occurred_at: float


def next_message_id(db: Database) -> int:
    """The first free id; inside the write transaction the following ones are free too. Ids never come
    back."""
    return int(db.value("messages_next_id"))


def insert_many(db: Database, rows: Sequence[MessageRow]) -> None:
    """Inserts messages, ids and seqs as the caller assigned them.

    Raises:
        StoreConflict: an id or a session's seq stands already.
    """
    db.insert("messages_insert", rows)


def window(
    db: Database, scope: Scope, limit: int, min_seq: int = 0, *, session: SessionRow | None = None
) -> list[StoredMessage]:
    """The newest `limit` messages of the session that `scope` names, oldest first.

    Messages up to the session's last reset, and up to `min_seq` (a checkpoint's boundary), are left out. `session` is
    the session's row, from who has it already.
    """
    session = session or sessions.get(db, scope)
    if session is None:
        return []
    after = max(session.reset_seq, min_seq)
    rows = db.run("messages_window", session_pk=session.id, after=after, limit=limit)
    return [_stored(row) for row in reversed(rows)]


def after_seq(db: Database, session_pk: int, after: int, up_to: int, limit: int) -> list[StoredMessage]:
    """A session's messages with `after` < seq <= `up_to`, oldest first, at most `limit`; for the workers."""
    rows = db.run("messages_after_seq", session_pk=session_pk, after=after, up_to=up_to, limit=limit)
    return [_stored(row) for row in rows]


def by_ids(db: Database, scope: Scope, ids: Sequence[int]) -> list[StoredMessage]:
    """Those of `ids` that are in the scope (and in its session, if it names one), in the order of `ids`."""
    pk = find_scope(db, scope)
    if pk is None or not ids:
        return []
    rows = db.run("messages_by_ids", ids=json.dumps(list(ids)), scope_id=pk, session_id=scope.session_id)
    return [_stored(row) for row in rows]


def beside(db: Database, scope: Scope, ids: Sequence[int]) -> dict[int, Beside]:
    """For those of `ids` that are in the scope, their size, and the messages just before and after in the session."""
    pk = find_scope(db, scope)
    if pk is None or not ids:
        return {}
    found: dict[int, Beside] = {}
    for message, tokens, neighbour in db.tuples("messages_beside", {"ids": json.dumps(list(ids)), "scope_id": pk}):
        near = found.setdefault(message, Beside(tokens, [])).ids
        if neighbour is not None:
            near.append(neighbour)
    return found


def turn(db: Database, session_pk: int, turn: int) -> list[StoredMessage]:
    """A turn's messages in order; for the workers, which have the session from a job."""
    return [_stored(row) for row in db.run("messages_turn", session_pk=session_pk, turn=turn)]


def turns(db: Database, session_pk: int, first: int, last: int) -> list[StoredMessage]:
    """The messages of turns `first` to `last`, in order; for the workers."""
    return [_stored(row) for row in db.run("messages_turns", session_pk=session_pk, first=first, last=last)]


def turn_named(db: Database, session_pk: int, turn_id: str) -> int | None:
    """The newest turn of the session in which a message has that explicit id; None where none has."""
    found = db.value("messages_turn_named", session_pk=session_pk, turn_id=turn_id)
    return None if found is None else int(found)


def contents(db: Database, ids: Sequence[int]) -> dict[int, MessageText]:
    """Texts by id, for those that exist; for the workers, which have the ids from jobs."""
    rows = db.run("messages_contents", ids=json.dumps(list(ids)))
    return {row["id"]: MessageText(**row) for row in rows}


def has_event(db: Database, namespace: str, event_id: str) -> bool:
    """The event is stored, whatever its type."""
    return db.value("events_digest", namespace=namespace, event_id=event_id) is not None


def stored_events(db: Database, namespace: str, event_ids: Sequence[str]) -> set[str]:
    """Which of the events are stored; a reader drops these from the tail."""
    pairs = json.dumps([(namespace, event_id) for event_id in event_ids])
    return {event_id for _, event_id, _ in db.tuples("events_digests", {"ids": pairs})}


def mark_embedded(db: Database, ids: Sequence[int]) -> None:
    """Says that their vectors stand; in the transaction that writes these."""
    db.many("messages_mark_embedded", [(i,) for i in ids])


def _stored(row: Row) -> StoredMessage:
    text = row["metadata"]
    row["metadata"] = {} if text == "{}" else json.loads(text)
    return StoredMessage(**row)
