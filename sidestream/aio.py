"""The asynchronous publisher."""

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import redis.asyncio

from sidestream.core import (
    RECEIPT_TTL,
    SPOOL_MAX_BYTES,
    TAIL_MAX,
    TAIL_TTL,
    Call,
    Published,
    Send,
    Steps,
    build_core,
    no_fault,
)
from sidestream.errors import PublishError
from sidestream.ids import new_id
from sidestream.keys import DEFAULT_PREFIX
from sidestream.receipts import Receipt
from sidestream.redis_client import open_async_client

T = TypeVar("T")


class AsyncPublisher:
    """Publishes events onto the stream, as `Publisher` does; one for an event loop, which it belongs to.

    What `publish` has returned for is durable. One whose await was cancelled may or may not be.
    """

    def __init__(
        self,
        redis_url: "str | redis.asyncio.Redis",
        *,
        prefix: str = DEFAULT_PREFIX,
        spool_dir: Path | str | None = None,
        spool_max_bytes: int = SPOOL_MAX_BYTES,
        timeout: float = 2.0,
        tail_ttl: float = TAIL_TTL,
        tail_max: int = TAIL_MAX,
        receipt_ttl: float = RECEIPT_TTL,
        clock: Callable[[], float] = time.time,
        ids: Callable[[], str] = new_id,
        fault: Callable[[str], None] = no_fault,
    ) -> None:
        """Arguments and errors are those of `Publisher`."""
        self._core = build_core(
            prefix, spool_dir, spool_max_bytes, (tail_ttl, tail_max), receipt_ttl, clock, ids, fault
        )
        self._owned = isinstance(redis_url, str)
        self._client = open_async_client(redis_url, timeout) if isinstance(redis_url, str) else redis_url
        self._timeout = timeout
        self._replaying = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        with suppress(RuntimeError):  # outside a loop; what was adopted is then replayed from the first publish on
            asyncio.get_running_loop()
            self._replay_in_background()

    @property
    def spooled(self) -> int:
        """How many events wait in the spool."""
        return self._core.spooled

    async def publish(self, event: Published) -> Receipt:
        """Publishes one event; it is durable when this returns. Errors are those of `Publisher.publish`."""
        return (await self._publish([self._core.prepare(event)]))[0]

    async def publish_many(self, events: Iterable[Published]) -> list[Receipt]:
        """Publishes events in order; as `Publisher.publish_many`."""
        return await self._publish(self._core.prepare_all(events))

    async def flush(self, deadline: float = 10.0) -> int:
        """Replays the spool for at most `deadline` seconds; how many events still wait."""
        if self._core.spool is None or self._core.closed:
            return self.spooled
        await asyncio.to_thread(self._core.spool.adopt)
        with suppress(TimeoutError):
            async with asyncio.timeout(deadline):
                while self.spooled:
                    await self._replay_once()
        return self.spooled

    async def close(self, deadline: float | None = None) -> None:
        """Replays the spool for at most `deadline` seconds (default: the timeout), then gives it up."""
        if self._core.closed:
            return
        try:
            if self.spooled:
                await self.flush(self._timeout if deadline is None else deadline)
        finally:
            self._core.closed = True
            if self._task is not None:
                self._task.cancel()
                await asyncio.wait([self._task])
            if self._core.spool is not None:
                self._core.spool.close()
            if self._owned:
                await self._client.aclose()

    async def __aenter__(self) -> Self:
        self._replay_in_background()  # where it was made outside the loop
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _publish(self, events: list[Any]) -> list[Receipt]:
        try:
            return await self._run(self._core.publish(events))
        finally:
            self._replay_in_background()

    async def _run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                step = steps.send(await (self._send(step) if isinstance(step, Send) else _call(step)))
        except StopIteration as end:
            result: T = end.value
            return result

    async def _send(self, step: Send) -> list[Any]:
        pipeline = self._client.pipeline(transaction=False)
        for command in step.commands:
            pipeline.execute_command(*command)
        try:
            return await pipeline.execute(raise_on_error=False)
        except (redis.RedisError, OSError) as error:
            return [error]

    def _replay_in_background(self) -> None:
        if self.spooled and not self._core.closed and self._task is None:
            self._task = asyncio.create_task(self._replay_all(), name="sidestream-replay")

    async def _replay_all(self) -> None:
        try:
            while self.spooled:
                await self._replay_once()
        finally:
            self._task = None

    async def _replay_once(self) -> None:
        async with self._replaying:
            error = await self._run(self._core.replay())
        if error is not None:
            await asyncio.sleep(self._core.wait)


async def _call(step: Call) -> Any:
    work = asyncio.ensure_future(asyncio.to_thread(step.function))
    try:
        return await asyncio.shield(work)
    except PublishError as error:
        return error
    except asyncio.CancelledError:
        # Work on the disk cannot be cancelled, and the spool must not be used by another step meanwhile.
        await asyncio.wait([work])
        raise
