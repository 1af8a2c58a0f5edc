"""Working memory: what is stored and what is not stored yet, each message once and in order."""

from collections.abc import Sequence

from memory.types import Scope, StoredMessage
from store import messages
from store.db import Database


def weave(tail: Sequence[StoredMessage], own: Sequence[StoredMessage]) -> list[StoredMessage]:
    """The tail, with the messages that the reader itself remembers and the tail lacks put where they belong.

    Such a message stands before the next one of the reader's own that the tail holds, else at the end.
    """
    present = {message.event_id for message in tail}
    before: dict[str, list[StoredMessage]] = {}
    run: list[StoredMessage] = []
    for message in own:
        if message.event_id in present:
            before[message.event_id], run = run, []
        else:
            run.append(message)
    woven: list[StoredMessage] = []
    for message in tail:
        woven += before.get(message.event_id, [])
        woven.append(message)
    return woven + run


def not_stored(db: Database, scope: Scope, pending: Sequence[StoredMessage]) -> list[StoredMessage]:
    """Those of `pending` that are not stored, each once, in their order."""
    unique = {message.event_id: message for message in pending}
    stored = messages.stored_events(db, scope.namespace, list(unique)) if unique else set()
    return [message for event_id, message in unique.items() if event_id not in stored]


def window(stored: Sequence[StoredMessage], pending: Sequence[StoredMessage], limit: int) -> list[StoredMessage]:
    """The newest `limit` of both, oldest first; what is pending was accepted after all that is stored."""
    return [*stored, *pending][-limit:]
