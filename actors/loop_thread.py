"""An event loop in a thread of its own, so that the main thread may block on the keyboard.

Ctrl-C then is a plain KeyboardInterrupt of the main thread: at the prompt it clears the line, during a reply
it cancels that reply and nothing else.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for a thread that waits for them. Use as a context manager."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="agents", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.run(self._wind_up())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Starts `work`; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` returns or raises; an interrupt meanwhile cancels it and is raised."""
        return self.done(work).result()

    def done(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """The future of `work` once it has ended, however it did; an interrupt meanwhile cancels it and is raised."""
        future = self.submit(work)
        try:
            wait([future])
        except KeyboardInterrupt:
            future.cancel()
            raise
        return future

    async def _wind_up(self) -> None:
        own = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not own]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()
