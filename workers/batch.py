"""What one write transaction of the consumer is going to write, collected event by event and written table
by table."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from memory.compaction.thresholds import CompactionRules
from memory.turns import WindowRules
from memory.types import Kind
from store import counters, dead_letters, events, fulltext, jobs, messages
from store.db import Database
from store.events import EventRow
from store.jobs import JobRow
from store.messages import MessageRow
from store.sessions import SessionRow
from workers.counting import count_triggered
from workers.entries import Incoming, Refused
from workers.kinds import EMBED
from workers.session_book import SessionBook


@dataclass(frozen=True, slots=True)
class IngestRules:
    """The settings that decide what an event becomes. Seconds, characters, tokens and turns as the names
    say."""

    embed_min_chars: int
    extract_every: int
    compaction: CompactionRules
    subagent_reply_tokens: int
    extract_latest: int = 20
    extract_gap: float = 30.0


@dataclass(slots=True)
class Batch:
    """Rows to be written, with what the event handlers need to make them. `embeddings`: how many messages owe one;
    `compactions`: how many were asked for."""

    db: Database
    rules: IngestRules
    book: SessionBook
    now: float
    next_message_id: int
    events: list[EventRow] = field(default_factory=list)
    messages: list[MessageRow] = field(default_factory=list)
    terms: list[tuple[Kind, int, int, str]] = field(default_factory=list)
    jobs: list[JobRow] = field(default_factory=list)
    dead: list[Refused] = field(default_factory=list)
    embeddings: int = 0
    compactions: int = 0
    duplicates: int = 0
    erased: int = 0
    owed: Counter[str] = field(default_factory=Counter)
    _named: dict[tuple[int, str], int] = field(default_factory=dict)

    @property
    def windows(self) -> WindowRules:
        """How many closed turns make an extraction window."""
        every = self.rules.extract_every
        return WindowRules(every, max(every, self.rules.extract_latest), self.rules.extract_gap)

    def owe(self, kind: str, subject: str, namespace: str, payload: dict[str, Any]) -> None:
        """Work that is due now."""
        self.jobs.append(JobRow(kind, subject, namespace, self.now, self.now, _json(payload)))
        self.owed[kind] += 1

    def defer(self, kind: str, subject: str, namespace: str, payload: dict[str, Any]) -> None:
        """Work whose handler does not exist yet: kept, but not owed."""
        self.jobs.append(JobRow(kind, subject, namespace, self.now, self.now, _json(payload), "deferred"))

    def turn_named(self, session: SessionRow, turn_id: str) -> int | None:
        """The newest turn in which the session has a message of that `turn_id`, stored or in this batch."""
        found = self._named.get((session.id, turn_id))
        return messages.turn_named(self.db, session.id, turn_id) if found is None else found

    def add_message(self, row: MessageRow) -> None:
        """Adds a message that is to be written."""
        self.messages.append(row)
        if row.turn_id is not None:
            self._named[row.session_pk, row.turn_id] = row.turn

    def stored(self, item: Incoming) -> None:
        """The event's rows are in the batch."""
        event = item.event
        self.events.append(EventRow(event.namespace, item.event_id, event.type, item.digest, item.entry_id, self.now))

    def write(self) -> None:
        """Writes everything; inside the transaction."""
        db = self.db
        events.record(db, self.events)
        messages.insert_many(db, self.messages)
        fulltext.index(db, self.terms)
        jobs.owe_many(db, self.jobs)
        count_triggered(db, self.jobs)
        if self.embeddings:
            self.owed[EMBED] += jobs.owe_embeddings(db, EMBED, self.messages[0].id, self.now)
        self.book.save()
        for letter in self.dead:
            dead_letters.bury(db, "event", letter.entry_id, letter.namespace, letter.reason, letter.body, self.now)
        if self.compactions:
            counters.bump(db, "compaction_l3_triggered", self.compactions)
        for name, count in (
            ("stored", len(self.events)),
            ("dead", len(self.dead)),
            ("repeated", self.duplicates),
            ("erased", self.erased),
        ):
            if count:
                counters.bump(db, f"events_{name}", count)


def _json(payload: dict[str, Any]) -> str:
    if set(map(type, payload.values())) <= {int}:
        # What most payloads are, for a fifth of the encoder's price.
        return "{" + ", ".join([f'"{name}": {value}' for name, value in payload.items()]) + "}"
    return _ENCODE(payload)


_ENCODE = json.JSONEncoder(ensure_ascii=False).encode
