"""What a session's main agent is sent, and what it answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory.types import Degraded, Hit


@dataclass(frozen=True, slots=True)
class Say:
    """The user says something. `on_piece` gets the answer's pieces while they are written."""

    text: str
    on_piece: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class End:
    """The session is over."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The agent's answer.

    Attributes:
        event_id: of the answer; user_event_id: of what it answers.
        sources: facts and memories that the model was given, best first.
        statistics: of the context (see memory.context).
        reason: the rule that decided about recall.
        degraded: what works less well for now.
        spooled: the newest event waits in the spool, Redis being away.
        durable: False when the answer could not be published yet; the next reply publishes it first.
        model: which model answered.
    """

    session_id: str
    content: str
    event_id: str
    user_event_id: str
    sources: Sequence[Hit] = ()
    statistics: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    degraded: Sequence[Degraded] = ()
    spooled: bool = False
    durable: bool = True
    model: str = ""
