"""Shows that this very worker process takes and does tasks, and wakes one that has gone silent: after Redis
was away it may wait for ever on a connection that is no more (an acknowledgement that fails takes the
connection with it, and nothing tells the loop).

Each process has a queue of its own beside those that it shares, and sends itself a heartbeat task through
it: what other workers of the same queues take proves nothing of this one.

Silent means: tasks wait in its queues, it is at work on none, and it has taken none for a while. Then an
error of the kind that a lost connection raises is raised in its main thread, and Celery connects anew.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import redis
from celery import bootsteps
from celery.signals import task_received
from celery.worker import state
from kombu import Queue
from kombu.exceptions import OperationalError

from config.logging import get_logger

log = get_logger("watchdog")

_LEAST_PATIENCE = 3.0
_LOOK_EVERY = 0.5
_STOP_WAIT = 6.0


@dataclass(frozen=True, slots=True)
class WatchRules:
    """Seconds: between two heartbeats, of silence that are too many, and that a task may take at most."""

    every: float
    patience: float
    longest_task: float


@dataclass(frozen=True, slots=True)
class Worker:
    """What the watchdog may do with its worker."""

    ping: Callable[[], None]
    """Sends it the heartbeat task through its own queue."""
    vouch: Callable[[], None]
    """Shows in its place that it lives."""
    leave: Callable[[], None]
    """Ends what shows that it lives."""
    busy: Callable[[], bool]
    wake: Callable[[], None]


class Watchdog:
    """Looks every half second; the first of `queue_keys` is the worker's own queue."""

    def __init__(
        self,
        client: redis.Redis,
        queue_keys: Sequence[str],
        rules: WatchRules,
        worker: Worker,
        *,
        stop: threading.Event,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._queue_keys = queue_keys
        self._rules = rules
        self._patience = max(rules.patience, _LEAST_PATIENCE)
        self._worker = worker
        self._stop = stop
        self._monotonic = monotonic
        self._alive_at = self._taken_at = monotonic()
        self._ping_at = float("-inf")

    def taken(self, **_: Any) -> None:
        """The worker has taken a task."""
        self._alive_at = self._taken_at = self._monotonic()

    def run(self) -> None:
        """Until `stop` is set."""
        while not self._stop.wait(min(_LOOK_EVERY, self._rules.every)):
            self.look()
        self._worker.leave()

    def look(self) -> bool:
        """Keeps the heartbeat going, and wakes the worker if it is silent; whether it was."""
        now = self._monotonic()
        if now >= self._ping_at:
            self._ping(now)
        busy = self._worker.busy()
        if busy and now - self._taken_at < self._rules.longest_task:
            # A heartbeat task waits behind those in hand, whose length Celery limits.
            self._worker.vouch()
        if busy or not self._waiting():
            self._alive_at = now
        if now - self._alive_at < self._patience:
            return False
        log.error("worker_silent", seconds=round(now - self._alive_at, 1), queues=list(self._queue_keys))
        self._alive_at = now
        self._worker.wake()
        return True

    def _ping(self, now: float) -> None:
        own = self._queue_keys[0]
        try:
            if not self._client.llen(own):
                self._worker.ping()
            # Nobody else ever takes what a process that was killed left in its queue.
            self._client.expire(own, math.ceil(self._rules.every + self._patience) * 2)
            self._ping_at = now + self._rules.every
        except (redis.RedisError, OperationalError) as error:
            log.warning("heartbeat_not_sent", reason=str(error))
            self._ping_at = now + self._patience

    def _waiting(self) -> bool:
        try:
            return any(self._client.llen(key) > 0 for key in self._queue_keys)
        except redis.RedisError:
            # While Redis is away, silence is right.
            return False


def watchdog_step(
    own_queue: Callable[[], Queue], build: Callable[[list[str], threading.Event], Watchdog]
) -> type[bootsteps.StartStopStep]:
    """The step as Celery wants it, a class; `build` takes the names of the queues that the worker shares."""

    class WatchdogStep(bootsteps.StartStopStep):
        """Watches from the pool's start on, so that no first child is forked beside a running thread."""

        requires = ("celery.worker.components:Pool",)

        def __init__(self, worker: Any, **kwargs: Any) -> None:
            super().__init__(worker, **kwargs)
            self._stop = threading.Event()
            self._thread: threading.Thread | None = None
            queues = worker.app.amqp.queues
            self._shared = list(queues.consume_from)
            queues.select_add(own_queue())

        def start(self, parent: Any) -> None:  # noqa: ARG002 - Celery hands it in
            """Starts watching."""
            signal.signal(signal.SIGUSR2, connection_lost)
            self._watchdog = build(self._shared, self._stop)
            task_received.connect(self._watchdog.taken)
            self._thread = threading.Thread(target=self._watchdog.run, name="watchdog", daemon=True)
            self._thread.start()

        def stop(self, parent: Any) -> None:  # noqa: ARG002 - Celery hands it in
            """Ends watching."""
            self._stop.set()
            if self._thread is not None:
                self._thread.join(_STOP_WAIT)

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
