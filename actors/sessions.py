"""The actors of all sessions of one process: made on demand, stopped when idle."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeAlias

from actors.core import Actor, ActorRef, ActorSystem, RestartPolicy
from actors.errors import ActorStopped
from actors.messages import End, Reply, Say
from memory.types import Scope

Factory: TypeAlias = Callable[[Scope], Callable[[], Actor]]
"""For a session, what makes its actor, also after a crash."""


class Sessions:
    """Sends what a user says to the actor of the session."""

    def __init__(
        self,
        system: ActorSystem,
        factory: Factory,
        *,
        idle: float,
        policy: RestartPolicy | None = None,
        mailbox_limit: int = 100,
    ) -> None:
        """`idle`: seconds until a session's actor is passivated; `mailbox_limit`: messages it may queue."""
        self._system = system
        self._factory = factory
        self._idle = idle
        self._policy = policy
        self._mailbox_limit = mailbox_limit
        self._refs: dict[Scope, ActorRef] = {}

    def __len__(self) -> int:
        return sum(ref.alive for ref in self._refs.values())

    def ref(self, scope: Scope) -> ActorRef:
        """The actor of the session that `scope` names; made where there is none."""
        found = self._refs.get(scope)
        if found is None or not found.alive:
            self._refs = {key: ref for key, ref in self._refs.items() if ref.alive}
            found = self._system.spawn(
                self._factory(scope),
                f"session/{scope.session_id}",
                policy=self._policy,
                mailbox_limit=self._mailbox_limit,
                idle=self._idle,
            )
            self._refs[scope] = found
        return found

    async def say(self, scope: Scope, text: str, *, on_piece: Callable[[str], None] | None = None) -> Reply:
        """What the session's agent answers. Cancelling this call cancels the reply.

        Raises:
            ReplyFailed: there is no answer; the text is one for the user.
            MailboxFull: the session has too many messages waiting.
            ActorStopped: the process is stopping, or the agent gave up.
        """
        reply = await self.ref(scope).ask(Say(text, on_piece), timeout=None, bound=True)
        assert isinstance(reply, Reply)
        return reply

    async def stream(self, scope: Scope, text: str) -> AsyncIterator[str | Reply]:
        """The answer's pieces as they are written, and last the whole Reply. Errors as `say`.

        Leaving the iteration early cancels the reply.
        """
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        saying = asyncio.create_task(self.say(scope, text, on_piece=pieces.put_nowait))
        saying.add_done_callback(lambda _: pieces.put_nowait(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            yield await saying
        finally:
            saying.cancel()
            await asyncio.wait({saying})

    async def end(self, scope: Scope) -> bool:
        """Says that the session is over and stops its actor; whether that is durable."""
        try:
            return bool(await self.ref(scope).ask(End(), timeout=None))
        except ActorStopped:
            return False
