"""The synchronous publisher."""

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import redis

from sidestream.core import (
    RECEIPT_TTL,
    SPOOL_MAX_BYTES,
    TAIL_MAX,
    TAIL_TTL,
    Call,
    Published,
    Send,
    Steps,
    build_core,
    no_fault,
)
from sidestream.errors import PublishError
from sidestream.ids import new_id
from sidestream.keys import DEFAULT_PREFIX
from sidestream.receipts import Receipt
from sidestream.redis_client import open_client

T = TypeVar("T")


class Publisher:
    """Publishes events onto the stream. One for a process; safe for threads and after a fork.

    What `publish` has returned for is durable: in Redis, or in the spool while Redis is away. From the first
    event that is spooled on, every event of this publisher goes through the spool until it is empty, so that
    order holds.
    """

    def __init__(
        self,
        redis_url: "str | redis.Redis",
        *,
        prefix: str = DEFAULT_PREFIX,
        spool_dir: Path | str | None = None,
        spool_max_bytes: int = SPOOL_MAX_BYTES,
        timeout: float = 2.0,
        tail_ttl: float = TAIL_TTL,
        tail_max: int = TAIL_MAX,
        receipt_ttl: float = RECEIPT_TTL,
        clock: Callable[[], float] = time.time,
        ids: Callable[[], str] = new_id,
        fault: Callable[[str], None] = no_fault,
    ) -> None:
        """
        Args:
            redis_url: address of Redis, or a client, whose own timeouts and retries count and which is not
                closed.
            prefix: start of every Redis key.
            spool_dir: folder of the spool; without one, RedisUnavailable is raised while Redis is away. Files
                in it whose publisher died are adopted.
            spool_max_bytes: most bytes that may wait in the spool.
            timeout: seconds that a publish waits for Redis before it spools.
            tail_ttl: seconds that an untouched tail of a session lives in Redis.
            tail_max: most messages in one session's tail.
            receipt_ttl: seconds that an event's receipt lives in Redis.
            clock: unix seconds.
            ids: makes the id of an event that has none.
            fault: called at named points, for tests that stop or kill there.

        Raises:
            SpoolUnavailable: the folder cannot be read or written.
        """
        self._core = build_core(
            prefix, spool_dir, spool_max_bytes, (tail_ttl, tail_max), receipt_ttl, clock, ids, fault
        )
        self._owned = isinstance(redis_url, str)
        self._client = open_client(redis_url, timeout) if isinstance(redis_url, str) else redis_url
        self._timeout = timeout
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._replaying = threading.Lock()
        self._stop = threading.Event()
        _LIVE.add(self)
        self._replay_in_background()

    @property
    def spooled(self) -> int:
        """How many events wait in the spool."""
        return self._core.spooled

    def publish(self, event: Published) -> Receipt:
        """Publishes one event; it is durable when this returns.

        Raises:
            InvalidEvent: the event breaks the contract.
            RedisUnavailable: Redis is away and there is no spool.
            SpoolFull, SpoolUnavailable: Redis is away and the spool cannot take the event.
            PublishError: Redis refuses the event for good, or the publisher is closed.
        """
        return self._publish([self._core.prepare(event)])[0]

    def publish_many(self, events: Iterable[Published]) -> list[Receipt]:
        """Publishes events in order; receipts in the same order.

        All are checked before the first is sent. Errors are those of `publish`; where some events were
        accepted before the error, it says which (see PublishError).
        """
        return self._publish(self._core.prepare_all(events))

    def flush(self, deadline: float = 10.0) -> int:
        """Replays the spool for at most `deadline` seconds, files of publishers that died meanwhile included.

        Returns:
            How many events still wait; 0 when all are in Redis.
        """
        if self._core.spool is None or self._core.closed:
            return self.spooled
        self._core.spool.adopt()
        end = time.monotonic() + deadline
        while self.spooled and (left := end - time.monotonic()) > 0:
            if not self._replaying.acquire(timeout=left):
                break
            try:
                error = self._run(self._core.replay())
            finally:
                self._replaying.release()
            if error is not None:
                self._stop.wait(max(0.0, min(self._core.wait, end - time.monotonic())))
        return self.spooled

    def close(self, deadline: float | None = None) -> None:
        """Replays the spool for at most `deadline` seconds (default: the timeout), then gives everything up.

        What still waits stays on disk for the next publisher on this host.
        """
        if self._core.closed:
            return
        try:
            if self.spooled:
                self.flush(self._timeout if deadline is None else deadline)
        finally:
            self._core.closed = True
            self._stop.set()
            if self._thread is not None:
                self._thread.join(self._timeout)
            if self._core.spool is not None:
                self._core.spool.close()
            if self._owned:
                self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _publish(self, events: list[Any]) -> list[Receipt]:
        try:
            return self._run(self._core.publish(events))
        finally:
            self._replay_in_background()

    def _run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                step = steps.send(self._send(step) if isinstance(step, Send) else _call(step))
        except StopIteration as end:
            result: T = end.value
            return result

    def _send(self, step: Send) -> list[Any]:
        pipeline: Any = self._client.pipeline(transaction=False)
        for command in step.commands:
            pipeline.execute_command(*command)
        try:
            replies: list[Any] = pipeline.execute(raise_on_error=False)
            return replies
        except (redis.RedisError, OSError) as error:
            return [error]

    def _replay_in_background(self) -> None:
        if not self.spooled or self._core.closed:
            return
        with self._starting:
            if self._thread is None:
                thread = threading.Thread(target=self._replay_all, name="sidestream-replay", daemon=True)
                with suppress(RuntimeError):  # the interpreter is ending; the next publisher adopts the spool
                    thread.start()
                    self._thread = thread

    def _replay_all(self) -> None:
        try:
            while not self._stop.is_set():
                with self._replaying:
                    error = self._run(self._core.replay())
                if error is not None:
                    self._stop.wait(self._core.wait)
                with self._starting:
                    if not self.spooled:
                        self._thread = None
                        return
        finally:
            with self._starting:
                if self._thread is threading.current_thread():
                    self._thread = None

    def _after_fork(self) -> None:
        # Locks may be held by threads that the child does not have.
        self._thread = None
        self._starting = threading.Lock()
        self._replaying = threading.Lock()
        self._stop = threading.Event()


def _call(step: Call) -> Any:
    try:
        return step.function()
    except PublishError as error:
        return error


_LIVE: "weakref.WeakSet[Publisher]" = weakref.WeakSet()


def _after_fork() -> None:
    for publisher in _LIVE:
        publisher._after_fork()


os.register_at_fork(after_in_child=_after_fork)
