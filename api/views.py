"""What the read side found, in the words of the API."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from memory.filters import Filter
from memory.types import Degraded, Hit
from recall.results import ContextResult as Found
from recall.results import Lag as FoundLag
from recall.results import SearchResult as FoundHits
from sidestream.api_models import (
    ContextResult,
    ContextStatistics,
    Degradation,
    DroppedHit,
    EventProgress,
    Lag,
    MemoryHit,
    PartStatistics,
    Provenance,
    SearchRequest,
    SearchResult,
)

_BUDGET_OF = {"window": "window", "summaries": "summaries", "facts": "facts", "recalled": "facts"}


def context(found: Found, waited: EventProgress | None) -> ContextResult:
    """A context as an answer."""
    return ContextResult(
        messages=found.messages,
        statistics=statistics(found.statistics),
        provenance=list(provenance(found.provenance)),
        lag=lag(found.lag),
        degraded=degradations(found.degraded),
        reason=found.reason,
        waited_for=waited,
    )


def search(found: FoundHits, waited: EventProgress | None = None) -> SearchResult:
    """Hits as an answer."""
    dropped = [
        DroppedHit(kind=d.scored.kind, id=max(d.scored.id, 0), score=d.scored.score, reason=d.reason)
        for d in found.dropped
    ]
    return SearchResult(
        hits=[hit(h) for h in found.hits],
        dropped=dropped,
        waited_for=waited,
        lag=lag(found.lag),
        degraded=degradations(found.degraded),
    )


def filter_of(body: SearchRequest) -> Filter:
    """The filter that a request names."""
    return Filter(
        since=_seconds(body.since),
        until=_seconds(body.until),
        types=tuple(body.types),
        tags=tuple(body.tags),
        min_confidence=body.min_confidence,
        data_source=body.data_source,
        metadata=body.metadata,
        as_of=_seconds(body.as_of),
        include=tuple(body.include),
    )


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def hit(found: Hit) -> MemoryHit:
    """One hit."""
    return MemoryHit(
        kind=found.kind,
        id=found.id,
        score=found.score,
        content=found.content,
        occurred_at=datetime.fromtimestamp(found.occurred_at, UTC),
        session_id=found.session_id,
        role=found.role,
        turn=found.turn,
        event_id=found.event_id,
        metadata=dict(found.metadata),
        parts=dict(found.parts),
        why=dict(found.why),
    )


def statistics(counts: Mapping[str, Any]) -> ContextStatistics:
    """Tokens and items, a part each."""
    tokens, budget, kept, dropped = (counts[name] for name in ("tokens", "budget", "kept", "dropped"))
    parts = {
        part: PartStatistics(budget=budget[name], tokens=tokens[part], items=kept[part], dropped=dropped[part])
        for part, name in _BUDGET_OF.items()
    }
    parts["fixed"] = PartStatistics(tokens=tokens["fixed"])
    parts["checkpoint"] = PartStatistics(tokens=tokens["checkpoint"], items=kept["checkpoint"])
    if "timeline" in tokens:
        told = PartStatistics(tokens=tokens["timeline"], items=kept["timeline"], dropped=dropped["timeline"])
        parts["timeline"] = told
    return ContextStatistics(
        budget=budget["total"],
        tokens=tokens["total"],
        over_budget=counts["over_budget"],
        cut_messages=counts["cut_messages"],
        parts=parts,
    )


def provenance(entries: Iterable[Mapping[str, Any]]) -> Iterator[Provenance]:
    """One entry for each piece of each message."""
    for entry in entries:
        index, part = entry["index"], entry["part"]
        if "sources" not in entry:
            own = {name: entry[name] for name in ("event_id", "turn") if name in entry}
            yield Provenance(index=index, part=part, kind="message" if own else part, **own)
        for source in entry.get("sources", ()):
            named = {k: v for k, v in source.items() if k not in ("turn_first", "turn_last")}
            turns = {"turn": source.get("turn_first"), "turn_last": source.get("turn_last")}
            yield Provenance(index=index, part=part, **named, **turns)


def lag(found: FoundLag) -> Lag:
    """How far behind the workers are."""
    owed = None if found.owed is None else dict(found.owed)
    return Lag(unread=found.unread, owed=owed, oldest_seconds=found.oldest)


def degradations(found: Iterable[Degraded]) -> list[Degradation]:
    """What works less well for now."""
    return [Degradation(part=d.part, reason=d.reason) for d in found]
