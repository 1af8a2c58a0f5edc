"""What the sync and the async publisher have in common: everything but waiting.

The steps of publishing and replaying are generators. They yield what is to be done (`Send` to Redis, `Call` a
function that blocks on the disk), are sent the outcome, and return the result; a publisher carries them out.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from sidestream.errors import InvalidEvent, PublishError, RedisUnavailable
from sidestream.events import MODELS, Event, check_time, parse_event
from sidestream.flat import digest_of, format_time
from sidestream.keys import Keys
from sidestream.logs import get_logger
from sidestream.receipts import Receipt
from sidestream.redis_client import ConnectionLost, is_away
from sidestream.script import Command, Prepared, PublishScript
from sidestream.spool import Spool, Waiting

log = get_logger("publisher")

TAIL_TTL = 86_400.0
TAIL_MAX = 1_000
RECEIPT_TTL = 86_400.0
SPOOL_MAX_BYTES = 64 * 1024 * 1024

BATCH = 500
_BATCH_CHARS = 4 * 1024 * 1024
_MODELS = frozenset(MODELS.values())
FIRST_WAIT = 0.05
LONGEST_WAIT = 1.0

T = TypeVar("T")
Published: TypeAlias = Event | Mapping[str, Any]
"""What can be published: an event, or a mapping that `parse_event` makes one of."""


@dataclass(frozen=True, slots=True)
class Send:
    """Send the commands in one pipeline. The outcome is the replies (errors among them), or the error."""

    commands: Sequence[Command]


@dataclass(frozen=True, slots=True)
class Call:
    """Call the function, which blocks on the disk. The outcome is its result, or its PublishError."""

    function: Callable[[], Any]


Steps: TypeAlias = Generator[Send | Call, Any, T]


def no_fault(point: str) -> None:
    """The default of `fault`: nothing goes wrong."""


class PublisherCore:
    """The rules of one publisher."""

    def __init__(
        self,
        script: PublishScript,
        spool: Spool | None,
        clock: Callable[[], float],
        ids: Callable[[], str],
        fault: Callable[[str], None],
    ) -> None:
        self.spool = spool
        self.closed = False
        self.wait = FIRST_WAIT
        self._stuck = ""
        self._script = script
        self._clock = clock
        self._ids = ids
        self._fault = fault

    @property
    def spooled(self) -> int:
        """How many events wait in the spool."""
        return self.spool.pending if self.spool else 0

    def prepare(self, event: Published) -> Prepared:
        """The event as the script takes it, with an id. An Event is valid already; a mapping is checked."""
        if type(event) not in _MODELS:
            if not isinstance(event, Mapping):
                raise InvalidEvent(f"event: must be an Event or a mapping, and not {type(event).__name__}")
            event = parse_event(event)
        assert isinstance(event, Event)  # for the type checker
        if event.ts is not None:
            check_time(event.ts, self._now())
        fields = event.to_fields()
        event_id = fields.setdefault("id", event.id or self._ids())
        return Prepared(event_id, fields, digest_of(fields))

    def prepare_all(self, events: Iterable[Published]) -> list[Prepared]:
        """Every event, or InvalidEvent that says which one is wrong."""
        prepared = []
        for index, event in enumerate(events):
            try:
                prepared.append(self.prepare(event))
            except InvalidEvent as error:
                raise InvalidEvent(f"events[{index}]: {error}") from error
        return prepared

    def publish(self, events: Sequence[Prepared]) -> Steps[list[Receipt]]:
        """Into Redis; from the first that Redis does not take on, into the spool. Raises PublishError."""
        if self.closed:
            raise PublishError("the publisher is closed")
        receipts: list[Receipt] = []
        error: Exception | None = None
        if not self.spooled:
            for batch in _batches(events):
                self._fault("publish:before_redis")
                ids, error = yield from self._send(batch)
                receipts += [Receipt(event.id, entry) for event, entry in zip(batch, ids, strict=False)]
                if error is not None:
                    break
                self._fault("publish:after_redis")
        rest = events[len(receipts) :]
        if rest:
            refusal = yield from self._spool(rest, error)
            if refusal is not None:
                refusal.accepted, refusal.ids = receipts, [event.id for event in rest]
                raise refusal
            receipts += [Receipt(event.id, None, spooled=True) for event in rest]
        return receipts

    def replay(self) -> Steps[Exception | None]:
        """One batch from the spool into Redis; the error that stopped it, if any. Sets `wait`, seconds."""
        if self.spool is None:
            return None
        error = yield from self._replay(self.spool)
        self.wait = FIRST_WAIT if error is None else min(2 * self.wait, LONGEST_WAIT)
        stuck = str(error) if error is not None and not is_away(error) else ""
        if stuck and stuck != self._stuck:
            log.error("spool_stuck", folder=self.spool.directory, reason=stuck)
        self._stuck = stuck
        return error

    def _replay(self, spool: Spool) -> Steps[Exception | None]:
        waiting: Waiting | PublishError | None = yield Call(lambda: spool.first(BATCH))
        if not isinstance(waiting, Waiting):
            return waiting
        ids: list[str] = []
        error: Exception | None = None
        if waiting.events:
            ids, error = yield from self._send(waiting.events)
            self._fault("replay:after_redis")
        failed: PublishError | None = yield Call(lambda: spool.done(waiting, len(ids)))
        if error is None and failed is None and not spool.pending:
            log.info("spool_drained", folder=spool.directory)
        return error or failed

    def _send(self, events: Sequence[Prepared]) -> Steps[tuple[list[str], Exception | None]]:
        commands = self._script.commands(events)
        ids, error = self._script.entry_ids((yield Send(commands)))
        if isinstance(error, ConnectionLost) and not ids:
            # The server may only have restarted since the last time; receipts make the repeat harmless.
            ids, error = self._script.entry_ids((yield Send(commands)))
        return ids, error

    def _spool(self, events: Sequence[Prepared], error: Exception | None) -> Steps[PublishError | None]:
        if error is not None and not is_away(error):
            return _caused(PublishError(f"Redis refuses the event: {error}"), error)
        if self.spool is None:
            assert error is not None  # without a spool nothing but an error leads here
            return _caused(RedisUnavailable(f"Redis is away: {error}"), error)
        spool, now = self.spool, format_time(self._now())
        if error is not None and not self.spooled:
            log.warning("spool_begun", folder=spool.directory, reason=error)
        for event in events:
            event.fields.setdefault("ts", now)
        refusal: PublishError | None = yield Call(lambda: spool.append(events))
        if refusal is None:
            self._fault("publish:spooled")
        elif error is not None:
            _caused(refusal, error)
        return refusal

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)


def build_core(
    prefix: str,
    spool_dir: Path | str | None,
    spool_max_bytes: int,
    tail: tuple[float, int],
    receipt_ttl: float,
    clock: Callable[[], float],
    ids: Callable[[], str],
    fault: Callable[[str], None],
) -> PublisherCore:
    """A core whose spool has adopted the files of publishers that are gone. Raises SpoolUnavailable."""
    spool = None
    if spool_dir is not None:
        spool = Spool(Path(spool_dir), spool_max_bytes, fault)
        spool.adopt()
    return PublisherCore(PublishScript(Keys(prefix), *tail, receipt_ttl), spool, clock, ids, fault)


def _batches(events: Sequence[Prepared]) -> Iterator[Sequence[Prepared]]:
    start = chars = 0
    for index, event in enumerate(events):
        size = sum(map(len, event.fields.values()))
        if index > start and (index - start == BATCH or chars + size > _BATCH_CHARS):
            yield events[start:index]
            start, chars = index, 0
        chars += size
    if start < len(events):
        yield events[start:]


def _caused(error: PublishError, cause: Exception) -> PublishError:
    error.__cause__ = error.__cause__ or cause
    return error
