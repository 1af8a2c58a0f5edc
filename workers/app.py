"""Composition root of every worker process: `celery -A workers.app worker|beat`.

Importing it connects to nothing and reads no settings; the first use does.
"""

import logging
from typing import Any

from celery.signals import (
    setup_logging,
    worker_process_init,
    worker_process_shutdown,
    worker_shutdown,
)

from config.logging import configure
from config.settings import load
from store.processes import this_process
from workers.beat import ticks
from workers.bootstep import ingest_step
from workers.celery_app import WorkerApp
from workers.config import celery_config, own_queue, queue_prefix
from workers.kinds import queue_of
from workers.process import Process
from workers.tasks import register
from workers.watchdog import watchdog_step
from workers.wiring import build_ingest, build_watchdog


def build_app() -> WorkerApp:
    """The application with its tasks, its configuration still to be read."""
    celery = WorkerApp("sidestream", set_as_current=True)

    def queue_key(kind: str) -> str:
        return f"{queue_prefix(process.settings.redis_prefix)}{queue_of(kind)}"

    process = celery.process = Process(load, celery.send_hint, queue_key)
    celery.add_defaults(lambda: celery_config(process.settings, process.redis_url, ticks(process.settings)))
    register(celery)
    celery.steps["worker"].add(ingest_step(lambda stop: build_ingest(process, stop)))
    celery.steps["worker"].add(
        watchdog_step(lambda: own_queue(this_process()), lambda queues, stop: build_watchdog(celery, queues, stop))
    )
    return celery


# Three lines a task, of which there are several a second; what a task did is logged by itself.
_CHATTY = ("celery.worker.strategy", "celery.app.trace", "celery.beat")

app = build_app()


@setup_logging.connect
def _set_up_logging(**_: Any) -> None:
    """Connected, so that Celery leaves logging alone."""
    configure(app.process.settings)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


@worker_process_init.connect
def _process_started(**_: Any) -> None:
    """In each child after the fork, and in the one process of a solo worker."""
    app.process.started()


@worker_process_shutdown.connect
@worker_shutdown.connect
def _process_stopped(**_: Any) -> None:
    app.process.close()
