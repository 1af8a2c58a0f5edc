"""Commands that run one process in the foreground: API, worker, beat, embedded Redis; and `migrate`."""

import os
import signal
import sys
import tempfile
import threading
from pathlib import Path

import click
import uvicorn

from cli import environment, programs
from cli.errors import AlreadyRunning, Misconfigured, Unavailable
from cli.ports import is_free
from config.errors import ConfigError
from store.embedded import EmbeddedRedis
from store.errors import StoreError
from store.migrate import schema_version
from store.opening import open_database
from store.processes import start_time

_GRACE = 5


@click.command()
def serve() -> None:
    """Serve the HTTP API (SIDESTREAM_API_HOST, SIDESTREAM_API_PORT)."""
    found = environment.settings()
    if found.api_port and not is_free(found.api_host, found.api_port):
        raise AlreadyRunning(f"port {found.api_port} on {found.api_host} is taken; set SIDESTREAM_API_PORT to another")
    _need_writable(found.spool_dir)
    for number in (signal.SIGINT, signal.SIGTERM):
        # uvicorn stops in order and then raises the signal again; having been told to stop is no failure.
        signal.signal(number, lambda *_: None)
    try:
        uvicorn.run(
            "api.app:create",
            factory=True,
            host=found.api_host,
            port=found.api_port,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=_GRACE,
        )
    except ConfigError as error:
        raise Misconfigured(str(error)) from error


@click.group()
def worker() -> None:
    """Run a worker in the foreground."""


@worker.command()
def ingest() -> None:
    """Run the consumer: events from Redis to SQLite."""
    _become(programs.worker("ingest", "--pool", "solo", "--hostname", "ingest@%h"))


@worker.command()
@click.option("--queues", default=programs.TASK_QUEUES, show_default=True, help="Which queues, with commas.")
def tasks(queues: str) -> None:
    """Run a task worker."""
    _become(programs.worker(queues, "--hostname", "tasks@%h"))


@click.command()
def beat() -> None:
    """Run beat, which ticks the sweep."""
    _become(programs.celery("beat"))


@click.command()
def redis() -> None:
    """Run the embedded Redis of the data folder until interrupted; prints its address."""
    found = environment.settings()
    # In this process group, so that a supervisor that is told to end at once leaves nothing behind.
    server = EmbeddedRedis(found.data_dir, own_session=False)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        server.start()
    except StoreError as error:
        raise Unavailable(str(error)) from error
    click.echo(server.url)
    pid = server.pid
    while not stop.wait(0.2):
        if pid is None or start_time(pid) is None:
            server.stop()
            raise Unavailable(f"the server ended; see {server.log_path}")
    server.stop()


@click.command()
def migrate() -> None:
    """Make the database, or bring it to this version's schema."""
    found = environment.settings()
    try:
        db = open_database(found.database, busy_timeout=found.busy_timeout)
    except StoreError as error:
        raise Unavailable(str(error)) from error
    click.echo(f"{found.database}: schema {schema_version(db)}")
    db.close()


def _need_writable(folder: Path) -> None:
    """The API's publisher keeps its spool there; without it uvicorn would end with a trace."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Unavailable(f"{folder}: cannot be written: {error.strerror}") from error


def _become(arguments: list[str]) -> None:
    """Replaces this process by a Python with these arguments, in the checkout."""
    found = environment.settings()
    variables = environment.child_environment(found)
    os.chdir(environment.ROOT)
    os.execve(sys.executable, [sys.executable, "-m", *arguments], variables)
