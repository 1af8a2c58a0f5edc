"""Stores a batch of stream entries in one transaction. What it cannot store becomes a dead letter in the
same one."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from config.logging import get_logger
from sidestream.events import (
    AnyEvent,
    MemoryAdjust,
    MemoryForget,
    MemoryRemember,
    MemoryUsed,
    SessionEnded,
    SessionFlushed,
    SessionReset,
    SessionStarted,
    SubagentFinished,
    SubagentMessage,
    SubagentStarted,
)
from store import events, leases, messages
from store.db import Database
from store.leases import Lease
from store.sessions import SessionRow
from store.tombstones import Erased
from workers import faults
from workers.apply_memory import apply_memory
from workers.apply_message import apply_message
from workers.apply_session import apply_ended, apply_flushed, apply_reset, apply_started
from workers.apply_subagent import apply_run_finished, apply_run_message, apply_run_started
from workers.batch import Batch, IngestRules
from workers.entries import Incoming, Refused, read_entries, refuse
from workers.errors import Rejected
from workers.session_book import DEFAULT_USER, SessionBook
from workers.stream import Entry, entry_time
from workers.utterance import Utterance

log = get_logger("ingest")

_APPLY: dict[type[AnyEvent] | type[Utterance], Callable[[Batch, SessionRow, Incoming, Any], None]] = {
    Utterance: apply_message,
    SessionStarted: apply_started,
    SessionEnded: apply_ended,
    SessionReset: apply_reset,
    SessionFlushed: apply_flushed,
    SubagentStarted: apply_run_started,
    SubagentMessage: apply_run_message,
    SubagentFinished: apply_run_finished,
    MemoryRemember: apply_memory,
    MemoryForget: apply_memory,
    MemoryAdjust: apply_memory,
    MemoryUsed: apply_memory,
}
# These belong to a run that stands already; a stray one must not make a session.
_OF_A_RUN = (SubagentMessage, SubagentFinished)


@dataclass(slots=True)
class Applied:
    """What a batch came to: jobs owed by kind, and how many events were stored, repeated and refused."""

    owed: Counter[str] = field(default_factory=Counter)
    stored: int = 0
    repeated: int = 0
    dead: int = 0

    def add(self, other: "Applied") -> "Applied":
        """Both together."""
        return Applied(
            self.owed + other.owed,
            self.stored + other.stored,
            self.repeated + other.repeated,
            self.dead + other.dead,
        )


class Ingest:
    """Writes batches through one connection, under one lease that is checked and extended in every
    transaction."""

    def __init__(self, db: Database, lease: Lease, rules: IngestRules, clock: Callable[[], float]) -> None:
        self._db = db
        self._lease = lease
        self._rules = rules
        self._clock = clock

    def apply(self, entries: list[Entry], items: list[Incoming | Refused] | None = None) -> Applied:
        """Stores `entries` in their order; all or nothing. `items` are the entries as read, if they are.

        Raises:
            LeaseLost: another consumer has taken over; nothing was written.
            StoreError: SQLite refused; nothing was written.
            Exception: an entry ran into a fault of the program; nothing was written.
        """
        if items is None:
            items = read_entries(entries, self._clock())
        with self._db.atomic():
            now = self._clock()
            leases.hold(self._db, self._lease, now)
            batch = self._begin(items, now)
            self._fold(batch, items)
            batch.write()
            faults.reach("consumer.before_commit")
        faults.reach("consumer.after_commit")
        return Applied(batch.owed, len(batch.events), batch.duplicates, len(batch.dead))

    @property
    def lease_lasts(self) -> float:
        """Seconds for which each transaction extends the lease."""
        return self._lease.ttl

    def keep(self) -> None:
        """Extends the lease.

        Raises:
            LeaseLost: another consumer has taken over.
        """
        with self._db.atomic():
            leases.hold(self._db, self._lease, self._clock())

    def bury(self, entry: Entry, error: Exception) -> Applied:
        """Makes a dead letter of an entry that no batch can hold."""
        reason = f"{type(error).__name__}: {error}"
        with self._db.atomic():
            now = self._clock()
            leases.hold(self._db, self._lease, now)
            batch = self._begin([], now)
            batch.dead.append(refuse(entry.id, entry.fields, reason))
            batch.write()
        return Applied(dead=1)

    def _begin(self, items: list[Incoming | Refused], now: float) -> Batch:
        sessions = ((i.event.namespace, i.event.session_id) for i in items if isinstance(i, Incoming))
        book = SessionBook(self._db, sessions, now)
        return Batch(self._db, self._rules, book, now, messages.next_message_id(self._db))

    def _fold(self, batch: Batch, items: list[Incoming | Refused]) -> None:
        valid = [item for item in items if isinstance(item, Incoming)]
        known = events.seen_many(self._db, ((i.event.namespace, i.event_id) for i in valid))
        erased = Erased(self._db)
        for item in items:
            if _was_erased(erased, item):
                batch.erased += 1
                continue
            if isinstance(item, Refused):
                batch.dead.append(item)
                continue
            key = (item.event.namespace, item.event_id)
            digest = known.get(key)
            if digest == item.digest:
                batch.duplicates += 1
                continue
            try:
                if digest is not None:
                    raise Rejected(f"id: {item.event_id!r} was stored before with other content")
                self._enter(batch, item)
            except Rejected as error:
                batch.dead.append(refuse(item.entry_id, item.body, str(error)))
                continue
            known[key] = item.digest
            batch.stored(item)

    @staticmethod
    def _enter(batch: Batch, item: Incoming) -> None:
        session = batch.book.enter(item.event, item.occurred_at, create=not isinstance(item.event, _OF_A_RUN))
        _APPLY[type(item.event)](batch, session, item, item.event)


def _was_erased(erased: Erased, item: Incoming | Refused) -> bool:
    """It happened before its user, or its session, was erased; then not even a dead letter keeps it."""
    if isinstance(item, Refused):
        user, session = item.body.get("user_id"), item.body.get("session_id")
        return erased.since(item.namespace, user or DEFAULT_USER, session, entry_time(item.entry_id))
    event = item.event
    return erased.since(event.namespace, event.user_id or DEFAULT_USER, event.session_id, item.occurred_at)
