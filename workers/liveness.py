"""How a worker shows in Redis that it works, or why it does not. Health reads it; no worker decides
anything by it."""

import json
from dataclasses import dataclass, field

import redis

from config.logging import get_logger
from sidestream.keys import Keys

log = get_logger("liveness")

# A mark outlives a few missed beats, so that one slow second is no alarm, and then goes by itself.
_BEATS_KEPT = 6


@dataclass(slots=True)
class Liveness:
    """The heartbeat of one role, at most one write in `every` seconds."""

    client: redis.Redis
    keys: Keys
    role: str
    every: float
    _last: float = field(default=float("-inf"))

    def beat(self, now: float) -> None:
        """The role works, and no trouble of it stands. A Redis that is away is left to whoever needs it."""
        if 0 <= now - self._last < self.every:
            return
        try:
            pipe = self.client.pipeline(transaction=False)
            pipe.set(self.keys.heartbeat(self.role), repr(now), px=self._ttl)
            pipe.delete(self.keys.trouble(self.role))
            pipe.execute()
        except redis.RedisError as error:
            log.warning("heartbeat_not_written", role=self.role, reason=str(error))
            return
        self._last = now

    def trouble(self, now: float, reason: str) -> None:
        """The role cannot work, and why; that stands until its next beat."""
        self._last = float("-inf")
        try:
            self.client.set(self.keys.trouble(self.role), json.dumps({"at": now, "reason": reason}), px=self._ttl)
        except redis.RedisError as error:
            log.warning("heartbeat_not_written", role=self.role, reason=str(error))

    @property
    def _ttl(self) -> int:
        return max(1, int(self.every * _BEATS_KEPT * 1000))
