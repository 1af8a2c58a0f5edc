"""Says where a Redis is set up so that an accepted event could be lost."""

from collections.abc import Mapping
from typing import Any

import redis
import redis.asyncio

_WANTED = ("appendonly", "appendfsync", "maxmemory", "maxmemory-policy")


def redis_safety(client: "redis.Redis") -> list[str]:
    """Warnings, a sentence each; none for a Redis that fsyncs every write and evicts nothing.

    Raises:
        redis.RedisError: it cannot be asked at all.
    """
    try:
        config: Any = client.config_get(*_WANTED)
    except redis.ResponseError as error:
        return [_forbidden(error)]
    return _judge(config)


async def redis_safety_async(client: "redis.asyncio.Redis") -> list[str]:
    """As `redis_safety`, with an asynchronous client."""
    try:
        config: Any = await client.config_get(*_WANTED)
    except redis.ResponseError as error:
        return [_forbidden(error)]
    return _judge(config)


def _judge(raw: Mapping[Any, Any]) -> list[str]:
    config = {_text(name): _text(value) for name, value in raw.items()}
    warnings = []
    if config.get("appendonly") != "yes":
        warnings.append("appendonly is off: a restart of Redis loses accepted events")
    elif config.get("appendfsync") != "always":
        warnings.append(
            f"appendfsync is {config.get('appendfsync')}: a power cut loses events of the last second or more"
        )
    policy = config.get("maxmemory-policy", "noeviction")
    if config.get("maxmemory", "0") != "0" and policy != "noeviction":
        warnings.append(f"maxmemory-policy is {policy}: under memory pressure Redis drops accepted events")
    return warnings


def _forbidden(error: redis.ResponseError) -> str:
    return f"its configuration cannot be read ({error}): check append-only file, fsync and eviction yourself"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
