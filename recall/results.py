"""What the read side answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory.context import Context
from memory.redundancy import Dropped
from memory.types import Degraded, Hit, StoredMessage
from store.events import State


@dataclass(frozen=True, slots=True)
class Lag:
    """How far behind the workers are.

    Attributes:
        unread: events in the stream that are not stored yet; None when Redis could not be asked.
        owed: jobs not done yet, by kind (see store.health); None when SQLite could not be asked.
        oldest: age in seconds of the oldest of them; None as above.
    """

    unread: int | None = None
    owed: Mapping[str, int] | None = None
    oldest: float | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first; a message that is not stored yet has id 0. `dropped` is filled where it was asked for."""

    hits: list[Hit]
    degraded: list[Degraded] = field(default_factory=list)
    lag: Lag = field(default_factory=Lag)
    dropped: list[Dropped] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ContextResult:
    """A context and what stands behind it.

    Attributes:
        context: messages ready to send, with statistics and provenance (memory.context).
        window: the messages of the session that were there to choose from, oldest first.
        hits: what was recalled, best first, also what the budget then left out.
        reason: the rule that decided about recall (memory.context.recall_wanted).
        facts: those that were called for, then the core ones, also what the budget then left out.
    """

    context: Context
    window: Sequence[StoredMessage]
    hits: Sequence[Hit]
    reason: str
    lag: Lag = field(default_factory=Lag)
    facts: Sequence[Hit] = ()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Messages in OpenAI's chat form."""
        return self.context.messages

    @property
    def statistics(self) -> dict[str, Any]:
        """Tokens and counts, a part each."""
        return self.context.statistics

    @property
    def provenance(self) -> list[dict[str, Any]]:
        """For each message the rows that stand behind it."""
        return self.context.provenance

    @property
    def degraded(self) -> list[Degraded]:
        """What works less well for now."""
        return self.context.degraded


@dataclass(frozen=True, slots=True)
class EventStatus:
    """How far an event has come; `entry_id` is known while its receipt lives, `reason` when it is dead."""

    id: str
    namespace: str
    state: State
    type: str | None = None
    entry_id: str | None = None
    reason: str | None = None
