"""What the gate makes of a draft among the facts that stand, for whoever lets facts in."""

from dataclasses import replace

from memory.facts.gate import Verdict, judge
from memory.facts.model import Draft, Fact
from memory.facts.reading import understood
from store import facts
from store.db import Database


def weigh(db: Database, draft: Draft, scope_id: int, data_source: str | None, now: float) -> Verdict:
    """The verdict over a draft that holds for `data_source` (None: for all). What has expired is none of its business:
    it only waits to be archived, and would take the draft along."""
    found = facts.neighbours(db, scope_id, draft.subject, draft.attribute, draft.topic)
    found += facts.of_values(db, scope_id, draft.subject, draft.ends)
    named = [facts.get_in(db, scope_id, memory) for memory in draft.replaces]
    if draft.key is not None:
        named.append(facts.with_key(db, scope_id, draft.key))
    found += [fact for fact in named if fact is not None and fact.status == "active"]
    standing = {fact.id: fact for fact in found if _lives(fact, now) or _has_key(draft, fact)}
    return judge(draft, standing.values(), data_source)


def draft_of(fact: Fact) -> Draft:
    """A stored fact as the draft that it once was; what is not stored of it is read again from its words."""
    draft = Draft(
        content=fact.content,
        memory_type=fact.memory_type,
        subject=fact.subject,
        attribute=fact.attribute,
        topic=fact.topic,
        value=fact.value,
        polarity=fact.polarity,
        key=fact.key,
        confidence=fact.confidence,
        importance=fact.importance,
        source_ids=fact.source_ids,
        source_text=fact.source_text,
        said_by=fact.said_by,
        said_at=fact.valid_from,
        valid_from=fact.valid_from,
    )
    again = understood(fact.content, set())
    if again is None or (again[1].attribute, again[1].value) != (fact.attribute, fact.value):
        return draft
    return replace(draft, single=again[1].single, ends=again[1].ends)


def _lives(fact: Fact, now: float) -> bool:
    return fact.expires_at is None or fact.expires_at > now


def _has_key(draft: Draft, fact: Fact) -> bool:
    return draft.key is not None and draft.key == fact.key
