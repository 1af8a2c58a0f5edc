"""Facts to test with, as the gate would have left them."""

from typing import Any

from memory.facts.model import Draft, Fact, Origin
from memory.types import Scope
from store import facts
from store.db import Database
from tests.unit.store_support import NOW, session

ANN = Scope("ann", session_id="s1")
BOB = Scope("bob", session_id="s2")


def fact(
    db: Database,
    memory_id: str,
    content: str,
    scope: Scope = ANN,
    *,
    active: bool = True,
    weight: float | None = None,
    origin: dict[str, Any] | None = None,
    now: float = NOW,
    **draft: Any,
) -> Fact:
    """Stores a fact; active, unless `active` is false. `weight` is set as a person would."""
    row = session(db, scope)
    with db.atomic():
        parts = {"extractor": "rules/1", "session_pk": row.id, **(origin or {})}
        source = parts.pop("source_type", "auto_consolidation")
        number = facts.insert(
            db,
            memory_id,
            Draft(content, said_at=draft.pop("said_at", now), **draft),
            Origin(row.scope_id, source, **parts),
            actor="extractor",
            reason="said",
            now=now,
        )
        assert number is not None
        found = facts.row(db, number)
        assert found is not None
        if active:
            facts.activate(db, found, actor="gate", reason="new", now=now)
        if weight is not None:
            db.script("weight", f"UPDATE long_term_memories SET weight = {weight} WHERE id = {number}")
        again = facts.row(db, number)
    assert again is not None
    return again
