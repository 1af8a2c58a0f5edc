"""Stores batches for the consumer: isolates an entry that breaks its batch, and notes what hints are owed."""

from collections.abc import Callable

from config.logging import get_logger
from sidestream.keys import Keys
from store.errors import LeaseLost
from workers import faults
from workers.entries import Incoming, Refused, read_entries, tail_of
from workers.errors import OUTAGES
from workers.ingest import Applied, Ingest
from workers.outbox import Outbox
from workers.stream import Entry
from workers.utterance import Utterance

log = get_logger("writing")

# Entries that are read between two looks at the lease; one alone may have a mebibyte.
_READ = 4
_READ_FOUND = 256


class BatchWriter:
    """Writes under one lease."""

    def __init__(self, ingest: Ingest, keys: Keys, outbox: Outbox, clock: Callable[[], float]) -> None:
        self._ingest = ingest
        self._keys = keys
        self._outbox = outbox
        self._clock = clock
        self._held_at = clock()

    def store(self, entries: list[Entry], found: list[Utterance | None] | None = None) -> dict[str, list[str]]:
        """Stores the batch; the tails' entries that are now in SQLite, by key. `found` is what
        an analyst found of the entries, if one did.

        Raises:
            StoreError: one of OUTAGES, or LeaseLost; what was not stored must not be acknowledged.
        """
        faults.reach("consumer.after_read")
        items = self._read(entries, found)
        applied = self._apply(entries, items)
        now = self._held_at = self._clock()
        for kind, count in applied.owed.items():
            self._outbox.owe(kind, count, now)
        return self._tails(entries, items)

    def keep(self) -> None:
        """Extends the lease where no batch has done so for a while.

        Raises:
            StoreError: as `store`.
        """
        now = self._clock()
        if not 0 <= now - self._held_at < self._ingest.lease_lasts / 3:
            self._ingest.keep()
            self._held_at = now

    def _read(self, entries: list[Entry], found: list[Utterance | None] | None) -> list[Incoming | Refused]:
        """The lease is kept meanwhile: a batch of long texts takes seconds, and another consumer would take over, take
        as long, and lose it again."""
        items: list[Incoming | Refused] = []
        step = _READ if found is None else _READ_FOUND
        for start in range(0, len(entries), step):
            part = slice(start, start + step)
            items += read_entries(entries[part], self._clock(), None if found is None else found[part])
            self.keep()
        return items

    def _tails(self, entries: list[Entry], items: list[Incoming | Refused]) -> dict[str, list[str]]:
        tails: dict[tuple[str, str], list[str]] = {}
        for entry, item in zip(entries, items, strict=True):
            if isinstance(item, Incoming):
                said = item.event
                tail = (said.namespace, said.session_id) if isinstance(said, Utterance) else None
            else:
                tail = tail_of(entry.fields)
            if tail is not None:
                tails.setdefault(tail, []).append(entry.id)
        return {self._keys.tail(*tail): ids for tail, ids in tails.items()}

    def _apply(self, entries: list[Entry], items: list[Incoming | Refused]) -> Applied:
        """Where an entry breaks the batch, halves are tried, until that entry stands alone and is buried."""
        try:
            return self._ingest.apply(entries, items)
        except (*OUTAGES, LeaseLost):
            raise
        except Exception as error:  # any fault of one entry ends in a dead letter
            log.error("batch_failed", entries=len(entries), first=entries[0].id, exc_info=error)
            if len(entries) == 1:
                return self._ingest.bury(entries[0], error)
        middle = len(entries) // 2
        first = self._apply(entries[:middle], items[:middle])
        return first.add(self._apply(entries[middle:], items[middle:]))
