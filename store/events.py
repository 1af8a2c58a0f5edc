"""The ledger of events: one row each for good, so that a repeat is known, and the state of one event."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from store.db import Database

State: TypeAlias = Literal["accepted", "stored", "embedded", "summarised", "dead"]


class EventRow(NamedTuple):
    """One event, in the order of the table's columns. `stored_at` is unix seconds."""

    namespace: str
    event_id: str
    type: str
    digest: str
    entry_id: str
    stored_at: float


@dataclass(frozen=True, slots=True)
class EventState:
    """How far an event has come.

    `embedded` is true where it needs no embedding, `summarised` where its turn has a summary; both stay
    false for events that are not messages, whose last state is `stored`. `reason` says why it is dead.
    """

    type: str
    state: State
    stored: bool = False
    embedded: bool = False
    summarised: bool = False
    reason: str | None = None


def seen(db: Database, namespace: str, event_id: str) -> str | None:
    """The digest under which the event was stored, or None."""
    found = db.value("events_digest", namespace=namespace, event_id=event_id)
    return None if found is None else str(found)


def seen_many(db: Database, ids: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Digest by (namespace, event id), for those that are stored."""
    rows = db.tuples("events_digests", {"ids": json.dumps(list(ids))})
    return {(namespace, event_id): digest for namespace, event_id, digest in rows}


def record(db: Database, rows: Sequence[EventRow]) -> None:
    """Records events; inside the transaction that stores what they say.

    Raises:
        StoreConflict: one of them is recorded already.
    """
    db.insert("events_record", rows)


def event_state(db: Database, namespace: str, event_id: str) -> EventState | None:
    """How far the event has come; None where SQLite knows nothing of it (it may still be on its way)."""
    row = db.one("events_state", namespace=namespace, event_id=event_id)
    if row is None:
        return _dead(db, namespace, event_id)
    if row["has_embedding"] is None:
        return EventState(type=row["type"], state="stored", stored=True)
    embedded, summarised = row["has_embedding"] != 0, bool(row["summarised"])
    state: State = "stored"
    if embedded:
        state = "summarised" if summarised else "embedded"
    return EventState(type=row["type"], state=state, stored=True, embedded=embedded, summarised=summarised)


def _dead(db: Database, namespace: str, event_id: str) -> EventState | None:
    row = db.one("dead_letters_of_event", namespace=namespace, event_id=event_id)
    if row is None:
        return None
    return EventState(type=row["type"] or "", state="dead", reason=row["reason"])
