"""The step that runs the consumer inside a Celery worker, if that worker has the queue `ingest`."""

import threading
from collections.abc import Callable
from typing import Any, Protocol

from celery import bootsteps
from celery.concurrency.solo import TaskPool as Solo

from config.logging import get_logger
from workers.collector import collect_rarely
from workers.errors import WrongPool
from workers.kinds import INGEST

log = get_logger("bootstep")

# A batch takes milliseconds; what takes longer than this hangs in a system call, and the lease will see to
# it.
_STOP_WAIT = 30.0


class Runnable(Protocol):
    """What a thread of the step does."""

    def run(self) -> None:
        """Until the event that it was built with is set."""
        ...


def ingest_step(build: Callable[[threading.Event], dict[str, Runnable]]) -> type[bootsteps.StartStopStep]:
    """The step as Celery wants it, a class; `build` makes, by name, what is to run when the worker starts."""

    class IngestStep(bootsteps.StartStopStep):
        """Starts its threads before the worker takes tasks, and ends them after it has stopped taking
        them."""

        requires = ("celery.worker.components:Pool",)

        def __init__(self, worker: Any, **kwargs: Any) -> None:
            super().__init__(worker, **kwargs)
            self._stop = threading.Event()
            self._threads: list[threading.Thread] = []

        def include_if(self, parent: Any) -> bool:
            """Only in a worker of the queue `ingest`."""
            return serves_ingest(parent)

        def create(self, parent: Any) -> None:
            """Refuses any other pool than solo before anything starts."""
            try:
                check_pool(parent.pool_cls)
            except WrongPool as error:
                raise SystemExit(str(error)) from error

        def start(self, parent: Any) -> None:  # noqa: ARG002 - Celery hands it in
            """Starts the threads."""
            collect_rarely()
            for name, work in build(self._stop).items():
                thread = threading.Thread(target=work.run, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()

        def stop(self, parent: Any) -> None:  # noqa: ARG002 - as above
            """Lets the batch in hand finish."""
            self._stop.set()
            for thread in self._threads:
                thread.join(_STOP_WAIT)
                if thread.is_alive():
                    log.error("thread_did_not_stop", thread=thread.name, waited=_STOP_WAIT)

        def terminate(self, parent: Any) -> None:
            """The same for a worker that is told to end at once: the batch takes milliseconds."""
            self.stop(parent)

    return IngestStep


def serves_ingest(worker: Any) -> bool:
    """The worker consumes the queue `ingest`."""
    return INGEST in worker.app.amqp.queues.consume_from


def check_pool(pool: type) -> None:
    """Raises WrongPool unless `pool` is solo."""
    if not issubclass(pool, Solo):
        raise WrongPool(
            f"a worker of the queue {INGEST!r} needs --pool solo, not {pool.__module__}: the consumer's "
            "SQLite connection breaks in forked children. Give the other queues a worker of their own."
        )
