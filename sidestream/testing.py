"""Doubles for the tests of a backend: publishers that keep events in memory.

They check events as the real ones do, give ids, and take a repeat as one event.
"""

import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from sidestream.core import TAIL_MAX, TAIL_TTL, Published, PublisherCore, no_fault
from sidestream.errors import PublishError
from sidestream.events import AnyEvent, parse_entry
from sidestream.ids import new_id
from sidestream.keys import Keys
from sidestream.receipts import Receipt
from sidestream.script import Prepared, PublishScript


class MemoryPublisher:
    """In place of a `Publisher`.

    Attributes:
        events: what was published, in order, each with its id.
        error: set it, and publishing raises it until it is None again.
    """

    def __init__(self, *, clock: Callable[[], float] = time.time, ids: Callable[[], str] = new_id) -> None:
        script = PublishScript(Keys(), TAIL_TTL, TAIL_MAX, TAIL_TTL)
        self._core = PublisherCore(script, None, clock, ids, no_fault)
        self._seen: dict[tuple[str, str, str], str] = {}
        self._clock = clock
        self.events: list[AnyEvent] = []
        self.error: PublishError | None = None
        self.spooled = 0

    def publish(self, event: Published) -> Receipt:
        """Keeps the event. Raises InvalidEvent, and `error` where that is set."""
        return self._keep([self._core.prepare(event)])[0]

    def publish_many(self, events: Iterable[Published]) -> list[Receipt]:
        """Keeps the events, all or none."""
        return self._keep(self._core.prepare_all(events))

    def flush(self, deadline: float = 10.0) -> int:  # noqa: ARG002 - the real one's signature
        """Nothing ever waits."""
        return 0

    def close(self, deadline: float | None = None) -> None:  # noqa: ARG002 - the real one's signature
        """After this, publishing raises PublishError."""
        self._core.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _keep(self, events: list[Prepared]) -> list[Receipt]:
        if self._core.closed:
            raise PublishError("the publisher is closed")
        if self.error is not None:
            raise self.error
        return [Receipt(event.id, self._entry(event)) for event in events]

    def _entry(self, event: Prepared) -> str:
        key = (event.fields.get("namespace", "default"), event.id, event.digest)
        if key not in self._seen:
            self._seen[key] = f"{int(self._clock() * 1000)}-{len(self._seen)}"
            self.events.append(parse_entry(event.fields))
        return self._seen[key]


class AsyncMemoryPublisher:
    """In place of an `AsyncPublisher`; what it keeps is in `memory`, a MemoryPublisher."""

    def __init__(self, *, clock: Callable[[], float] = time.time, ids: Callable[[], str] = new_id) -> None:
        self.memory = MemoryPublisher(clock=clock, ids=ids)

    @property
    def events(self) -> list[AnyEvent]:
        """What was published, in order."""
        return self.memory.events

    @property
    def spooled(self) -> int:
        """Nothing ever waits."""
        return 0

    async def publish(self, event: Published) -> Receipt:
        """As MemoryPublisher.publish."""
        return self.memory.publish(event)

    async def publish_many(self, events: Iterable[Published]) -> list[Receipt]:
        """As MemoryPublisher.publish_many."""
        return self.memory.publish_many(events)

    async def flush(self, deadline: float = 10.0) -> int:
        """Nothing ever waits."""
        return self.memory.flush(deadline)

    async def close(self, deadline: float | None = None) -> None:
        """After this, publishing raises PublishError."""
        self.memory.close(deadline)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
