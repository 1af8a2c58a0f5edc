"""Keeps programs running: started wave by wave, stopped in the reverse order, nothing left behind."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from cli.child import Backoff, Child, Program
from cli.processes import Ledger

Say: TypeAlias = Callable[[str], None]
Wave: TypeAlias = Sequence[Program]


class Supervisor:
    """Runs waves of programs. A wave is stopped only when all that started after it has stopped.

    Args:
        waves: programs in the order in which they start.
        data_dir: where the logs (`logs/<name>.log`) and the ledger of process groups (`up.json`) go.
        folder: working folder of the programs.
        say: gets one line about everything that happens.
        backoff: waits between restarts.
    """

    def __init__(
        self, waves: Sequence[Wave], data_dir: Path, folder: Path, say: Say, *, backoff: Backoff | None = None
    ) -> None:
        self.logs = data_dir / "logs"
        self._say = say
        self._ledger = Ledger(data_dir / "up.json")
        self._waves = [
            [Child(p, self.logs, folder, ledger=self._ledger, say=say, backoff=backoff or Backoff()) for p in wave]
            for wave in waves
        ]

    @property
    def children(self) -> dict[str, Child]:
        """Every child by its program's name."""
        return {child.program.name: child for wave in self._waves for child in wave}

    def end_leftovers(self) -> None:
        """Ends what a supervisor that was killed has left running."""
        ended = self._ledger.end_leftovers()
        if ended:
            self._say(f"ended what an earlier run had left behind: {', '.join(ended)}")

    async def start(self, after_wave: Callable[[int], Awaitable[None]]) -> None:
        """Starts the waves; `after_wave` is awaited with each one's number and may wait until it is ready.

        Raises:
            OSError: a program cannot be started; what had started is stopped first.
        """
        try:
            for number, wave in enumerate(self._waves):
                for child in wave:
                    await child.start()
                await after_wave(number)
        except BaseException:
            await self.kill()
            raise

    async def stop(self) -> None:
        """Stops everything in order, each program within its deadline."""
        for wave in reversed(self._waves):
            await asyncio.gather(*(child.stop() for child in wave))

    async def kill(self) -> None:
        """Ends everything at once."""
        await asyncio.gather(*(child.kill() for wave in self._waves for child in wave))
