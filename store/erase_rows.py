"""Erases a person from one SQLite file: every row, its full text, vectors, cached embeddings, jobs and letters."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

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
    """Who is erased, and what the search afterwards looks for: texts of theirs, at most 200, in memory alone."""

    namespace: str
    user_id: str
    session_ids: set[str] = field(default_factory=set)
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
        self._person = person
        self._scope = find_scope(db, Scope(person.user_id, person.namespace))
        self.counts: Counter[str] = Counter()
        self._session_pks: list[int] = []
        self._guest_turns: set[tuple[int, int]] = set()
        self._guest_ids: list[int] = []

    def learn_sessions(self) -> None:
        """Adds the person's sessions to what is known of them; before their tombstones are written."""
        for row in self._db.run("erase_sessions", scope_id=self._scope):
            self._session_pks.append(row["id"])
            self._person.session_ids.add(row["session_id"])

    def run(self) -> None:
        """Everything, and then the file anew without what was deleted.

        Raises:
            StoreError: SQLite refused; what was erased before stays so.
        """
        self._db.script("secure_delete", "PRAGMA secure_delete = ON")
        self._messages("erase_messages", guest=False)
        self._messages("erase_messages_as_guest", guest=True)
        with self._db.atomic():
            self._db.script("defer", "PRAGMA defer_foreign_keys = ON")
            self._as_guest()
            self._memories()
            self._work()
            self._rest()

    def _messages(self, statement: str, *, guest: bool) -> None:
        person = self._person
        params = {"scope_id": self._scope or 0, "namespace": person.namespace, "user_id": person.user_id}
        while True:
            rows = self._db.run_on("", statement, params | {"limit": _SLICE})
            if not rows:
                return
            with self._db.atomic():
                self._forget_messages(rows)
            if guest:
                self._guest_turns |= {(row["session_pk"], row["turn"]) for row in rows}
                self._guest_ids += [row["id"] for row in rows]

    def _forget_messages(self, rows: Sequence[Row]) -> None:
        ids = [row["id"] for row in rows]
        self.counts["messages"] += archive_kinds.delete(self._db, KINDS["message"], ids)
        self._events([row["event_id"] for row in rows])
        self._db.many("erase_job", [(f"message:{i}",) for i in ids])
        for row in rows:
            self._person.said(row["content"])
        self._cached([_embedded(row) for row in rows])

    def _as_guest(self) -> None:
        if not self._guest_turns:
            return
        turns = json.dumps(sorted(self._guest_turns))
        summaries = [i for (i,) in self._db.tuples("erase_guest_summaries", {"turns": turns})]
        facts = [i for (i,) in self._db.tuples("erase_guest_facts", {"ids": json.dumps(self._guest_ids)})]
        self._delete("summary", summaries)
        self._delete("fact", facts)
        for name in ("checkpoints", "timeline"):
            self.counts[name] += len(self._db.tuples(f"erase_guest_{name}", {"turns": turns}))

    def _memories(self) -> None:
        if self._scope is None:
            return
        for kind in ("summary", "fact"):
            table = KINDS[kind].table
            texts = [text for (text,) in self._db.tuples("erase_texts", {"scope_id": self._scope}, table=table)]
            self._cached(texts)
            for text in texts:
                self._person.said(text)
            self._delete(kind, [i for (i,) in self._db.tuples("erase_ids", {"scope_id": self._scope}, table=table)])
        for event_id, content in self._db.tuples("erase_run_events", {"scope_id": self._scope}):
            self._events([event_id])
            self._person.said(content)

    def _delete(self, kind: Any, ids: Sequence[int]) -> None:
        self._db.many("erase_job", [(f"{kind}:{i}",) for i in ids])
        self.counts[KINDS[kind].table] += archive_kinds.delete(self._db, KINDS[kind], ids)

    def _work(self) -> None:
        person = self._person
        known = {
            "namespace": person.namespace,
            "user_id": person.user_id,
            "scope_id": self._scope,
            "session_ids": json.dumps(sorted(person.session_ids)),
            "session_pks": json.dumps(self._session_pks),
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
        params: dict[str, object] = {"session_pks": json.dumps(self._session_pks)}
        for (table,) in self._db.tuples("erase_tables", {"column": "session_pk"}):
            self.counts[table] += len(self._db.tuples("erase_by_session", params, table=table))
        if self._scope is None:
            return
        for (table,) in self._db.tuples("erase_tables", {"column": "scope_id"}):
            self.counts[table] += len(self._db.tuples("erase_by_scope", {"scope_id": self._scope}, table=table))
        self._db.run("erase_scope", scope_id=self._scope)

    def _events(self, event_ids: Sequence[str]) -> None:
        self._person.event_ids.update(event_ids)
        self._db.many("erase_events", [(self._person.namespace, event_id) for event_id in event_ids])

    def _cached(self, texts: Sequence[str]) -> None:
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


def _embedded(row: Row) -> str:
    name = json.loads(row["metadata"]).get("name")
    return searchable(name if isinstance(name, str) else None, row["content"])
