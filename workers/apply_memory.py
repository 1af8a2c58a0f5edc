"""What `memory.*` events become: jobs with the event's own fields, for the handlers of long-term memory."""

from sidestream.events import MemoryAdjust, MemoryForget, MemoryRemember, MemoryUsed
from store.sessions import SessionRow
from workers.batch import Batch
from workers.entries import Incoming
from workers.kinds import ADJUST, FEEDBACK, FORGET, HANDLED, REMEMBER

_KINDS = {
    "memory.remember": REMEMBER,
    "memory.forget": FORGET,
    "memory.adjust": ADJUST,
    "memory.used": FEEDBACK,
}


def apply_memory(
    batch: Batch,
    session: SessionRow,
    item: Incoming,
    event: MemoryRemember | MemoryForget | MemoryAdjust | MemoryUsed,
) -> None:
    """Keeps the event as a job whose subject is the event."""
    payload = event.model_dump(mode="json", exclude_none=True, exclude={"type", "v"})
    payload |= {"session_pk": session.id, "scope_id": session.scope_id, "occurred_at": item.occurred_at}
    # With the length of the namespace, so that no two run into one another: a later job would pass for a repeat.
    subject = f"event:{len(session.namespace)}:{session.namespace}:{item.event_id}"
    kind = _KINDS[event.type]
    (batch.owe if kind in HANDLED else batch.defer)(kind, subject, session.namespace, payload)
