"""Asynchronous Redis connections that do not lose a cancellation.

redis-py waits for each write by `asyncio.wait_for`, which until Python 3.12 returns as if nothing had happened when
the write ends in the same moment in which the task is cancelled: a stop signal was then lost for good.
"""

import asyncio
from functools import cache
from typing import Any

import redis.asyncio


def heed_cancellation(client: "redis.asyncio.Redis") -> "redis.asyncio.Redis":
    """Makes the client's future connections raise a cancellation that came during a write; returns the client."""
    pool = client.connection_pool
    pool.connection_class = _heeding(pool.connection_class)  # type: ignore[arg-type] # classes do hash
    return client


@cache
def _heeding(base: type[Any]) -> type[Any]:
    async def send_packed_command(self: Any, command: Any, check_health: bool = True) -> None:
        before = _cancellations()
        await base.send_packed_command(self, command, check_health)
        if _cancellations() > before:
            # The command may be on its way, and nobody will read its reply.
            await self.disconnect(nowait=True)
            raise asyncio.CancelledError

    return type(base.__name__, (base,), {"send_packed_command": send_packed_command})


def _cancellations() -> int:
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()
