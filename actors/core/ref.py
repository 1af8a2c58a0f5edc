"""An actor's address: the only way in."""

import asyncio
from typing import Any, Protocol

from actors.core.envelope import Envelope
from actors.core.supervision import DeadLetter
from actors.errors import ActorStopped, AskTimeout


class Target(Protocol):
    """The side of an actor that its addresses see."""

    @property
    def name(self) -> str:
        """Path of the actor, for logs."""
        ...

    @property
    def alive(self) -> bool:
        """It takes messages."""
        ...

    def deliver(self, envelope: Envelope) -> None:
        """Puts an envelope into the mailbox."""
        ...

    def bury(self, letter: DeadLetter) -> None:
        """Records a message that no actor will handle."""
        ...

    def request_stop(self, *, now: bool = False) -> None:
        """Begins to stop."""
        ...

    async def ended(self) -> None:
        """Returns when the actor and its children have stopped."""
        ...


class ActorRef:
    """Address of one actor. Stays valid over restarts; after the end every call says so."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def __repr__(self) -> str:
        return f"<ActorRef {self.name}>"

    @property
    def name(self) -> str:
        """Path of the actor, such as `session/s1/researcher`."""
        return self._target.name

    @property
    def alive(self) -> bool:
        """False once the actor takes no more messages."""
        return self._target.alive

    def tell(self, message: Any) -> bool:
        """Delivers a message that nobody waits for; False, and a dead letter, when the actor has stopped.

        Raises:
            MailboxFull: nothing was delivered.
        """
        try:
            self._target.deliver(Envelope(message))
        except ActorStopped as error:
            self._target.bury(DeadLetter(self.name, message, str(error)))
            return False
        return True

    async def ask(self, message: Any, *, timeout: float | None, bound: bool = False) -> Any:  # noqa: ASYNC109 - raises its own error
        """Delivers a message and returns the answer.

        Args:
            timeout: seconds to wait for it; None waits for as long as the actor lives.
            bound: the work itself is cancelled when this call ends without it (timeout, cancellation).

        Raises:
            ActorStopped: the actor has stopped, or stopped before it answered.
            MailboxFull: nothing was delivered.
            AskTimeout: no answer within `timeout`.
            Exception: what the actor raised at this message.
        """
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._target.deliver(Envelope(message, answer, bound))
        try:
            await asyncio.wait({answer}, timeout=timeout)
            if not answer.done():
                raise AskTimeout(f"{self.name} did not answer within {timeout:g} s")
            return answer.result()
        finally:
            answer.cancel()

    async def stop(self, *, now: bool = False) -> None:
        """Stops the actor and its children, and returns when they have.

        The message at work is finished first, unless `now` (then it is cancelled). What is left in the
        mailbox is answered with ActorStopped. An actor stops itself with `context.stop()`: it cannot wait
        for its own end.
        """
        self._target.request_stop(now=now)
        await self._target.ended()
