"""The nightly step for candidates that nothing has confirmed."""

from typing import Any

from memory.retention import DAY
from store import facts
from store.nightly import Context, Slice

WEAK_AFTER = 30.0
"""Days without a change after which a candidate is archived."""
_ACTOR = "nightly"
_REASON = f"a candidate that nothing confirmed in {WEAK_AFTER:g} days"


class WeakCandidates:
    """Archives candidates that have stood for long; from then on they age as facts that left recall. The cursor is
    the last id."""

    name = "weak_candidates"

    def due(self, context: Context) -> int:
        """How many there are."""
        return len(self._ids(context, 0, -1))

    def prepare(self, context: Context, cursor: str) -> None:
        """Nothing to do outside of a transaction."""

    def apply(self, context: Context, cursor: str, prepared: Any) -> Slice:
        """The next of them, each with a line in its history."""
        limit = context.rules.batch
        ids = self._ids(context, int(cursor or 0), limit)
        for fact_id in ids:
            fact = facts.row(context.db, fact_id)
            if fact is not None:
                facts.set_status(context.db, fact, "archived", actor=_ACTOR, reason=_REASON, now=context.now)
        return Slice(str(ids[-1]) if len(ids) == limit else None, len(ids), archived=len(ids))

    @staticmethod
    def _ids(context: Context, after: int, limit: int) -> list[int]:
        params = {"before": context.moment - WEAK_AFTER * DAY, "after": after, "limit": limit}
        return [i for (i,) in context.db.tuples("nightly_weak_candidates", params)]
