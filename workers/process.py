"""What one worker process holds: settings, Redis, and, once it has been started as a worker, database and
models.

A prefork parent builds this too but opens nothing: SQLite connections, event loops and model clients must
be made in the process that uses them, after the fork.
"""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import Any, TypeVar

import redis

from config.settings import Settings
from llm.factory import build_embedder, build_extractor, build_summariser
from llm.ports import ChatModel, Embedder
from llm.usage import METER
from sidestream.ids import new_id
from sidestream.keys import Keys
from store.db import Database
from store.embedded import EmbeddedRedis
from store.opening import open_database
from workers.checkpoint import leave_checkpoints_to_others
from workers.errors import NotOpen
from workers.nudge import Nudger
from workers.usage import UsageLedger

T = TypeVar("T")


class Process:
    """One worker process. `load` makes the settings, `send` sends the task that drains a kind of job."""

    def __init__(
        self,
        load: Callable[[], Settings],
        send: Callable[[str], None],
        queue_key: Callable[[str], str],
        *,
        clock: Callable[[], float] = time.time,
        ids: Callable[[], str] = new_id,
    ) -> None:
        self._load = load
        self._send = send
        self._queue_key = queue_key
        self.clock = clock
        self.ids = ids
        self._started_in: int | None = None
        self._db: Database | None = None
        self._runner: asyncio.Runner | None = None

    @cached_property
    def settings(self) -> Settings:
        """Read once, at first use."""
        return self._load()

    @cached_property
    def keys(self) -> Keys:
        """Names of the Redis keys."""
        return Keys(self.settings.redis_prefix)

    @property
    def redis_url(self) -> str:
        """The Redis that is configured, else the one in the data folder, whether it runs yet or not."""
        return self.settings.redis_url or EmbeddedRedis(self.settings.data_dir).url

    @cached_property
    def redis(self) -> redis.Redis:
        """A client; safe to make before a fork, since its pool checks whose process it is in."""
        return connect(self.redis_url)

    @cached_property
    def nudger(self) -> Nudger:
        """Hints to the task workers."""
        return Nudger(self.redis, self.keys, self._send, self._queue_key, self.settings.sweep_every)

    def started(self) -> None:
        """This process does work from here on and may open what it needs."""
        self._started_in = os.getpid()
        self._db = None
        self._runner = None
        for name in ("embedder", "summariser", "extractor"):
            self.__dict__.pop(name, None)

    @property
    def db(self) -> Database:
        """The database for tasks, opened at first use and again after a failure to open.

        Raises:
            NotOpen: the process was not started as a worker.
            StoreError: it cannot be opened.
        """
        if self._started_in != os.getpid():
            raise NotOpen("only a started worker process opens the database")
        if self._db is None:
            self._db = self.open_database()
        return self._db

    def open_database(self) -> Database:
        """A connection for tasks: they pass the writers' gate, so that one of them at a time meets the
        consumer."""
        settings = self.settings
        return open_database(settings.database, busy_timeout=settings.busy_timeout, gate=True, clock=self.clock)

    def open_consumer_database(self) -> Database:
        """A connection for the consumer: durable at each commit, not held up at the gate, and quick to get
        the lock."""
        settings = self.settings
        db = open_database(
            settings.database,
            synchronous="FULL",
            busy_timeout=settings.busy_timeout,
            poll_busy=True,
            clock=self.clock,
        )
        leave_checkpoints_to_others(db)
        return db

    @cached_property
    def embedder(self) -> Embedder | None:
        """The embedding model, or None where there is none."""
        return build_embedder(self.settings, processes=self.settings.worker_concurrency)

    @cached_property
    def summariser(self) -> ChatModel | None:
        """The model that writes summaries, or None where rules do."""
        return build_summariser(self.settings)

    @cached_property
    def extractor(self) -> ChatModel | None:
        """The model that extracts facts, or None where rules do."""
        return build_extractor(self.settings)

    @cached_property
    def usage(self) -> UsageLedger:
        """What this process's models cost, as far as it is not written yet; it hears them from its first use on."""
        return UsageLedger(METER)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on this process's one event loop, which lives as long as the models'
        connections."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(work)

    def close(self) -> None:
        """Closes what this process opened."""
        if self._started_in != os.getpid():
            return
        if self._runner is not None:
            for name in ("embedder", "summariser", "extractor"):
                model = self.__dict__.pop(name, None)
                if model is not None:
                    self._runner.run(model.aclose())
            self._runner.close()
            self._runner = None
        if self._db is not None:
            self._db.close()
            self._db = None


def connect(url: str, *, wait: float = 0.0) -> redis.Redis:
    """A client that answers in bytes; a command may take 5 seconds longer than `wait`, its longest block."""
    return redis.Redis.from_url(
        url,
        socket_timeout=wait + 5.0,
        socket_connect_timeout=5.0,
        health_check_interval=15,
        decode_responses=False,
    )
