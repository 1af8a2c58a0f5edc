"""Says in the log when something that reads need goes away, and when it is back; not at every read."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from config.logging import get_logger
from memory.types import Degraded

_log = get_logger("recall")


class Troubles:
    """What works less well for one reader.

    Attributes:
        counts: reads that had to do without, by part.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._standing: dict[str, str] = {}

    @property
    def standing(self) -> Mapping[str, str]:
        """What the latest reads did without, each part with its reason."""
        return self._standing

    def seen(self, notes: Sequence[Degraded], asked: Iterable[str]) -> None:
        """Takes the notes of one read; `asked` are the parts that it needed."""
        for note in notes:
            self.counts[note.part] += 1
            if note.part not in self._standing:
                _log.warning("read_degraded", part=note.part, reason=note.reason)
            self._standing[note.part] = note.reason
        for part in self._standing.keys() & (set(asked) - {note.part for note in notes}):
            del self._standing[part]
            _log.info("read_healed", part=part)
