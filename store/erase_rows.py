"""Erases a person from one SQLite file: every row, its full text, vectors, cached embeddings, jobs and letters."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory.retention import Type
from memory.terms import searchable
from memory.types import Scope
from store import archive_kinds
from store.archive_kinds import KINDS
from store.db import Database, Row
from store.embedding_cache import digest
from store.scopes import find_scope

_SLICE = 200
_LONG = 24
_NEEDLES = 200


@dataclass(slots=True)
class Person:
    """Who is erased, and what the search afterwards looks for: texts of theirs, at most 200, in memory alone.

    `guest_ids` and `guest_turns` (session's number and turn) are messages of theirs in sessions of others.
    """

    namespace: str
    user_id: str
    session_ids: set[str] = field(default_factory=set)
    session_pks: set[int] = field(default_factory=set)
    guest_ids: set[int] = field(default_factory=set)
    guest_turns: set[tuple[int, int]] = field(default_factory=set)
    timeline_ids: set[int] = field(default_factory=set)
    event_ids: set[str] = field(default_factory=set)
    needles: set[str] = field(default_factory=set)

    def said(self, text: str) -> None:
        """Keeps a text to look for, if it is long enough to be theirs alone."""
        if len(text) >= _LONG and len(self.needles) < _NEEDLES:
            self.needles.add(text)


class RowEraser:
    """Erases `person` from one database, in slices that are each committed; asking again goes on."""

    def __init__(self, db: Database, person: Person) -> None:
        self._db = db
        self.person = person
        self._scope = find_scope(db, Scope(person.user_id, person.namespace))
        self.counts: Counter[str] = Counter()

    def learn(self) -> None:
        """Adds the person's sessions, and where they spoke as a guest, to what is known of them; before their
        tombstones are written, and before anything is deleted."""
        person = self.person
        for row in self._db.run("erase_sessions", scope_id=self._scope):
            person.session_pks.add(row["id"])
            person.session_ids.add(row["session_id"])
        self._spoke(self._guest_rows(-1))

    def forget_made_of(self) -> None:
        """What was made of the person's words in sessions of others, and what is being made of them: whoever has such
        a job in hand cannot write its result, and the job is done again with what is left."""
        person = self.person
        if not person.guest_turns and not person.timeline_ids:
            return
        turns = json.dumps(sorted(person.guest_turns))
        ids = json.dumps(sorted(person.guest_ids))
        known = {"turns": turns, "ids": ids, "entries": json.dumps(sorted(person.timeline_ids))}
        with self._db.atomic():
            self._delete("summary", self._db.tuples("erase_guest_summaries", known))
            self._delete("fact", self._db.tuples("erase_guest_facts", known))
            for name in ("checkpoints", "timeline", "drafts"):
                self.counts[name] += len(self._db.tuples(f"erase_guest_{name}", known))
            self._db.run("erase_guest_jobs", turns=turns, now=self._db.clock())

    def run(self) -> None:
        """Everything, and then the file anew without what was deleted.

        Raises:
            StoreError: SQLite refused; what was erased before stays so.
        """
        self._db.script("secure_delete", "PRAGMA secure_delete = ON")
        self._messages(guest=False)
        self._messages(guest=True)
        with self._db.atomic():
            self._db.script("defer", "PRAGMA defer_foreign_keys = ON")
            self._memories()
            self._work()
            self._rest()

    def _messages(self, *, guest: bool) -> None:
        while rows := self._guest_rows(_SLICE) if guest else self._own_rows():
            with self._db.atomic():
                self._forget_messages(rows)
                if guest:
                    self._spoke(rows)
                    self.forget_made_of()

    def _spoke(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self.person.guest_ids.add(row["id"])
            self.person.guest_turns.add((row["session_pk"], row["turn"]))

    def _own_rows(self) -> list[Row]:
        return self._db.run_on("", "erase_messages", {"scope_id": self._scope or 0, "limit": _SLICE})

    def _guest_rows(self, limit: int) -> list[Row]:
        person = self.person
        params = {"namespace": person.namespace, "user_id": person.user_id, "limit": limit}
        return self._db.run_on("", "erase_messages_as_guest", params)

    def _forget_messages(self, rows: Sequence[Row]) -> None:
        ids = [row["id"] for row in rows]
        self.counts["messages"] += archive_kinds.delete(self._db, KINDS["message"], ids)
        self._events([row["event_id"] for row in rows])
        self._db.many("erase_job", [(f"message:{i}",) for i in ids])
        for row in rows:
            self.person.said(row["content"])
        self.forget_cached([embedded(row) for row in rows])

    def _memories(self) -> None:
        if self._scope is None:
            return
        for kind in ("summary", "fact"):
            table = KINDS[kind].table
            self._delete(kind, self._db.tuples("erase_texts", {"scope_id": self._scope}, table=table))
        for (text,) in self._db.tuples("erase_drafts", {"scope_id": self._scope}):
            self.person.said(text)
        for event_id, content in self._db.tuples("erase_run_events", {"scope_id": self._scope}):
            self._events([event_id])
            self.person.said(content)

    def _delete(self, kind: Type, rows: Sequence[tuple[Any, ...]]) -> None:
        """Rows of id and text; with each earlier text of a fact, which was embedded too."""
        ids = [i for i, _ in rows]
        texts = [text for _, text in rows]
        if kind == "fact":
            texts += [text for (text,) in self._db.tuples("erase_former_texts", {"ids": json.dumps(ids)})]
        self.forget_cached(texts)
        for text in texts:
            self.person.said(text)
        self._db.many("erase_job", [(f"{kind}:{i}",) for i in ids])
        self.counts[KINDS[kind].table] += archive_kinds.delete(self._db, KINDS[kind], ids)

    def _work(self) -> None:
        person = self.person
        known = {
            "namespace": person.namespace,
            "user_id": person.user_id,
            "scope_id": self._scope,
            "session_ids": json.dumps(sorted(person.session_ids)),
            "session_pks": json.dumps(sorted(self.person.session_pks)),
        }
        found = self._db.tuples("erase_jobs", known)
        jobs = [i for i, _ in found]
        self.counts["jobs"] += len(jobs)
        prefix = f"event:{len(person.namespace)}:{person.namespace}:"
        self._events([subject.removeprefix(prefix) for _, subject in found if subject.startswith(prefix)])
        letters = self._db.tuples("erase_dead_letters", known | {"jobs": json.dumps([str(i) for i in jobs])})
        self.counts["dead_letters"] += len(letters)
        self._db.run("erase_audit", namespace=person.namespace, user_id=person.user_id)

    def _rest(self) -> None:
        """Whatever else names the person's scope or sessions, also in tables that this file does not know."""
        params: dict[str, object] = {"session_pks": json.dumps(sorted(self.person.session_pks))}
        for (table,) in self._db.tuples("erase_tables", {"column": "session_pk"}):
            self.counts[table] += len(self._db.tuples("erase_by_session", params, table=table))
        if self._scope is None:
            return
        for (table,) in self._db.tuples("erase_tables", {"column": "scope_id"}):
            self.counts[table] += len(self._db.tuples("erase_by_scope", {"scope_id": self._scope}, table=table))
        self._db.run("erase_scope", scope_id=self._scope)

    def _events(self, event_ids: Sequence[str]) -> None:
        self.person.event_ids.update(event_ids)
        self._db.many("erase_events", [(self.person.namespace, event_id) for event_id in event_ids])

    def forget_cached(self, texts: Sequence[str]) -> None:
        """Takes the vectors of these texts out of the cache."""
        self._db.many("erase_cached", [(digest(text),) for text in texts])


def rewrite(db: Database) -> bool:
    """Writes the full-text index and the whole file anew, so that nothing deleted stands in a free page, and cuts the
    write-ahead log; False where a reader kept it from being cut.

    Raises:
        StoreBusy: another writer held the lock; StoreFull: there is no room for a second copy of the file.
    """
    with db.atomic():
        db.run("fulltext_optimise")
    db.script("vacuum", "VACUUM")
    busy, _, _ = db.tuples("wal_checkpoint")[0]
    return not busy


def embedded(row: Mapping[str, Any]) -> str:
    """What of a message is embedded."""
    name = json.loads(row["metadata"]).get("name")
    return searchable(name if isinstance(name, str) else None, row["content"])
