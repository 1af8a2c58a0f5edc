"""A small actor core on asyncio: mailbox, tell and ask, hooks, supervision."""

from actors.core.actor import Actor, Context
from actors.core.ref import ActorRef
from actors.core.supervision import ChildFailed, DeadLetter, RestartPolicy
from actors.core.system import ActorSystem

__all__ = ["Actor", "ActorRef", "ActorSystem", "ChildFailed", "Context", "DeadLetter", "RestartPolicy"]
