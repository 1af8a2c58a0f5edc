"""Copies the write-ahead log back into the database beside the consumer instead of inside its commits.

SQLite does it within the commit that fills a thousand pages, which then takes many times as long as the
others. A thread with a connection of its own does it without holding up anybody; should it fall behind, the
consumer's commits do it after all, from a size on at which the log would become a burden.
"""

import threading
from collections.abc import Callable

from config.logging import get_logger
from store.db import Database
from store.errors import StoreError

log = get_logger("checkpoint")

EVERY = 0.5
_PAGES_AT_MOST = 16_000


def leave_checkpoints_to_others(db: Database) -> None:
    """For the consumer's connection: no checkpoint in its commits before the log has 64 MiB."""
    db.script("autocheckpoint", f"PRAGMA wal_autocheckpoint = {_PAGES_AT_MOST}")


class Checkpointer:
    """The thread. `open_database` opens a connection for it."""

    def __init__(self, open_database: Callable[[], Database], stop: threading.Event) -> None:
        self._open = open_database
        self._stop = stop

    def run(self) -> None:
        """Until `stop` is set."""
        while not self._stop.wait(EVERY):
            try:
                self._work()
            except StoreError as error:
                log.warning("checkpoint_failed", reason=str(error))

    def _work(self) -> None:
        with self._open() as db:
            while not self._stop.wait(EVERY):
                db.script("checkpoint", "PRAGMA wal_checkpoint(PASSIVE)")
