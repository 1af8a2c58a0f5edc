"""One supervised process: in a group of its own, logged into a file, restarted, and ended in time."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cli.processes import Ledger, signal_group

LOG_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Program:
    """What to run. `stop_deadline` is how many seconds it gets between SIGTERM and SIGKILL."""

    name: str
    command: tuple[str, ...]
    stop_deadline: float = 10.0
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds between restarts: `first`, doubling to `longest`; anew after a life of `steady` seconds."""

    first: float = 0.5
    longest: float = 30.0
    steady: float = 30.0

    def delay(self, failures: int) -> float:
        """Wait before the restart after the given number of failures in a row (1 or more)."""
        return min(self.first * 2.0 ** min(failures - 1, 16), self.longest)


class Child:
    """A program that is kept running until `stop`."""

    def __init__(
        self,
        program: Program,
        log_folder: Path,
        folder: Path,
        *,
        ledger: Ledger,
        say: Callable[[str], None],
        backoff: Backoff = Backoff(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.program = program
        self.log_path = log_folder / f"{program.name}.log"
        self.restarts = 0
        self._folder = folder
        self._ledger = ledger
        self._say = say
        self._backoff = backoff
        self._clock = clock
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Process id while it runs, else None."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    @property
    def exit_code(self) -> int | None:
        """How its last process ended; None while it runs."""
        return None if self._process is None else self._process.returncode

    async def start(self) -> None:
        """Starts it and from then on restarts it whenever it ends.

        Raises:
            OSError: it cannot be started at all.
        """
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        if self.log_path.exists() and self.log_path.stat().st_size > LOG_BYTES:
            self.log_path.replace(self.log_path.with_suffix(".log.1"))
        await self._spawn()
        self._keeper = asyncio.create_task(self._keep(), name=f"keep-{self.program.name}")

    async def stop(self) -> None:
        """SIGTERM, and SIGKILL to the whole group when the deadline has passed or something of it is left."""
        self._stopping.set()
        process = self._process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(self.program.stop_deadline):
                    await process.wait()
            except TimeoutError:
                self._say(f"{self.program.name} did not stop in {self.program.stop_deadline:.0f} s; killing it")
        await self.kill()

    async def kill(self) -> None:
        """Ends whatever is left of it at once."""
        self._stopping.set()
        if self._process is not None:
            signal_group(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        if self._keeper is not None:
            # Not awaited itself: a caller that is cancelled here must not cancel it.
            await asyncio.wait({self._keeper})
        self._ledger.forget(self.program.name)

    async def _spawn(self) -> None:
        with self.log_path.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self.program.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                env=dict(self.program.environment),
                start_new_session=True,
            )
        self._ledger.note(self.program.name, self._process.pid)

    async def _keep(self) -> None:
        failures = 0
        while self._process is not None:
            started = self._clock()
            code = await self._process.wait()
            if self._stopping.is_set():
                return
            signal_group(self._process.pid, signal.SIGKILL)
            failures = 1 if self._clock() - started >= self._backoff.steady else failures + 1
            delay = self._backoff.delay(failures)
            self._say(f"{self.program.name} {_ended(code)}; starting it again in {delay:.1f} s ({self.log_path})")
            if await self._stopped_within(delay):
                return
            await self._respawn()

    async def _respawn(self) -> None:
        try:
            await self._spawn()
        except OSError as error:
            # The old process stands as ended, so the next round waits longer and tries again.
            self._say(f"{self.program.name} cannot be started: {error}")
            return
        self.restarts += 1
        if self._stopping.is_set() and self._process is not None:
            signal_group(self._process.pid, signal.SIGKILL)

    async def _stopped_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        return self._stopping.is_set()


def _ended(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
