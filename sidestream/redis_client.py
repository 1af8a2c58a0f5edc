"""How the publishers talk to Redis: their clients, and which errors mean that Redis is away for now."""

import redis
import redis.asyncio
from redis import exceptions
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from sidestream.cancellation import heed_cancellation

ConnectionLost = exceptions.ConnectionError
"""There is no connection, or it broke; a timeout is another error."""

# Error codes with which a server says "not now"; a retry of the same command can pass.
_AWAY_CODES = (
    "OOM",
    "READONLY",
    "LOADING",
    "NOREPLICAS",
    "MASTERDOWN",
    "MISCONF",
    "BUSY",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "NOSCRIPT",
)
_AWAY = (
    OSError,
    exceptions.ConnectionError,
    exceptions.TimeoutError,
    exceptions.OutOfMemoryError,
    exceptions.ReadOnlyError,
    exceptions.ClusterDownError,
    exceptions.TryAgainError,
    exceptions.NoScriptError,
)


def is_away(error: Exception) -> bool:
    """Whether `error` can pass by itself: Redis unreachable, starting, full, read-only, without replicas.

    A wrong password counts too: it is put right while events wait in the spool.
    """
    if isinstance(error, _AWAY):
        return True
    # Redis 6 wraps the code of an error inside a script: "ERR Error running script (...): -OOM command ...".
    text = str(error)
    return any(text.startswith(f"{code} ") or f"-{code} " in text for code in _AWAY_CODES)


def open_client(url: str, timeout: float) -> "redis.Redis":
    """A client that waits `timeout` seconds for an answer and tries nothing twice; the publisher does that."""
    never = Retry(NoBackoff(), 0)
    return redis.Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout, retry=never)


def open_async_client(url: str, timeout: float) -> "redis.asyncio.Redis":
    """As `open_client`, asynchronous."""
    never = AsyncRetry(NoBackoff(), 0)
    return heed_cancellation(
        redis.asyncio.Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout, retry=never)
    )
