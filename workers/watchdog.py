"""Wakes a Celery worker that has gone silent: after Redis was away it may wait for ever on a connection
that is no more (an acknowledgement that fails takes the connection with it, and nothing tells the loop).

Silent means: tasks wait in its queues, it is at work on none, and it has taken none for a while. Then an
error of the kind that a lost connection raises is raised in its main thread, and Celery connects anew.
"""

import signal
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import redis
from celery import bootsteps
from celery.signals import task_received
from celery.worker import state

from config.logging import get_logger

log = get_logger("watchdog")

_LEAST_PATIENCE = 3.0
_LOOK_EVERY = 0.5


class Watchdog:
    """Looks every half second; `patience` is how many seconds of silence are too many."""

    def __init__(
        self,
        client: redis.Redis,
        queue_keys: Sequence[str],
        patience: float,
        *,
        busy: Callable[[], bool],
        wake: Callable[[], None],
        stop: threading.Event,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._queue_keys = queue_keys
        self._patience = max(patience, _LEAST_PATIENCE)
        self._busy = busy
        self._wake = wake
        self._stop = stop
        self._monotonic = monotonic
        self._alive_at = monotonic()

    def taken(self, **_: Any) -> None:
        """The worker has taken a task."""
        self._alive_at = self._monotonic()

    def run(self) -> None:
        """Until `stop` is set."""
        while not self._stop.wait(_LOOK_EVERY):
            self.look()

    def look(self) -> bool:
        """Wakes the worker if it is silent; whether it was."""
        now = self._monotonic()
        if self._busy() or not self._waiting():
            self._alive_at = now
        if now - self._alive_at < self._patience:
            return False
        log.error("worker_silent", seconds=round(now - self._alive_at, 1), queues=list(self._queue_keys))
        self._alive_at = now
        self._wake()
        return True

    def _waiting(self) -> bool:
        try:
            return any(self._client.llen(key) > 0 for key in self._queue_keys)
        except redis.RedisError:
            # While Redis is away, silence is right.
            return False


def watchdog_step(build: Callable[..., Watchdog]) -> type[bootsteps.StartStopStep]:
    """The step as Celery wants it, a class; `build` takes the names of the queues, and `busy`, `wake`,
    `stop`."""

    class WatchdogStep(bootsteps.StartStopStep):
        """Watches from the pool's start on, so that no first child is forked beside a running thread."""

        requires = ("celery.worker.components:Pool",)

        def __init__(self, worker: Any, **kwargs: Any) -> None:
            super().__init__(worker, **kwargs)
            self._stop = threading.Event()

        def start(self, parent: Any) -> None:
            """Starts watching."""
            signal.signal(signal.SIGUSR2, connection_lost)
            self._watchdog = build(
                list(parent.app.amqp.queues.consume_from), busy=busy, wake=wake_main_thread, stop=self._stop
            )
            task_received.connect(self._watchdog.taken)
            threading.Thread(target=self._watchdog.run, name="watchdog", daemon=True).start()

        def stop(self, parent: Any) -> None:  # noqa: ARG002 - Celery hands it in
            """Ends watching."""
            self._stop.set()

        def terminate(self, parent: Any) -> None:
            """The same."""
            self.stop(parent)

    return WatchdogStep


def busy() -> bool:
    """The worker is at work on a task, or about to be."""
    return bool(state.reserved_requests)


def wake_main_thread() -> None:
    """Interrupts whatever the main thread waits for."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGUSR2)


def connection_lost(_number: int, _frame: FrameType | None) -> None:
    """The handler of SIGUSR2. Raises what Celery answers with a new connection."""
    raise redis.ConnectionError("the worker was silent while tasks waited")
