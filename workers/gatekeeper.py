"""Lets facts in: each draft meets those that stand; it repeats one of them, replaces some, or is new."""

import hashlib
from dataclasses import dataclass
from typing import Literal, TypeAlias

from memory.facts.model import Draft, Fact, Origin
from memory.facts.reading import TAKEN_BACK
from store import counters, fact_gate, facts, jobs
from store.db import Database
from store.jobs import JobRow
from workers.kinds import EMBED

Became: TypeAlias = Literal["new", "update", "same", "outdated", "held", "taken back", "known"]

GATE = "gate"


@dataclass(frozen=True, slots=True)
class Admitted:
    """What became of a draft; `fact` is the one that now holds it, if any does."""

    became: Became
    fact: Fact | None = None


def memory_id(*parts: str) -> str:
    """The same for the same words of the same message, so that loading data again gives the same facts."""
    return "m" + hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:31]


class Gatekeeper:
    """Works within the caller's transaction; counts what it did, and owes the embeddings."""

    def __init__(self, db: Database, namespace: str, *, actor: str, now: float) -> None:
        self.embeds = 0
        self._db = db
        self._namespace = namespace
        self._actor = actor
        self._now = now

    def admit(self, new_id: str, draft: Draft, origin: Origin) -> Admitted:
        """One draft through the gate."""
        done = self._admit(new_id, draft, origin)
        counters.bump(self._db, f"facts_{done.became.replace(' ', '_')}", 1)
        return done

    def _admit(self, new_id: str, draft: Draft, origin: Origin) -> Admitted:
        db = self._db
        if draft.attribute == TAKEN_BACK:
            return self._take_back(draft, origin)
        known = facts.get_in(db, origin.scope_id, new_id)
        if known is not None:
            return Admitted("known", known)
        if draft.hold is not None:
            return Admitted("held", self._insert(new_id, draft, origin, f"held back: {draft.hold}"))
        verdict = fact_gate.weigh(db, draft, origin.scope_id, origin.data_source, self._now)
        if verdict.same is not None:
            kept = origin.source_type == "explicit_tool"
            facts.strengthen(db, verdict.same, draft, actor=GATE, reason="said again", now=self._now, kept=kept)
            self._close(verdict.over, verdict.same)
            return Admitted("same", verdict.same)
        new = self._insert(new_id, draft, origin, f"said by {draft.said_by}")
        if new is None:
            return Admitted("known")
        if verdict.outdated_by is not None:
            reason = "something else was said later"
            facts.supersede(db, new, verdict.outdated_by, actor=GATE, reason=reason, now=self._now)
            return Admitted("outdated", new)
        self._close(verdict.over, new)
        facts.activate(db, new, actor=GATE, reason="update" if verdict.over else "new", now=self._now)
        for other in verdict.doubt:
            facts.link_conflict(db, new, other, actor=GATE, reason="only one of them can hold", now=self._now)
        row = JobRow(EMBED, f"fact:{new.id}", self._namespace, self._now, self._now)
        self.embeds += jobs.owe_many(db, [row])
        return Admitted("update" if verdict.over else "new", facts.row(db, new.id))

    def _insert(self, new_id: str, draft: Draft, origin: Origin, reason: str) -> Fact | None:
        number = facts.insert(self._db, new_id, draft, origin, actor=self._actor, reason=reason, now=self._now)
        return None if number is None else facts.row(self._db, number)

    def _close(self, over: tuple[Fact, ...], new: Fact) -> None:
        for old in over:
            facts.supersede(self._db, old, new, actor=GATE, reason="no longer so", now=self._now)

    def _take_back(self, draft: Draft, origin: Origin) -> Admitted:
        for memory in draft.replaces:
            fact = facts.get_in(self._db, origin.scope_id, memory)
            if fact is not None and fact.status == "active":
                reason = f"taken back: {draft.source_text}"
                facts.close(self._db, fact, draft.said_at, actor=self._actor, reason=reason, now=self._now)
        return Admitted("taken back")
