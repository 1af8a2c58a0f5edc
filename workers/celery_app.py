"""The Celery application class: it carries the process's own things and starts workers that do not talk to
each other."""

from collections.abc import Sequence
from typing import Any

from celery import Celery
from celery.apps.worker import Worker

from workers.kinds import queue_of
from workers.process import Process

TASK_PREFIX = "sidestream."


class QuietWorker(Worker):
    """A worker without gossip, mingling and event heartbeats: nothing reads them, and mingling costs each
    start a second."""

    def __init__(self, app: Any = None, hostname: Any = None, **options: Any) -> None:
        options.update(without_gossip=True, without_mingle=True, without_heartbeat=True)
        super().__init__(app, hostname, **options)


class WorkerApp(Celery):
    """Celery with the process that its tasks work with."""

    process: Process

    @property
    def Worker(self) -> Any:  # noqa: N802 - Celery's own name for it
        """The class of this application's workers."""
        return self.subclass_with_self(QuietWorker)

    def send_hint(self, kind: str) -> None:
        """Sends the task that drains jobs of `kind` to the kind's queue.

        Raises:
            kombu.exceptions.OperationalError: the broker is away.
        """
        self.send_task(task_name(kind), queue=queue_of(kind), ignore_result=True, retry=False)

    def send_heartbeat(self, queue: str, process: str, roles: Sequence[str]) -> None:
        """Sends the task by which a worker process shows that it takes and does tasks, to its own queue.

        On a connection of its own: the pools are not to be held by another thread while a child is forked.

        Raises:
            kombu.exceptions.OperationalError: the broker is away.
        """
        with self.connection_for_write() as connection:
            self.send_task(
                task_name("heartbeat"),
                (process, *roles),
                queue=queue,
                connection=connection,
                ignore_result=True,
                retry=False,
            )


def task_name(name: str) -> str:
    """The full name of a task; each handled kind of job has one of its own name."""
    return f"{TASK_PREFIX}{name}"
