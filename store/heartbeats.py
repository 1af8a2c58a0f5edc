"""Who works, process by process: what each worker showed last, as health and status read it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from store.processes import process_alive

FRESH = 6
"""A heartbeat counts for so many of its intervals, so that one slow second is no alarm."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The last sign of one process: seconds since then, and what it then said keeps it idle."""

    process: str
    age: float
    trouble: str | None = None
    fresh: bool = True

    @property
    def alive(self) -> bool:
        """It has shown lately that it works."""
        return self.fresh and self.trouble is None


def heartbeats(found: Mapping[bytes, bytes], now: float, every: float) -> list[Heartbeat]:
    """The hash `Keys.alive` of one role, the latest first, without processes that are known to be dead."""
    result = []
    for raw_process, raw in found.items():
        process = raw_process.decode()
        if process_alive(process):
            said = json.loads(raw)
            # Far in the future counts as old: the clock was set back since.
            age = now - said["at"]
            result.append(Heartbeat(process, max(0.0, age), said["trouble"], abs(age) <= FRESH * every))
    return sorted(result, key=lambda beat: beat.age)


def best(beats: Iterable[Heartbeat]) -> Heartbeat | None:
    """The one that tells how a role stands: of those that live the latest, else one in trouble, else the last seen."""
    return min(beats, key=lambda beat: (not beat.alive, not beat.fresh, beat.age), default=None)
