"""How a backlog is stored: while one batch is written, the next is read by another process, and the one after
that is fetched. Order, acknowledgement and recovery are the consumer's own; only the reading is ahead."""

import threading
import time
from collections.abc import Callable

from config.logging import get_logger
from workers import faults
from workers.analyst import Analyst
from workers.errors import AnalystGone
from workers.stream import Entry, EventStream, Read
from workers.writing import BatchWriter

log = get_logger("pipeline")

# An analyst that died may die again at once; batches go on without one meanwhile.
_PAUSE = 30.0


class Pipeline:
    """Stores full batches with an analyst's help; `between` is called after each acknowledgement."""

    def __init__(
        self,
        stream: EventStream,
        analyst: Analyst,
        *,
        between: Callable[[], None],
        stop: threading.Event,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._analyst = analyst
        self._between = between
        self._stop = stop
        self._monotonic = monotonic
        self._not_before = 0.0

    def wanted(self, entries: list[Entry]) -> bool:
        """The batch is full, so that more is likely to wait, and the analyst is up."""
        if len(entries) < self._stream.count or self._monotonic() < self._not_before:
            return False
        try:
            return self._analyst.ready()
        except (AnalystGone, OSError) as error:
            self._give_up(error)
            return False

    def run(self, writer: BatchWriter, entries: list[Entry]) -> Read:
        """Stores `entries` and what follows, until nothing is left or the consumer is to stop. What it hands
        back is read and neither stored nor acknowledged; after `gap` all that is pending must be claimed.

        Raises:
            redis.RedisError, StoreError: as storing and reading do; nothing unstored is acknowledged.
        """
        try:
            return self._run(writer, entries)
        except AnalystGone as error:
            # Whatever was in hand is pending still, and is claimed again in its order.
            self._give_up(error)
            return Read([], gap=True)
        except BaseException:
            self._analyst.close()
            raise

    def _run(self, writer: BatchWriter, entries: list[Entry]) -> Read:
        self._analyst.send(entries)
        ahead = self._stream.read(0, held=len(entries))
        while entries:
            found = self._analyst.receive(writer.keep)
            if ahead.gap or self._stop.is_set():
                return self._finish(writer, entries, ahead)
            if ahead.entries:
                self._analyst.send(ahead.entries)
            tails = writer.store(entries, found)
            done, entries = entries, ahead.entries
            ahead = self._stream.acknowledge_and_read(done, tails, held=len(entries))
            faults.reach("consumer.after_ack")
            self._between()
        return ahead

    def _finish(self, writer: BatchWriter, entries: list[Entry], ahead: Read) -> Read:
        if ahead.gap:
            return Read([], gap=True)
        self._stream.acknowledge(entries, writer.store(entries))
        return ahead

    def _give_up(self, error: Exception) -> None:
        log.warning("analyst_gone", reason=f"{type(error).__name__}: {error}")
        self._not_before = self._monotonic() + _PAUSE
        self._analyst.close()
