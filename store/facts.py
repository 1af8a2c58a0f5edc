"""Facts: long-term memory. A fact that changes is closed and another opened; every change leaves a line of history.

Only active facts stand in full-text and vectors. All that writes belongs into a transaction of the caller's.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memory.facts.gate import joint_end
from memory.facts.model import TRUST, Change, Draft, Fact, FactText, Origin, Status
from memory.terms import terms
from memory.types import Scope
from store import fulltext, holds, spaces, vectors
from store.db import Database
from store.scopes import find_scope

_NEIGHBOURS = 64
_STRONGER = 0.5
"""Of the distance to certainty that a repeat takes away."""


def insert(
    db: Database, memory_id: str, draft: Draft, origin: Origin, *, actor: str, reason: str, now: float
) -> int | None:
    """Writes a candidate; its number, or None where a fact of that id stands already, whatever became of it."""
    new = db.value(
        "facts_insert",
        memory_id=memory_id,
        scope_id=origin.scope_id,
        key=draft.key,
        content=draft.content,
        memory_type=draft.memory_type,
        cognitive_kind=draft.cognitive_kind,
        tags=_json(draft.tags),
        importance=draft.importance,
        confidence=draft.confidence,
        weight=draft.importance,
        source_type=origin.source_type,
        source_session=origin.session_pk,
        source_ids=_json(draft.source_ids),
        valid_from=draft.said_at if draft.valid_from is None else draft.valid_from,
        expires_at=draft.expires_at,
        owner_agent=origin.owner_agent,
        data_source=origin.data_source,
        subject=draft.subject,
        attribute=draft.attribute,
        topic=draft.topic,
        value=draft.value,
        polarity=draft.polarity,
        said_by=draft.said_by,
        trust=TRUST[draft.said_by],
        extractor=origin.extractor,
        source_text=draft.source_text,
        status_reason=draft.hold,
        now=now,
    )
    if new is None:
        return None
    _note_new(db, memory_id, origin.scope_id, actor, reason, now)
    return int(new)


def activate(db: Database, fact: Fact, *, actor: str, reason: str, now: float) -> None:
    """Makes a candidate, or an archived fact, active and searchable. Its embedding is the caller's to owe."""
    db.run("facts_activate", id=fact.id, now=now)
    fulltext.remove(db, "fact", [fact.id])
    fulltext.index(db, [("fact", fact.id, fact.scope_id, " ".join(terms(fact.content)))])
    note(
        db,
        fact,
        "activated",
        {"status": fact.status, "status_reason": fact.status_reason},
        actor=actor,
        reason=reason,
        now=now,
    )


def strengthen(
    db: Database, fact: Fact, draft: Draft, *, actor: str, reason: str, now: float, kept: bool = False
) -> None:
    """The same was said again: sources are joined, confidence and weight grow, and it holds for as long as the longer
    of the two. Known sources change nothing. `kept`: on purpose, so that no other reading takes its place."""
    joined = tuple(dict.fromkeys((*fact.source_ids, *draft.source_ids)))
    if joined == fact.source_ids and draft.source_ids:
        return
    certain = max(fact.confidence, draft.confidence)
    db.run(
        "facts_strengthen",
        id=fact.id,
        source_ids=_json(joined),
        confidence=round(min(0.99, certain + (1.0 - certain) * _STRONGER), 4),
        weight=round(min(1.0, fact.weight + 0.05), 4),
        expires_at=joint_end(fact.expires_at, draft.expires_at, kept),
        kept=int(kept),
        now=now,
    )
    before = {"source_ids": list(fact.source_ids), "confidence": fact.confidence, "weight": fact.weight}
    note(db, fact, "strengthened", before, actor=actor, reason=reason, now=now)


def supersede(db: Database, old: Fact, new: Fact, *, actor: str, reason: str, now: float) -> None:
    """Closes `old` at the moment from which `new` holds; it leaves recall and stays readable."""
    valid_to = max(old.valid_from, new.valid_from)
    db.run("facts_close", id=old.id, valid_to=valid_to, superseded_by=new.memory_id, now=now)
    _forget(db, old.id)
    before = {"status": old.status, "valid_to": old.valid_to, "superseded_by": old.superseded_by}
    note(db, old, "superseded", before, actor=actor, reason=reason, now=now)


