"""The Celery application class: it carries the process's own things and starts workers that do not talk to
each other."""

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


def task_name(name: str) -> str:
    """The full name of a task; each handled kind of job has one of its own name."""
    return f"{TASK_PREFIX}{name}"
