"""The root of all actors of one event loop."""

import asyncio
from collections import deque
from collections.abc import Callable

from actors.core.actor import Actor
from actors.core.cell import DEFAULT_MAILBOX_LIMIT, Cell
from actors.core.ref import ActorRef
from actors.core.supervision import DeadLetter, RestartPolicy
from actors.errors import ActorStopped
from config.logging import get_logger

_log = get_logger("actors")


class ActorSystem:
    """Starts actors that have no parent, stops them all, and keeps the newest dead letters."""

    def __init__(self, *, dead_letters_kept: int = 1_000) -> None:
        self.dead_letters: deque[DeadLetter] = deque(maxlen=dead_letters_kept)
        self._cells: set[Cell] = set()
        self._stopping = False

    def spawn(
        self,
        factory: Callable[[], Actor],
        name: str,
        *,
        policy: RestartPolicy | None = None,
        mailbox_limit: int = DEFAULT_MAILBOX_LIMIT,
        idle: float | None = None,
    ) -> ActorRef:
        """Starts an actor; `factory` makes it, and makes it anew after a crash.

        Args:
            name: for logs; need not be unique.
            mailbox_limit: most messages that may wait.
            idle: seconds without a message after which `on_idle` is called.

        Raises:
            ActorStopped: the system is stopping.
        """
        if self._stopping:
            raise ActorStopped("the actor system is stopping")
        cell = Cell(
            factory,
            name,
            self,
            policy=policy,
            mailbox_limit=mailbox_limit,
            idle=idle,
            on_end=self._cells.discard,
        )
        self._cells.add(cell)
        return cell.ref

    def bury(self, letter: DeadLetter) -> None:
        """Keeps and logs a message that no actor will handle; its content stays out of the log."""
        self.dead_letters.append(letter)
        message = type(letter.message).__name__
        _log.warning("actor_dead_letter", actor=letter.actor, message=message, reason=letter.reason)

    async def stop(self, *, grace: float = 5.0) -> None:
        """Stops every actor; what is still at work after `grace` seconds is cancelled."""
        self._stopping = True
        cells = list(self._cells)
        for cell in cells:
            cell.request_stop()
        ends = [asyncio.ensure_future(cell.ended()) for cell in cells]
        if ends:
            await asyncio.wait(ends, timeout=grace)
        for cell in cells:
            cell.request_stop(now=True)
        await asyncio.gather(*ends)
