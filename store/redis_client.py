"""Redis clients for readers: short time limits, answers in bytes, connections that heal by themselves."""

from typing import TypeAlias

import redis
import redis.asyncio

from sidestream.cancellation import heed_cancellation

AsyncRedis: TypeAlias = redis.asyncio.Redis
REDIS_ERRORS: tuple[type[Exception], ...] = (redis.RedisError, OSError, TimeoutError)
"""What a command may raise when Redis is away, slow or refuses; a reader does without it then."""


def connect(url: str, *, timeout: float = 2.0) -> "redis.Redis":
    """A synchronous client; it connects at its first command. `timeout`: seconds for each."""
    return redis.Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout, health_check_interval=15)


def connect_async(url: str, *, timeout: float = 2.0) -> "redis.asyncio.Redis":
    """As `connect`, asynchronous; belongs to the event loop that uses it first."""
    return heed_cancellation(
        redis.asyncio.Redis.from_url(
            url, socket_timeout=timeout, socket_connect_timeout=timeout, health_check_interval=15
        )
    )
