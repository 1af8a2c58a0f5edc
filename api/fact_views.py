"""Facts, their history and their reasons, in the words of the API."""

from datetime import UTC, datetime

from memory.facts.model import Change
from memory.types import StoredMessage, TimelineEntry
from memory.weights import WeightPolicy, is_core, present_weight
from recall.explain import Explanation
from sidestream.fact_models import (
    Fact,
    FactChange,
    FactEnd,
    FactExplanation,
    FactUse,
    SourceMessage,
)
from sidestream.fact_models import TimelineEntry as EntryModel
from store.fact_reading import KnownFact


def fact(known: KnownFact, policy: WeightPolicy, now: float) -> Fact:
    """A fact with its weight of now."""
    held, standing = known.fact, known.standing
    return Fact(
        memory_id=held.memory_id,
        content=held.content,
        type=held.memory_type,
        status=held.status,
        status_reason=held.status_reason,
        key=held.key,
        tags=list(held.tags),
        importance=held.importance,
        confidence=held.confidence,
        weight=round(present_weight(standing, now, policy), 4),
        pinned=standing.pinned,
        weight_held=standing.held,
        core=held.status == "active" and is_core(standing, now, policy),
        source_type=held.source_type,
        session_id=held.session_id,
        said_by=held.said_by,
        trust=held.trust,
        extractor=held.extractor,
        valid_from=_time(held.valid_from),
        valid_to=_when(held.valid_to),
        superseded_by=held.superseded_by,
        expires_at=_when(held.expires_at),
        access_count=held.access_count,
        last_accessed=_when(held.last_accessed),
        data_source=held.data_source,
        owner_agent=held.owner_agent,
        version=held.version,
        created_at=_time(held.created_at),
        updated_at=_time(held.updated_at),
    )


def change(line: Change) -> FactChange:
    """One line of a fact's history."""
    before = None if line.before is None else dict(line.before)
    return FactChange(
        version=line.version,
        change=line.change,
        before=before,
        actor=line.actor,
        reason=line.reason,
        at=_time(line.at),
    )


def explanation(found: Explanation, policy: WeightPolicy, now: float) -> FactExplanation:
    """The three answers."""
    end = found.ends
    return FactExplanation(
        fact=fact(found.known, policy, now),
        origin=found.origin,
        source_text=found.known.fact.source_text,
        messages=[message(m) for m in found.messages],
        missing_messages=found.missing,
        why=found.why,
        use=FactUse(given=found.uses.given, used=found.uses.used, last_used=_when(found.uses.last_used)),
        supersedes=[fact(k, policy, now) for k in found.supersedes],
        superseded_by=None if found.superseded_by is None else fact(found.superseded_by, policy, now),
        conflicts_with=[fact(k, policy, now) for k in found.conflicts],
        ends=FactEnd(at=_when(end.at), why=end.why, expires_at=_when(end.expires_at), fades_at=_when(end.fades_at)),
        changes=[change(c) for c in found.changes],
    )


def message(found: StoredMessage) -> SourceMessage:
    """A message that a fact stands on."""
    return SourceMessage(
        id=found.id,
        event_id=found.event_id,
        session_id=found.session_id,
        role=found.role,
        turn=found.turn,
        occurred_at=_time(found.occurred_at),
        content=found.content,
    )


def entry(found: TimelineEntry) -> EntryModel:
    """One entry of the timeline."""
    return EntryModel(
        level=found.level,
        period=found.period,
        content=found.content,
        session_id=found.session_id,
        starts_at=_time(found.starts_at),
        ends_at=_time(found.ends_at),
    )


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _when(seconds: float | None) -> datetime | None:
    return None if seconds is None else _time(seconds)
