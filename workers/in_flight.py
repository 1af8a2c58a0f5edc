"""A model call as the tasks make it: under way before anything else happens, so that a crash test can
strike there."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from workers import faults

T = TypeVar("T")


async def in_flight(call: Coroutine[Any, Any, T]) -> T:
    """The call's result; the call is cancelled with the caller."""
    task = asyncio.ensure_future(call)
    await asyncio.sleep(0)
    try:
        faults.reach("task.during_model")
        return await task
    finally:
        task.cancel()
