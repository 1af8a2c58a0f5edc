"""Where a fact comes from, why it is as it is, and when it will be forgotten, in values and in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.facts.model import Change, Fact
from memory.retention import DAY, Policy, Rule, outcome
from memory.times import to_datetime
from memory.types import Scope, StoredMessage
from memory.weights import WeightPolicy, archive_at, is_core, present_weight
from store import fact_reading, facts, messages
from store.db import Database
from store.fact_reading import KnownFact, Uses


@dataclass(frozen=True, slots=True)
class End:
    """When a fact leaves recall: the earlier of its expiry and the day on which its weight, if it is never used again,
    is too low; of one that has left it, when retention takes it. Unix seconds; None: not by that."""

    at: float | None = None
    why: str = ""
    expires_at: float | None = None
    fades_at: float | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """All three answers about one fact.

    Attributes:
        messages: what it stands on, as far as that is still there; `missing` counts the rest.
        origin, why: the first two answers in words.
        conflicts: facts that it may contradict, where nobody could tell which of them is right.
    """

    known: KnownFact
    origin: str
    messages: Sequence[StoredMessage]
    missing: int
    why: str
    uses: Uses
    supersedes: Sequence[KnownFact]
    superseded_by: KnownFact | None
    conflicts: Sequence[KnownFact]
    ends: End
    changes: Sequence[Change]


def explain(
    db: Database, scope: Scope, memory_id: str, policy: WeightPolicy, retention: Policy, now: float
) -> Explanation | None:
    """The answers, read within one snapshot; None where the scope has no such fact."""
    known = fact_reading.one(db, scope, memory_id)
    if known is None:
        return None
    fact = known.fact
    sources = messages.by_ids(db, scope, fact.source_ids)
    changes = facts.history(db, scope, memory_id)
    uses = fact_reading.uses(db, scope, memory_id)
    linked = (fact_reading.one(db, scope, other) for other in fact.conflicts_with)
    return Explanation(
        known=known,
        origin=origin(fact, changes),
        messages=sources,
        missing=len(fact.source_ids) - len(sources),
        why=why(known, changes, uses, policy, now),
        uses=uses,
        supersedes=fact_reading.superseded(db, scope, memory_id),
        superseded_by=fact_reading.one(db, scope, fact.superseded_by) if fact.superseded_by else None,
        conflicts=[other for other in linked if other is not None],
        ends=end(known, policy, retention.rule("fact", scope.namespace)),
        changes=changes,
    )


def origin(fact: Fact, changes: Sequence[Change]) -> str:
    """How the fact came to be."""
    day = f"{to_datetime(fact.created_at):%Y-%m-%d}"
    where = f" in session {fact.session_id}" if fact.session_id else ""
    by = f" by {fact.extractor}" if fact.extractor else ""
    ways = {
        "auto_consolidation": f"read out of what {fact.said_by} said{where}{by}, on {day}",
        "explicit_tool": f"kept on purpose by {changes[0].actor if changes else 'an agent'}{where}, on {day}",
        "context_compression": f"kept when{where or ' a session'} was compacted{by}, on {day}",
        "manual": f"written by {changes[0].actor if changes else 'a person'}, on {day}",
        "import": f"imported{where}{by}, on {day}",
    }
    return ways[fact.source_type]


def why(known: KnownFact, changes: Sequence[Change], uses: Uses, policy: WeightPolicy, now: float) -> str:
    """Why it is active, or why it is not."""
    fact = known.fact
    said = next((c.reason for c in reversed(changes) if c.change in (_CHANGE_OF.get(fact.status), fact.status)), "")
    if fact.status == "active":
        weight = present_weight(known.standing, now, policy)
        parts = [f"active{f' ({said})' if said else ''}", f"confidence {fact.confidence:.2f}"]
        held = ", pinned" if known.standing.pinned else ", held by a person" if known.standing.held else ""
        core = ", core" if is_core(known.standing, now, policy) else ""
        parts += [f"weight {weight:.2f}{held}{core}", f"used by {uses.used} of {uses.given} answers that were given it"]
        return "; ".join(parts)
    if fact.status == "candidate":
        return f"held back: {fact.status_reason or 'the gate has not looked at it yet'}"
    if fact.status == "superseded":
        return f"superseded by {fact.superseded_by}{f': {said}' if said else ''}"
    return f"{fact.status}: {fact.status_reason or said or 'no reason was given'}"


def end(known: KnownFact, policy: WeightPolicy, rule: Rule) -> End:
    """When an active fact leaves recall, or retention takes one that has left it. A legal hold may put that off."""
    if known.fact.status == "candidate":
        return End(why="when somebody releases or refuses it")
    if known.fact.status != "active":
        action = outcome(rule.action, known.fact.importance)
        if action == "keep":
            return End(why="it is not recalled, and retention keeps it")
        does = "moves it to the archive" if action == "archive" else "deletes it"
        return End(known.fact.updated_at + rule.days * DAY, f"it is not recalled, and retention {does}")
    expires, fades = known.fact.expires_at, archive_at(known.standing, policy)
    if expires is not None and (fades is None or expires <= fades):
        return End(expires, "it expires", expires, fades)
    if fades is not None:
        return End(fades, "its weight will be too low, if no answer uses it until then", expires, fades)
    return End(why="never by itself: it is pinned, its weight is held, or nothing fades")


_CHANGE_OF = {"active": "activated"}
