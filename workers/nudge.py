"""Hints to the task workers: "jobs of this kind are due". Rows say what is owed, so a lost hint costs only
time."""

from collections.abc import Callable
from dataclasses import dataclass

import redis

from config.logging import get_logger
from sidestream.keys import Keys

log = get_logger("nudge")

# Few enough that a broker without workers is not flooded, enough that all processes of a queue get
# something to do.
MOST_WAITING = 4


@dataclass(frozen=True, slots=True)
class Nudger:
    """Sends one task a kind at a time: none while the last one waits to be started, and none to a full queue.

    `send` sends the task that drains `kind`; `queue_key` is the Redis list where it will wait. The mark of
    a task on its way lives for `ttl` seconds, so that a lost task silences nothing for longer.
    """

    client: redis.Redis
    keys: Keys
    send: Callable[[str], None]
    queue_key: Callable[[str], str]
    ttl: float

    def nudge(self, kind: str) -> bool:
        """Sends the task unless one is on its way; True if it was sent.

        Raises:
            redis.RedisError: Redis is away.
        """
        pipe = self.client.pipeline(transaction=False)
        pipe.set(self.keys.nudge(kind), "1", nx=True, px=max(1, int(self.ttl * 1000)))
        pipe.llen(self.queue_key(kind))
        fresh, waiting = pipe.execute()
        if not fresh or waiting >= MOST_WAITING:
            return False
        self.send(kind)
        return True

    def renew(self, kind: str) -> bool:
        """As `nudge`, for the sweep: a mark that stands without a task in the queue is not believed."""
        if self.client.llen(self.queue_key(kind)) > 0:
            return False
        self.client.set(self.keys.nudge(kind), "1", px=max(1, int(self.ttl * 1000)))
        self.send(kind)
        return True

    def started(self, kind: str) -> None:
        """The task for `kind` runs: whatever falls due from now on needs another."""
        self.client.delete(self.keys.nudge(kind))