def close(db: Database, fact: Fact, valid_to: float, *, actor: str, reason: str, now: float) -> None:
    """Closes a fact that nothing replaces: who said it has taken it back."""
    db.run("facts_close", id=fact.id, valid_to=max(fact.valid_from, valid_to), superseded_by=None, now=now)
    _forget(db, fact.id)
    before = {"status": fact.status, "valid_to": fact.valid_to, "superseded_by": fact.superseded_by}
    note(db, fact, "taken back", before, actor=actor, reason=reason, now=now)


def set_status(db: Database, fact: Fact, status: Status, *, actor: str, reason: str, now: float) -> None:
    """Archives, deletes softly, or holds back; whatever is not active leaves recall."""
    db.run("facts_set_status", id=fact.id, status=status, reason=reason, now=now)
    if status != "active":
        _forget(db, fact.id)
    before = {"status": fact.status, "status_reason": fact.status_reason}
    note(db, fact, status, before, actor=actor, reason=reason, now=now)


def link_conflict(db: Database, first: Fact, second: Fact, *, actor: str, reason: str, now: float) -> None:
    """Both stay, and each names the other: it could not be told which of them is right."""
    for fact, other in ((first, second), (second, first)):
        linked = tuple(dict.fromkeys((*fact.conflicts_with, other.memory_id)))
        if linked == fact.conflicts_with:
            continue
        db.run("facts_link", id=fact.id, conflicts_with=_json(linked), now=now)
        note(db, fact, "conflict", {"conflicts_with": list(fact.conflicts_with)}, actor=actor, reason=reason, now=now)


def destroy(db: Database, fact: Fact, *, actor: str, reason: str, now: float) -> None:
    """Deletes a fact and its history for good; one line without its words says that it was there.

    The words go from the finished request that it came by, and from drafts of generations. What was said in a
    conversation stays there. LegalHold: a hold stands on its user or namespace; nothing was changed.
    """
    holds.refuse_held_scope(db, fact.scope_id)
    _forget(db, fact.id)
    db.run("facts_destroy_requests", scope_id=fact.scope_id, content=fact.content)
    db.run("facts_destroy_drafts", scope_id=fact.scope_id, content=fact.content)
    db.run("facts_destroy_history", memory_id=fact.memory_id)
    db.run("facts_destroy", id=fact.id)
    note(db, fact, "destroyed", None, actor=actor, reason=reason, now=now)


def row(db: Database, fact_id: int) -> Fact | None:
    """The fact by its number; for the workers."""
    found = db.one("facts_row", id=fact_id)
    return None if found is None else Fact.of_row(found)


def get(db: Database, scope: Scope, memory_id: str) -> Fact | None:
    """One fact of the scope, whatever its status."""
    pk = find_scope(db, scope)
    return None if pk is None else get_in(db, pk, memory_id)


def get_in(db: Database, scope_id: int, memory_id: str) -> Fact | None:
    """As `get`, by the scope's number; for the workers."""
    found = db.one("facts_get", scope_id=scope_id, memory_id=memory_id)
    return None if found is None else Fact.of_row(found)


def with_key(db: Database, scope_id: int, key: str) -> Fact | None:
    """The active fact of that key."""
    found = db.one("facts_active_with_key", scope_id=scope_id, key=key)
    return None if found is None else Fact.of_row(found)


def all_with_key(db: Database, scope_id: int, key: str) -> list[Fact]:
    """Every fact that ever had the key, whatever its status; the oldest first."""
    return [Fact.of_row(found) for found in db.run("facts_all_with_key", scope_id=scope_id, key=key)]


def newest(db: Database, scope_id: int, limit: int) -> list[Fact]:
    """The scope's newest active facts, the newest first."""
    return [Fact.of_row(found) for found in db.run("facts_newest", scope_id=scope_id, limit=limit)]


def by_ids(db: Database, scope: Scope, ids: Sequence[int], now: float) -> list[Fact]:
    """Those of `ids` that are active in the scope and not expired, in that order."""
    pk = find_scope(db, scope)
    if pk is None or not ids:
        return []
    rows = db.run("facts_by_ids", ids=_json(ids), scope_id=pk, session_id=scope.session_id, now=now)
    return [Fact.of_row(found) for found in rows]


