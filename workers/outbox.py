"""When the consumer hints at what it has written: at once, but not too often, and for embedding in batches.

Pure: it keeps counts and times, and says which kinds are due and how long may be waited.
"""

from dataclasses import dataclass

GAP = 0.1
"""Seconds between two hints of one kind: ten a second keep the workers busy, more would only cost the
broker."""


@dataclass(slots=True)
class _Owed:
    count: int = 0
    since: float = 0.0
    last: float = float("-inf")


class Outbox:
    """Hints that are owed. `batch` names, for kinds that wait for company, how many suffice and how long at
    most."""

    def __init__(self, batch: dict[str, tuple[int, float]]) -> None:
        self._batch = batch
        self._owed: dict[str, _Owed] = {}

    def owe(self, kind: str, count: int, now: float) -> None:
        """`count` new jobs of `kind` are committed."""
        owed = self._owed.setdefault(kind, _Owed())
        if owed.count == 0:
            owed.since = now
        owed.count += count

    def due(self, now: float) -> list[str]:
        """Kinds to hint at now; they are taken as hinted at."""
        for owed in self._owed.values():
            # The clock may have been set back: nothing waits for the old time to come again.
            owed.since, owed.last = min(owed.since, now), min(owed.last, now)
        kinds = [kind for kind, owed in self._owed.items() if owed.count and now >= self._at(kind, owed)]
        for kind in kinds:
            self._owed[kind].count = 0
            self._owed[kind].last = now
        return kinds

    def wait(self, now: float, most: float) -> float:
        """Seconds until the next hint is due, at most `most`."""
        times = [self._at(kind, owed) - now for kind, owed in self._owed.items() if owed.count]
        return max(0.0, min([most, *times]))

    def _at(self, kind: str, owed: _Owed) -> float:
        enough, longest = self._batch.get(kind, (1, 0.0))
        first = owed.since if owed.count >= enough else owed.since + longest
        return max(first, owed.last + GAP)
