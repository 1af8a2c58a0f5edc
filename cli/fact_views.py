"""Facts as the command line shows them: a line, or JSON values."""

from collections.abc import Iterator
from typing import Any

from memory.facts.model import Change
from memory.times import to_datetime
from memory.weights import WeightPolicy, is_core, present_weight
from recall.explain import Explanation
from store.fact_reading import KnownFact

_WIDTH = 100


def line(known: KnownFact, policy: WeightPolicy, now: float) -> str:
    """One fact on one line."""
    fact, standing = known.fact, known.standing
    marks = "".join(
        mark
        for mark, holds in (
            ("P", standing.pinned),
            ("H", standing.held),
            ("c", fact.status == "active" and is_core(standing, now, policy)),
        )
        if holds
    )
    weight = present_weight(standing, now, policy)
    state = (
        "" if fact.status == "active" else f" [{fact.status}{f': {fact.status_reason}' if fact.status_reason else ''}]"
    )
    text = (
        f"{fact.memory_id}  {weight:.2f} {marks:<3} {_day(fact.valid_from)}  {fact.memory_type}: {_short(fact.content)}"
    )
    return f"{text}{state}"


def plain(known: KnownFact, policy: WeightPolicy, now: float) -> dict[str, Any]:
    """One fact as JSON values."""
    fact, standing = known.fact, known.standing
    return {
        "memory_id": fact.memory_id,
        "content": fact.content,
        "type": fact.memory_type,
        "status": fact.status,
        "status_reason": fact.status_reason,
        "key": fact.key,
        "tags": list(fact.tags),
        "importance": fact.importance,
        "confidence": fact.confidence,
        "weight": round(present_weight(standing, now, policy), 4),
        "pinned": standing.pinned,
        "weight_held": standing.held,
        "session_id": fact.session_id,
        "source_type": fact.source_type,
        "extractor": fact.extractor,
        "valid_from": _time(fact.valid_from),
        "valid_to": _time(fact.valid_to),
        "superseded_by": fact.superseded_by,
        "expires_at": _time(fact.expires_at),
        "access_count": fact.access_count,
        "data_source": fact.data_source,
    }


def changed(change: Change) -> dict[str, Any]:
    """One line of history as JSON values."""
    before = None if change.before is None else dict(change.before)
    values = {"version": change.version, "change": change.change, "before": before}
    return {**values, "actor": change.actor, "reason": change.reason, "at": _time(change.at)}


def change_line(change: Change) -> str:
    """One line of history."""
    return f"{_time(change.at)}  v{change.version} {change.change} by {change.actor}: {change.reason}"


def explained(found: Explanation, policy: WeightPolicy, now: float) -> dict[str, Any]:
    """An explanation as JSON values."""
    return {
        "fact": plain(found.known, policy, now),
        "origin": found.origin,
        "source_text": found.known.fact.source_text,
        "messages": [
            {"event_id": m.event_id, "session_id": m.session_id, "role": m.role, "at": _time(m.occurred_at),
             "content": m.content}
            for m in found.messages
        ],
        "missing_messages": found.missing,
        "why": found.why,
        "supersedes": [k.fact.memory_id for k in found.supersedes],
        "superseded_by": None if found.superseded_by is None else found.superseded_by.fact.memory_id,
        "conflicts_with": [k.fact.memory_id for k in found.conflicts],
        "given": found.uses.given,
        "used": found.uses.used,
        "ends_at": _time(found.ends.at),
        "ends_why": found.ends.why,
        "history": [changed(c) for c in found.changes],
    }  # fmt: skip


def explained_lines(found: Explanation, policy: WeightPolicy, now: float) -> Iterator[str]:
    """An explanation to read."""
    yield line(found.known, policy, now)
    yield f"where from: {found.origin}"
    for message in found.messages:
        yield f"  [{_time(message.occurred_at)}] {message.role}: {_short(message.content)}"
    if found.missing:
        yield f"  and {found.missing} messages that are gone"
    yield f"why: {found.why}"
    for title, others in (("took the place of", found.supersedes), ("may contradict", found.conflicts)):
        for other in others:
            yield f"  {title} {other.fact.memory_id}: {_short(other.fact.content)}"
    if found.superseded_by is not None:
        yield f"  replaced by {found.superseded_by.fact.memory_id}: {_short(found.superseded_by.fact.content)}"
    yield f"until: {f'{_time(found.ends.at)}, ' if found.ends.at is not None else ''}{found.ends.why}"
    for change in found.changes:
        yield f"  {change_line(change)}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDTH else f"{flat[: _WIDTH - 1]}…"


def _day(seconds: float) -> str:
    return f"{to_datetime(seconds):%Y-%m-%d}"


def moment(seconds: float) -> str:
    """A moment in UTC, to the second."""
    return to_datetime(seconds).isoformat(timespec="seconds").replace("+00:00", "Z")


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else moment(seconds)