def list_facts(db: Database, scope: Scope, limit: int, status: Status | None = "active") -> list[Fact]:
    """The scope's facts of that status (None: of any), those that hold from latest on first."""
    pk = find_scope(db, scope)
    if pk is None:
        return []
    rows = db.run("facts_list", scope_id=pk, status=status, session_id=scope.session_id, limit=limit)
    return [Fact.of_row(found) for found in rows]


def neighbours(db: Database, scope_id: int, subject: str, attribute: str, topic: str) -> list[Fact]:
    """Active facts that a new one may repeat, change or contradict: about its topic, or of its attribute where it has
    none; the newest 64."""
    limit = _NEIGHBOURS
    rows = (
        db.run("facts_of_attribute", scope_id=scope_id, subject=subject, attribute=attribute, limit=limit)
        if attribute and not topic
        else []
    )
    rows += db.run("facts_of_topic", scope_id=scope_id, topic=topic, limit=limit) if topic else []
    return [Fact.of_row(found) for found in {found["id"]: found for found in rows}.values()]


def of_values(db: Database, scope_id: int, subject: str, values: Sequence[str]) -> list[Fact]:
    """Active facts of the subject with one of these values, topics or attributes: what was said to be over."""
    wanted = [value for value in values if value]
    if not wanted:
        return []
    longest = [max(value.split(), key=len) for value in wanted]
    params = {"scope_id": scope_id, "subject": subject, "values": _json(wanted), "terms": _json(longest)}
    rows = db.run("facts_of_values", **params, limit=_NEIGHBOURS)
    return [Fact.of_row(found) for found in rows]


def last_of_session(db: Database, scope_id: int, session_pk: int, limit: int) -> list[Fact]:
    """The session's newest active facts, the newest first."""
    rows = db.run("facts_last_of_session", scope_id=scope_id, session_pk=session_pk, limit=limit)
    return [Fact.of_row(found) for found in rows]


def history(db: Database, scope: Scope, memory_id: str) -> list[Change]:
    """All changes of a fact, oldest first."""
    pk = find_scope(db, scope)
    if pk is None:
        return []
    changes = db.run("facts_history", memory_id=memory_id, scope_id=pk)
    return [Change(**{**line, "before": line["before"] and json.loads(line["before"])}) for line in changes]


def counts(db: Database, scope_id: int) -> dict[str, int]:
    """Facts of the scope by status."""
    return dict(db.tuples("facts_count", {"scope_id": scope_id}))


def contents(db: Database, ids: Sequence[int]) -> dict[int, FactText]:
    """Texts by id, for those that are active; for the workers."""
    return {found["id"]: FactText(**found) for found in db.run("facts_contents", ids=_json(ids))}


def mark_embedded(db: Database, ids: Sequence[int]) -> None:
    """Says that their vectors stand; in the transaction that writes these."""
    db.many("facts_mark_embedded", [(i,) for i in ids])


def note(
    db: Database, fact: Fact, change: str, before: Mapping[str, Any] | None, *, actor: str, reason: str, now: float
) -> None:
    """A line of history for a change of `fact` that has just been written."""
    current = db.one("facts_row", id=fact.id)
    db.run(
        "facts_note",
        memory_id=fact.memory_id,
        scope_id=fact.scope_id,
        version=fact.version + 1 if current is None else current["version"],
        change=change,
        before=None if before is None else json.dumps(before, ensure_ascii=False),
        actor=actor,
        reason=reason,
        now=now,
    )


def _note_new(db: Database, memory_id: str, scope_id: int, actor: str, reason: str, now: float) -> None:
    db.run(
        "facts_note",
        memory_id=memory_id,
        scope_id=scope_id,
        version=1,
        change="created",
        before=None,
        actor=actor,
        reason=reason,
        now=now,
    )


def _forget(db: Database, fact_id: int) -> None:
    fulltext.remove(db, "fact", [fact_id])
    for space in spaces.all_spaces(db) if db.has_vec else ():
        vectors.remove(db, space, "fact", [fact_id])


def _json(values: Sequence[object]) -> str:
    return json.dumps(list(values), ensure_ascii=False)
