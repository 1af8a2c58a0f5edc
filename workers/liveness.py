"""How a worker process shows in Redis that it works, or why it does not. Health reads it; no worker decides
anything by it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import redis

from config.logging import get_logger
from sidestream.keys import Keys
from store.heartbeats import FRESH

log = get_logger("liveness")

# A process that fell silent stays listed for a while, so that it can be seen; then the others strike it off.
_LISTED = 5 * FRESH


@dataclass(slots=True)
class Liveness:
    """The heartbeats of one process in its roles, at most one write in `every` seconds."""

    client: redis.Redis
    keys: Keys
    process: str
    roles: Sequence[str]
    every: float
    _last: float = field(default=float("-inf"))

    def beat(self, now: float) -> None:
        """The process works, and no trouble of it stands. A Redis that is away is left to whoever needs it."""
        if 0 <= now - self._last < self.every:
            return
        if self._write(now, None):
            self._last = now

    def trouble(self, now: float, reason: str) -> None:
        """The process cannot work, and why; that stands until its next beat."""
        self._last = float("-inf")
        self._write(now, reason)

    def leave(self) -> None:
        """The process ends in order: nobody is to miss it."""
        try:
            for role in self.roles:
                self.client.hdel(self.keys.alive(role), self.process)
        except redis.RedisError as error:
            self._not_written(error)

    def _write(self, now: float, trouble: str | None) -> bool:
        sign = json.dumps({"at": now, "trouble": trouble})
        try:
            for role in self.roles:
                key = self.keys.alive(role)
                pipe = self.client.pipeline(transaction=False)
                pipe.hset(key, self.process, sign)
                pipe.pexpire(key, max(1, int(self.every * _LISTED * 1000)))
                pipe.hgetall(key)
                self._strike_off(key, pipe.execute()[-1], now)
        except redis.RedisError as error:
            self._not_written(error)
            return False
        return True

    def _strike_off(self, key: str, found: dict[bytes, bytes], now: float) -> None:
        # In both directions: a clock that was set back must not keep a dead process listed.
        silent = [name for name, sign in found.items() if abs(now - json.loads(sign)["at"]) > self.every * _LISTED]
        if silent:
            self.client.hdel(key, *silent)

    def _not_written(self, error: redis.RedisError) -> None:
        log.warning("heartbeat_not_written", roles=list(self.roles), reason=str(error))
