"""The consumer: reads the stream, stores each batch, acknowledges, hints at the work. One is active at a
time.

Nothing is acknowledged before it is committed, and whatever goes wrong ends in the same way: let go, wait,
take the lease again, claim everything that is pending, and only then read on. So there is one way to
recover, and it is used at every start.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import redis

from config.logging import get_logger
from sidestream.keys import Keys
from store import counters, leases
from store.db import Database
from store.errors import LeaseLost, StoreError
from store.leases import Lease
from workers import faults
from workers.analyst import Analyst
from workers.backoff import delay
from workers.batch import IngestRules
from workers.ingest import Ingest
from workers.liveness import Liveness
from workers.nudge import Nudger
from workers.outbox import Outbox
from workers.pipeline import Pipeline
from workers.stream import EventStream, Read
from workers.writing import BatchWriter

log = get_logger("consumer")

LEASE = "consumer"
_FIRST_WAIT = 0.2
_LONGEST_WAIT = 5.0


@dataclass(frozen=True, slots=True)
class ConsumerRules:
    """Settings of the loop; seconds."""

    lease: float
    block: float
    standby: float = 1.0


class StreamConsumer:
    """The loop. Everything it needs is handed in; `owner` names the holder of the lease (see
    store/processes.py)."""

    def __init__(
        self,
        *,
        owner: str,
        open_database: Callable[[], Database],
        stream: EventStream,
        keys: Keys,
        nudger: Nudger,
        liveness: Liveness,
        outbox: Outbox,
        rules: ConsumerRules,
        ingest_rules: IngestRules,
        clock: Callable[[], float],
        stop: threading.Event,
    ) -> None:
        self._owner = owner
        self._open = open_database
        self._stream = stream
        self._keys = keys
        self._nudger = nudger
        self._liveness = liveness
        self._outbox = outbox
        self._rules = rules
        self._ingest_rules = ingest_rules
        self._clock = clock
        self._stop = stop
        self._failures = 0
        self._analyst = Analyst()
        self._pipeline = Pipeline(stream, self._analyst, between=self._between, stop=stop)

    def run(self) -> None:
        """Until `stop` is set; the batch in hand is finished first."""
        while not self._stop.is_set():
            try:
                self._serve()
            except LeaseLost as error:
                log.warning("consumer_lease_lost", reason=str(error))
            except redis.RedisError as error:
                self._trouble("redis", error)
            except StoreError as error:
                self._trouble("sqlite", error)
            except Exception as error:  # noqa: BLE001 - the thread's edge: whatever happens, it must try again
                self._trouble("program", error)
        self._analyst.close()
        self._liveness.leave()
        log.info("consumer_stopped")

    def drain(self, budget: float) -> int:
        """Stores what stands in the stream, for `budget` seconds at most, if no other consumer holds the
        lease; how many entries.

        Raises:
            redis.RedisError, StoreError, LeaseLost: it could not go on; nothing is lost.
        """
        end = time.monotonic() + budget
        with self._open() as db:
            lease = leases.acquire(db, LEASE, self._owner, self._rules.lease, self._clock())
            if lease is None:
                return 0
            try:
                return self._drain(self._writer(db, lease), end)
            finally:
                self._release(db, lease)

    def _drain(self, writer: BatchWriter, end: float) -> int:
        total = self._take_over(writer)
        while time.monotonic() < end:
            read = self._stream.read(0)
            if read.gap:
                total += self._take_over(writer)
            elif read.entries:
                self._stream.acknowledge(read.entries, writer.store(read.entries))
                total += len(read.entries)
            else:
                break
        self._send_hints()
        return total

    def _serve(self) -> None:
        with self._open() as db:
            lease = self._acquire(db)
            if lease is None:
                return
            log.info("consumer_active", owner=self._owner, fence=lease.fence)
            try:
                self._follow(self._writer(db, lease))
            finally:
                self._release(db, lease)

    def _acquire(self, db: Database) -> Lease | None:
        """Waits for the lease; None when the consumer is to stop first."""
        waiting = False
        while not self._stop.is_set():
            lease = leases.acquire(db, LEASE, self._owner, self._rules.lease, self._clock())
            if lease is not None:
                return lease
            if not waiting:
                waiting = True
                log.info("consumer_standing_by", owner=self._owner)
            # Whoever holds the lease works: it lapses else, and this one has it.
            self._liveness.beat(self._clock())
            self._stop.wait(self._rules.standby)
        return None

    def _follow(self, writer: BatchWriter) -> None:
        self._take_over(writer)
        read = Read([], gap=False)
        while not self._stop.is_set():
            if read.gap:
                self._take_over(writer)
                read = Read([], gap=False)
            elif not read.entries:
                writer.keep()
                read = self._stream.read(self._outbox.wait(self._clock(), self._rules.block))
            elif self._pipeline.wanted(read.entries):
                read = self._pipeline.run(writer, read.entries)
            else:
                done = read.entries
                read = self._stream.acknowledge_and_read(done, writer.store(done))
                faults.reach("consumer.after_ack")
            self._between()
        if read.entries and not read.gap:
            self._stream.acknowledge(read.entries, writer.store(read.entries))
            self._send_hints()

    def _take_over(self, writer: BatchWriter) -> int:
        """Everything that is pending, in order, before anything new; then the group is this consumer's
        alone, and everything that stands in the stream is new."""
        self._stream.ensure_group()
        total = 0
        for entries in self._stream.claim_pending():
            self._stream.acknowledge(entries, writer.store(entries))
            faults.reach("consumer.after_ack")
            total += len(entries)
            self._between()
        if total:
            log.info("consumer_took_over", entries=total)
        self._stream.rewind()
        self._stream.drop_other_consumers()
        return total

    def _writer(self, db: Database, lease: Lease) -> BatchWriter:
        ingest = Ingest(db, lease, self._ingest_rules, self._clock)
        return BatchWriter(ingest, self._keys, self._outbox, self._clock)

    def _send_hints(self) -> None:
        for kind in self._outbox.due(self._clock()):
            try:
                self._nudger.nudge(kind)
            except Exception as error:  # noqa: BLE001 - kombu raises what it likes; the sweep makes up for a lost hint
                log.warning("hint_not_sent", kind=kind, reason=f"{type(error).__name__}: {error}")

    def _between(self) -> None:
        """After each batch: hints go out, and the consumer shows that it works."""
        self._send_hints()
        self._failures = 0
        self._liveness.beat(self._clock())

    def _release(self, db: Database, lease: Lease) -> None:
        # A lease that cannot be given back runs out by itself; what led here is the error that counts.
        with suppress(StoreError):
            leases.release(db, lease)

    def _trouble(self, where: str, error: Exception) -> None:
        """Says what is wrong, where it can be said, and waits before the next attempt."""
        self._failures += 1
        wait = delay(self._failures, _FIRST_WAIT, _LONGEST_WAIT)
        reason = f"{type(error).__name__}: {error}"
        trace = error if where == "program" else None
        log.error("consumer_in_trouble", where=where, reason=reason, wait=round(wait, 3), exc_info=trace)
        self._liveness.trouble(self._clock(), f"{where}: {reason}")
        self._count_trouble(where)
        self._stop.wait(wait)

    def _count_trouble(self, where: str) -> None:
        if where == "sqlite":
            return
        with suppress(StoreError), self._open() as db:
            counters.bump(db, "consumer_troubles")
