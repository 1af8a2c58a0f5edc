"""What an actor is: state behind a mailbox, and hooks that are called one at a time."""

from collections.abc import Callable
from typing import Any, Protocol

from actors.core.ref import ActorRef
from actors.core.supervision import ChildFailed, RestartPolicy
from actors.errors import Refused


class Context(Protocol):
    """What an actor may do with its surroundings."""

    @property
    def ref(self) -> ActorRef:
        """The actor's own address."""
        ...

    def spawn(
        self,
        factory: "Callable[[], Actor]",
        name: str,
        *,
        policy: RestartPolicy = ...,
        mailbox_limit: int = ...,
        idle: float | None = None,
    ) -> ActorRef:
        """Starts a child, which stops with this actor."""
        ...

    def stop(self) -> None:
        """Stops this actor after the message that it is handling."""
        ...


class Actor:
    """Override the hooks that matter. They never run at the same time, so state needs no lock.

    An exception from `on_start`, `on_receive`, `on_idle` or `on_child_failed` is a crash: this object is
    discarded and its supervisor makes a new one, or gives up (see RestartPolicy). One from `on_failure` or
    `on_stop` is logged. `Refused` from `on_receive` is no crash but an answer.
    """

    context: Context
    """Set before `on_start`."""

    async def on_start(self) -> None:
        """Called before the first message, also after a restart."""

    async def on_receive(self, message: Any) -> Any:
        """Handles one message; what it returns answers an ask. Here: refuses it."""
        raise Refused(f"{type(self).__name__} takes no {type(message).__name__}")

    async def on_failure(self, error: Exception) -> None:
        """Called after a crash, before the wait and the restart."""

    async def on_stop(self) -> None:
        """Called last on every object that was made, after a crash too; it may be only half started."""

    async def on_idle(self) -> bool:
        """Called when no message came for the idle time; True stops the actor."""
        return True

    async def on_child_failed(self, report: ChildFailed) -> None:
        """Called when a child gave up; raising makes it this actor's crash too."""
