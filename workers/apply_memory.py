"""What `memory.*` events become: deferred jobs with the event's own fields, for the handlers of long-term
memory."""

from sidestream.events import MemoryForget, MemoryRemember, MemoryUsed
from store.sessions import SessionRow
from workers.batch import Batch
from workers.entries import Incoming
from workers.kinds import FEEDBACK, FORGET, REMEMBER

_KINDS = {"memory.remember": REMEMBER, "memory.forget": FORGET, "memory.used": FEEDBACK}


def apply_memory(
    batch: Batch, session: SessionRow, item: Incoming, event: MemoryRemember | MemoryForget | MemoryUsed
) -> None:
    """Keeps the event as a job whose subject is the event."""
    payload = event.model_dump(mode="json", exclude_none=True, exclude={"type", "v"})
    payload |= {"session_pk": session.id, "occurred_at": item.occurred_at}
    # With the length of the namespace, so that no two run into one another: a later job would pass for a repeat.
    subject = f"event:{len(session.namespace)}:{session.namespace}:{item.event_id}"
    batch.defer(_KINDS[event.type], subject, session.namespace, payload)
