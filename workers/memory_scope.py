"""What the jobs made of `memory.*` events have in common: whose memory is meant, and in whose name."""

from dataclasses import dataclass

from memory.types import Scope
from store import scopes, sessions
from store.db import Database
from store.jobs import Job

NOBODY = 0
"""A scope that no row has: of a user for whom nothing was ever written."""


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """A `memory.*` event as a job holds it. `actor` is `agent:<id>`, `user:<id>`, or whom the event names."""

    event_id: str
    scope_id: int
    session_pk: int
    occurred_at: float
    actor: str
    reason: str


def read_event(db: Database, job: Job) -> MemoryEvent | None:
    """The event behind a job; None where its payload is not one, or its session is gone."""
    payload = job.payload
    try:
        session_id, occurred_at = str(payload["session_id"]), float(payload["occurred_at"])
    except (KeyError, TypeError, ValueError):
        return None
    key = (job.namespace, session_id)
    session = sessions.load_many(db, [key]).get(key)
    if session is None:
        return None
    user = payload.get("user_id")
    scope_id: int | None = session.scope_id
    if isinstance(user, str):
        # In a shared session the memory is that of who spoke, not of the session's owner.
        scope_id = scopes.find_scope(db, Scope(user, job.namespace))
    reason = str(payload.get("reason") or "")
    return MemoryEvent(job.subject, scope_id or NOBODY, session.id, occurred_at, _actor(job, user), reason)


def _actor(job: Job, user: object) -> str:
    named, agent = job.payload.get("actor"), job.payload.get("agent_id")
    return str(named) if named else f"agent:{agent}" if agent else f"user:{user or 'default'}"
