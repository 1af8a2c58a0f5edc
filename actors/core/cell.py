"""The life of one actor: start, messages one at a time, crashes and restarts, end."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from actors.core.actor import Actor
from actors.core.envelope import Envelope
from actors.core.mailbox import Mailbox
from actors.core.ref import ActorRef
from actors.core.supervision import ChildFailed, DeadLetter, Graveyard, RestartPolicy
from actors.errors import ActorStopped, GaveUp, Refused, WorkCancelled
from config.logging import get_logger

DEFAULT_MAILBOX_LIMIT = 1_000

_log = get_logger("actors")


class Cell:
    """Runs one actor in one task. Everything here happens in one event loop."""

    def __init__(
        self,
        factory: Callable[[], Actor],
        name: str,
        graveyard: Graveyard,
        *,
        parent: "Cell | None" = None,
        policy: RestartPolicy | None = None,
        mailbox_limit: int = DEFAULT_MAILBOX_LIMIT,
        idle: float | None = None,
        on_end: Callable[["Cell"], None] | None = None,
    ) -> None:
        self.name = name
        self.ref = ActorRef(self)
        self._factory = factory
        self._graveyard = graveyard
        self._parent = parent
        self._policy = policy or RestartPolicy()
        self._idle = idle
        self._on_end = on_end
        self._mailbox = Mailbox(name, mailbox_limit)
        self._children: set[Cell] = set()
        self._crashes = 0
        self._current: Envelope | None = None
        self._started = False
        self._now = False
        self._closing = asyncio.Event()
        self._ended = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name=f"actor {name}")

    # -- what addresses see

    @property
    def alive(self) -> bool:
        """It takes messages."""
        return not self._mailbox.closed

    def deliver(self, envelope: Envelope) -> None:
        """Puts an envelope into the mailbox; raises as Mailbox.put does."""
        self._mailbox.put(envelope)

    def bury(self, letter: DeadLetter) -> None:
        """Records a message that no actor will handle."""
        self._graveyard.bury(letter)

    def request_stop(self, *, now: bool = False) -> None:
        """Begins to stop: the mailbox closes at once, and `now` cancels the message at work."""
        self._close("stopped before it got to this message")
        if now and not self._now and not self._ended.is_set():
            self._now = True
            # A task that is cancelled before its first step never runs, and then nothing would tell of its end.
            if self._started:
                self._task.cancel()

    async def ended(self) -> None:
        """Returns when the actor and its children have stopped."""
        await self._ended.wait()

    # -- what the actor sees

    def spawn(
        self,
        factory: Callable[[], Actor],
        name: str,
        *,
        policy: RestartPolicy | None = None,
        mailbox_limit: int = DEFAULT_MAILBOX_LIMIT,
        idle: float | None = None,
    ) -> ActorRef:
        """Starts a child, which stops with this actor.

        Raises:
            ActorStopped: this actor is stopping.
        """
        if self._closing.is_set():
            raise ActorStopped(f"{self.name} is stopping and starts no child")
        child = Cell(
            factory,
            f"{self.name}/{name}",
            self._graveyard,
            parent=self,
            policy=policy,
            mailbox_limit=mailbox_limit,
            idle=idle,
            on_end=self._children.discard,
        )
        self._children.add(child)
        return child.ref

    def stop(self) -> None:
        """Stops this actor after the message that it is handling."""
        self.request_stop()

    # -- the life itself

    async def _run(self) -> None:
        self._started = True
        try:
            await self._live()
        except asyncio.CancelledError:
            # Stopped "now", or the loop is being torn down: either way the end below must still run.
            self._now = True
        finally:
            self._close("stopped")
            if self._current is not None:
                self._current.fail(ActorStopped(f"{self.name} was stopped while it handled this message"))
            self._ended.set()
            if self._on_end is not None:
                self._on_end(self)

    async def _live(self) -> None:
        while not self._closing.is_set():
            error = await self._incarnate()
            if error is None:
                return
            wait = self._policy.wait(self._crashes)
            if wait is None:
                self._give_up(error)
                return
            self._settle(error)
            _log.warning("actor_restarting", actor=self.name, crashes=self._crashes, wait=wait)
            await self._pause(wait)

    async def _incarnate(self) -> Exception | None:
        """Makes the actor and runs it until it is done (None) or crashes (the error)."""
        actor: Actor | None = None
        crash: Exception | None = None
        try:
            actor = self._factory()
            actor.context = self
            await actor.on_start()
            await self._work(actor)
        except Exception as error:  # noqa: BLE001 - the supervisor's edge: an actor may raise anything
            crash = error
            self._crashes += 1
            _log.error("actor_crashed", actor=self.name, error=repr(error), exc_info=error)
            if actor is not None:
                await self._hook("on_failure", actor.on_failure(error))
        finally:
            await self._stop_children(now=crash is not None)
            if actor is not None:
                await self._hook("on_stop", actor.on_stop())
        return crash

    async def _work(self, actor: Actor) -> None:
        """Handles messages until the mailbox closes; a crash leaves its envelope in `_current`."""
        while not self._closing.is_set():
            self._current = await self._mailbox.get(self._idle)
            if self._current is not None:
                await self._handle(actor, self._current)
                self._current = None
                self._crashes = 0
            elif not self._closing.is_set() and await actor.on_idle() and not len(self._mailbox):
                self._close("passivated")

    async def _handle(self, actor: Actor, envelope: Envelope) -> None:
        if isinstance(envelope.message, ChildFailed):
            await actor.on_child_failed(envelope.message)
            return
        if envelope.abandoned and envelope.bound:
            return
        work = asyncio.ensure_future(actor.on_receive(envelope.message))
        if envelope.bound and envelope.reply_to is not None:
            envelope.reply_to.add_done_callback(lambda answer: answer.cancelled() and work.cancel())
        try:
            envelope.answer(await work)
        except Refused as refusal:
            if envelope.reply_to is None:
                _log.warning("actor_refused", actor=self.name, error=str(refusal))
            envelope.fail(refusal)
        except asyncio.CancelledError as error:
            if self._now or _being_cancelled():
                raise
            if not envelope.abandoned:
                raise WorkCancelled(f"{self.name}: the work was cancelled from within") from error

    def _settle(self, error: Exception) -> None:
        """Decides what becomes of the message at which the actor crashed."""
        envelope, self._current = self._current, None
        if envelope is None or isinstance(envelope.message, ChildFailed):
            return
        if self._policy.redeliver and not self._closing.is_set() and not envelope.abandoned:
            self._mailbox.put(envelope, urgent=True)
        else:
            envelope.fail(error)

    def _give_up(self, error: Exception) -> None:
        _log.error("actor_gave_up", actor=self.name, crashes=self._crashes, error=repr(error))
        verdict = GaveUp(f"{self.name} gave up after {self._crashes} crashes: {error!r}")
        verdict.__cause__ = error
        if self._current is not None:
            self._current.fail(verdict if self._policy.redeliver else error)
        self._close(str(verdict))
        if self._parent is not None:
            self._parent._child_failed(ChildFailed(self.name, error))

    def _child_failed(self, report: ChildFailed) -> None:
        if self.alive:
            self._mailbox.put(Envelope(report), urgent=True)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        except TimeoutError:
            return

    async def _stop_children(self, *, now: bool) -> None:
        """Waits for the children's end in any case: cancelling this wait only makes them hurry."""
        while self._children:
            children = list(self._children)
            for child in children:
                child.request_stop(now=now or self._now)
            try:
                await asyncio.gather(*(child.ended() for child in children))
            except asyncio.CancelledError:
                self._now = True
                self._close("stopped")

    async def _hook(self, hook: str, call: Coroutine[Any, Any, None]) -> None:
        """Awaits a hook whose failure must not keep the actor from ending."""
        try:
            await call
        except Exception as error:  # noqa: BLE001 - the supervisor's edge
            _log.error("actor_hook_failed", actor=self.name, hook=hook, error=repr(error), exc_info=error)

    def _close(self, reason: str) -> None:
        """Takes no more messages; what is left is answered with an error, a tell becomes a dead letter."""
        self._closing.set()
        for envelope in self._mailbox.close():
            if isinstance(envelope.message, ChildFailed):
                continue
            if envelope.reply_to is None:
                self._graveyard.bury(DeadLetter(self.name, envelope.message, reason))
            envelope.fail(ActorStopped(f"{self.name}: {reason}"))


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
