"""The nightly step that rolls the timeline up: sessions into days, days into weeks, weeks into months."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, Final

from memory.timeline import TimelineRules
from memory.types import TimelineLevel
from store.nightly import Context, Slice
from workers.rollups import Shortener, due, make

_LEVELS: Final[tuple[TimelineLevel, ...]] = ("session", "day", "week")
# Entries a slice: a model may take seconds for each, and between two slices the night may stop.
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class RollUps:
    """Each entry is written in a transaction of its own, and what is rolled up is not due any more: a slice that is
    done again does nothing. The cursor is the level that is being rolled up.

    `run` runs a coroutine to its end; ages are those of `rules`, days those of `zone`.
    """

    shortener: Shortener
    rules: TimelineRules
    zone: tzinfo
    run: Callable[[Coroutine[Any, Any, int]], int]
    name: str = "roll_ups"

    def due(self, context: Context) -> int:
        """Entries of all levels that could be made now; coarser ones follow from them."""
        return sum(
            len(due(context.db, level, self.rules, self.zone, context.moment, context.rules.batch)) for level in _LEVELS
        )

    def prepare(self, context: Context, cursor: str) -> int:
        """Makes the next entries; how many. A model is asked with no transaction open."""
        return self.run(self._make(context, _LEVELS[int(cursor or 0)]))

    def apply(self, context: Context, cursor: str, prepared: Any) -> Slice:
        """Counts them, and goes on to the next level when nothing was left of this one."""
        level = int(cursor or 0)
        if prepared:
            return Slice(str(level), seen=prepared, kept=prepared)
        return Slice(str(level + 1) if level + 1 < len(_LEVELS) else None)

    async def _make(self, context: Context, level: TimelineLevel) -> int:
        groups = due(context.db, level, self.rules, self.zone, context.moment, _AT_ONCE)
        made = [
            await make(context.db, group, self.shortener, self.rules, self.zone, context.moment) for group in groups
        ]
        return sum(entry is not None for entry in made)
