"""What people decide about a fact: pinned, weighed, forgotten, released or refused. Each leaves a line of history.

All of it belongs into a transaction of the caller's, which has read the fact in it.
"""

from typing import Any

from memory.facts.model import Fact, Status
from sidestream.fieldtypes import Verdict
from store import fact_gate, facts
from store.db import Database
from store.errors import WrongState
from store.fact_reading import KnownFact

_ALLOWED: dict[Verdict, tuple[Status, ...]] = {"release": ("candidate", "archived"), "refuse": ("candidate",)}


def pin(db: Database, known: KnownFact, pinned: bool, *, actor: str, reason: str, now: float) -> bool:
    """Pins the fact or lets it go; False where it is so already."""
    if known.standing.pinned == pinned:
        return False
    db.run("fact_changes_pin", id=known.fact.id, pinned=int(pinned), now=now)
    change = "pinned" if pinned else "unpinned"
    facts.note(db, known.fact, change, {"pinned": not pinned}, actor=actor, reason=reason, now=now)
    return True


def hold_weight(db: Database, known: KnownFact, weight: float, *, actor: str, reason: str, now: float) -> bool:
    """Sets the weight, which use and age then leave alone; False where it is so already."""
    if known.standing.held and known.standing.weight == weight:
        return False
    return _weigh(db, known, weight, True, "weighed", actor=actor, reason=reason, now=now)


def free_weight(db: Database, known: KnownFact, *, actor: str, reason: str, now: float) -> bool:
    """Lets use and age move the weight again, from where it is; False where nobody held it."""
    if not known.standing.held:
        return False
    return _weigh(db, known, known.standing.weight, False, "weight freed", actor=actor, reason=reason, now=now)


def archive(db: Database, fact: Fact, *, actor: str, reason: str, now: float) -> bool:
    """Takes the fact out of recall; it stays readable and can come back. False where it is archived or deleted."""
    if fact.status in ("archived", "deleted"):
        return False
    facts.set_status(db, fact, "archived", actor=actor, reason=reason, now=now)
    return True


def check_verdict(fact: Fact, verdict: Verdict | None) -> None:
    """Whether the fact can be released (a candidate or an archived one) or refused (a candidate).

    Raises:
        WrongState: it cannot; the text says what can.
    """
    allowed = _ALLOWED.get(verdict) if verdict is not None else None
    if allowed is not None and fact.status not in allowed:
        raise WrongState(
            f"fact {fact.memory_id} is {fact.status}; only one that is {' or '.join(allowed)} can be {verdict}d"
        )


def release(db: Database, fact: Fact, *, actor: str, reason: str, now: float) -> bool:
    """Lets a quarantined or an archived fact in through the gate, as if it had just been found. Its embedding is the
    caller's to owe.

    False where it does not become active, but gives way to a fact that says the same or was said later.

    Raises:
        WrongState: it is neither.
    """
    check_verdict(fact, "release")
    told: dict[str, Any] = {"actor": actor, "now": now}
    draft = fact_gate.draft_of(fact)
    verdict = fact_gate.weigh(db, draft, fact.scope_id, fact.data_source, now)
    if verdict.same is not None:
        facts.strengthen(db, verdict.same, draft, reason="said again", **told)
        facts.supersede(db, fact, verdict.same, reason=f"{reason}; said already", **told)
    elif verdict.outdated_by is not None:
        facts.supersede(db, fact, verdict.outdated_by, reason=f"{reason}; something else was said later", **told)
    for old in verdict.over:
        facts.supersede(db, old, verdict.same or fact, reason="no longer so", **told)
    if verdict.same is not None or verdict.outdated_by is not None:
        return False
    facts.activate(db, fact, reason=reason, **told)
    db.run("fact_changes_refresh", id=fact.id, now=now)
    for other in verdict.doubt:
        facts.link_conflict(db, fact, other, reason="only one of them can hold", **told)
    return True


def refuse(db: Database, fact: Fact, *, actor: str, reason: str, now: float) -> None:
    """Deletes a quarantined candidate, softly: it stays readable, and never becomes active.

    Raises:
        WrongState: it is no candidate.
    """
    check_verdict(fact, "refuse")
    facts.set_status(db, fact, "deleted", actor=actor, reason=reason, now=now)


def _weigh(
    db: Database, known: KnownFact, weight: float, held: bool, change: str, *, actor: str, reason: str, now: float
) -> bool:
    db.run("fact_changes_weigh", id=known.fact.id, weight=weight, held=int(held), now=now)
    before = {"weight": known.standing.weight, "weight_held": known.standing.held}
    facts.note(db, known.fact, change, before, actor=actor, reason=reason, now=now)
    return True
