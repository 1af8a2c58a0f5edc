"""The nightly step for facts that leave recall: expired, faded, or too many of one user."""

from dataclasses import dataclass
from typing import Any

from memory.weights import WeightPolicy
from store import fact_weights
from store.nightly import Context, Slice
from workers.upkeep import keep_up_scope

_SCOPES = 20


@dataclass(frozen=True, slots=True)
class FactUpkeep:
    """What the hourly upkeep does, once for everybody and in the night's report; ages count up to the night's moment.
    The cursor is the last scope."""

    policy: WeightPolicy
    name: str = "fact_upkeep"

    def due(self, context: Context) -> int:
        """Facts that have expired; which have faded is told by the step."""
        return int(context.db.value("nightly_expired_facts", moment=context.moment))

    def prepare(self, context: Context, cursor: str) -> None:
        """Nothing to do outside of a transaction."""

    def apply(self, context: Context, cursor: str, prepared: Any) -> Slice:
        """The facts of the next users."""
        scopes = fact_weights.scopes_with_facts(context.db, int(cursor or 0), _SCOPES)
        seen = archived = 0
        for scope in scopes:
            living, left = keep_up_scope(context.db, scope, self.policy, context.moment, context.now)
            seen, archived = seen + living, archived + left
        following = str(scopes[-1]) if len(scopes) == _SCOPES else None
        return Slice(following, seen, kept=seen - archived, archived=archived)
