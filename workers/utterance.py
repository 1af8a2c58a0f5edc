"""A message as far as it can be told without the database: what costs most of storing one.

Plain values in a plain tuple, so that another process can find them (workers/analyst.py) and hand them over for less
than it costs to parse the entry again.
"""

import json
from typing import NamedTuple

from memory.classify import msg_type
from memory.terms import searchable, terms
from memory.tokens import estimate
from memory.toolcalls import answered_call, call_ids
from sidestream.events import Message


class Utterance(NamedTuple):
    """A valid message. `occurred_at` is unix seconds, `metadata` JSON text; `calls` are the ids of the tool calls it
    makes, `answered` that of the one it answers; `terms` are separated by spaces."""

    namespace: str
    session_id: str
    event_id: str
    user_id: str | None
    agent_id: str | None
    data_source: str | None
    occurred_at: float
    digest: str
    role: str
    content: str
    turn_id: str | None
    parent_id: str | None
    run_id: str | None
    msg_type: str
    tokens: int
    terms: str
    calls: tuple[str, ...]
    answered: str | None
    metadata: str

    @property
    def type(self) -> str:
        """The event's type."""
        return "message"


def utter(event: Message, event_id: str, occurred_at: float) -> Utterance:
    """What there is to know of the message."""
    meta = event.meta
    name = meta.get("name")
    text = searchable(name if isinstance(name, str) else None, event.content)
    return Utterance(
        event.namespace,
        event.session_id,
        event_id,
        event.user_id,
        event.agent_id,
        event.data_source,
        occurred_at,
        event.digest(),
        event.role,
        event.content,
        event.turn_id,
        event.parent_id,
        event.run_id,
        event.msg_type or msg_type(event.role, event.content, human=meta.get("human") is True),
        estimate(event.content),
        " ".join(terms(text)) if event.role != "system" else "",
        tuple(call_ids(meta)) if meta else (),
        answered_call(meta) if meta else None,
        json.dumps(meta, ensure_ascii=False) if meta else "{}",
    )
