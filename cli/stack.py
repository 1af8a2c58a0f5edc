"""A whole system under one supervisor: started until it is ready, watched, stopped in order."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

import httpx

from cli import programs
from cli.child import Child
from cli.environment import ROOT, redis_url, without_password
from cli.errors import Unavailable
from cli.lock import FolderLock
from cli.ports import choose_port
from cli.supervisor import Say, Supervisor
from config.settings import Settings
from store.errors import StoreError
from store.opening import open_database
from store.redis_client import REDIS_ERRORS, connect_async

Answers: TypeAlias = Callable[[], Awaitable[bool]]

START_DEADLINE = 60.0
OWN_REDIS_DEADLINE = 5.0
_POLL = 0.05


class Stack:
    """Every process of one data folder. Made by `running`."""

    def __init__(self, found: Settings, say: Say, *, api: bool) -> None:
        self.settings = found
        self.redis_url = redis_url(found)
        self.port = choose_port(found) if api else None
        self._say = say
        data_dir = found.data_dir.resolve()
        waves = programs.waves(found, api_port=self.port)
        self._last_wave = len(waves) - 1
        self._supervisor = Supervisor(waves, data_dir, ROOT, say)

    @property
    def children(self) -> dict[str, Child]:
        """The processes by name."""
        return self._supervisor.children

    @property
    def api_url(self) -> str:
        """Where the API answers."""
        host = self.settings.api_host
        reachable = "127.0.0.1" if host in ("0.0.0.0", "::") else host
        return f"http://{f'[{reachable}]' if ':' in reachable else reachable}:{self.port}"

    async def start(self) -> None:
        """Starts everything and waits until Redis and the API answer.

        Raises:
            Unavailable: one of them does not, or the database cannot be opened; nothing is left running.
        """
        self._supervisor.end_leftovers()
        try:
            open_database(self.settings.database, busy_timeout=self.settings.busy_timeout).close()
        except StoreError as error:
            raise Unavailable(str(error)) from error
        if self.settings.redis_url:
            await self._until(self._redis_answers, f"Redis at {without_password(self.redis_url)}", OWN_REDIS_DEADLINE)
        await self._supervisor.start(self._after_wave)

    async def stop(self) -> None:
        """Stops everything in order; at once where this is cancelled meanwhile."""
        try:
            await self._supervisor.stop()
        except asyncio.CancelledError:
            await self._supervisor.kill()
            raise

    async def _after_wave(self, number: int) -> None:
        if number == 0 and programs.REDIS in self.children:
            await self._until(self._redis_answers, self._named(programs.REDIS), START_DEADLINE)
        if self.port is not None and number == self._last_wave:
            await self._until(self._api_answers, self._named(programs.API), START_DEADLINE)

    def _named(self, name: str) -> str:
        return f"{name} (see {self.children[name].log_path})"

    async def _until(self, answers: Answers, what: str, deadline: float) -> None:
        end = time.monotonic() + deadline
        while not await answers():
            if time.monotonic() >= end:
                raise Unavailable(f"{what} did not answer within {deadline:.0f} s")
            await asyncio.sleep(_POLL)

    async def _redis_answers(self) -> bool:
        client = connect_async(self.redis_url, timeout=1.0)
        try:
            return bool(await client.ping())
        except REDIS_ERRORS:
            return False
        finally:
            await client.aclose()

    async def _api_answers(self) -> bool:
        try:
            async with httpx.AsyncClient(trust_env=False, timeout=2.0) as client:
                return (await client.get(f"{self.api_url}/health/live")).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False


@asynccontextmanager
async def running(found: Settings, say: Say, *, api: bool = True) -> AsyncIterator[Stack]:
    """A started system of the data folder, stopped when the block ends.

    Raises:
        AlreadyRunning: the folder, or the port that was asked for, is in use.
        Unavailable: a part does not start.
    """
    with FolderLock(found.data_dir):
        stack = Stack(found, say, api=api)
        await stack.start()
        try:
            yield stack
        finally:
            await stack.stop()
