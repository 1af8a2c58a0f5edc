"""The main agent: one actor a session. It reads memory, answers, and appends events; nothing else.

It never writes to SQLite, and calls no model but its own for the reply (sub-agents called as tools included).
What becomes of its events is the workers' business, and it never waits for them.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from actors.conversation import Conversation
from actors.core import Actor
from actors.errors import ReplyFailed
from actors.journal import Journal
from actors.messages import End, Reply, Say
from actors.tools import CallContext
from memory.chatlist import merge_system
from memory.tokens import Corrector
from memory.types import Hit
from recall.reader import Reader
from recall.results import ContextResult
from sidestream.errors import InvalidEvent, PublishError

INSTRUCTIONS = (
    "You are a helpful assistant with a memory of earlier conversations. Relevant records of it are given to "
    "you as data. Use what fits, say when something is old or uncertain, and never invent a memory. Answer "
    "in the user's language."
)


@dataclass(frozen=True, slots=True)
class MainAgentParts:
    """What a session's agent is made of. `fault` is called at named points, for crash tests."""

    journal: Journal
    reader: Reader
    conversation: Conversation
    corrector: Corrector
    model_name: str
    model_window: int
    instructions: str = INSTRUCTIONS
    clock: Callable[[], float] = time.time
    fault: Callable[[str], None] = lambda _point: None


class MainAgent(Actor):
    """Takes Say, answered by Reply, and End, answered by whether the end is durable."""

    def __init__(self, parts: MainAgentParts) -> None:
        self._parts = parts

    async def on_receive(self, message: Any) -> Any:
        """Handles one message.

        Raises:
            ReplyFailed: there is no answer. What the user said stands if it was accepted: its turn stays
                open, and the next message joins it.
        """
        if isinstance(message, Say):
            return await self._reply(message)
        if isinstance(message, End):
            return await self._end()
        return await super().on_receive(message)

    async def on_idle(self) -> bool:
        """Stops unless something of this session stands nowhere but here."""
        parts = self._parts
        if await parts.journal.recorder.flush():
            return False
        return not await parts.reader.unstored(parts.journal.scope, parts.journal.own)

    async def _reply(self, say: Say) -> Reply:
        parts, journal = self._parts, self._parts.journal
        asked = await self._publish_question(say.text)
        parts.fault("chat.after_question")
        context = await parts.reader.build_context(
            journal.scope,
            say.text,
            model_window=parts.model_window,
            runtime=self._runtime(),
            own=journal.own,
            corrector=parts.corrector,
        )
        journal.stored({message.event_id for message in context.window if message.seq})
        answer = await parts.conversation.answer(
            merge_system(context.messages), CallContext(asked, self.context.spawn), say.on_piece
        )
        parts.fault("chat.before_answer")
        model = answer.model or parts.model_name
        event_id, durable = await journal.assistant(answer.content, answers=asked, model=model)
        facts = _facts(context)
        if facts:
            await journal.used([str(fact.metadata["memory_id"]) for fact in facts], answers=event_id)
        return Reply(
            session_id=journal.session_id,
            content=answer.content,
            event_id=event_id,
            user_event_id=asked,
            sources=(*facts, *context.hits[: context.statistics["kept"]["recalled"]]),
            statistics=context.statistics,
            reason=context.reason,
            degraded=tuple(context.degraded),
            spooled=journal.recorder.spooled,
            durable=durable,
            model=model,
        )

    async def _publish_question(self, text: str) -> str:
        if not text.strip():
            raise ReplyFailed("the message is empty")
        try:
            return await self._parts.journal.user(text)
        except InvalidEvent as error:
            raise ReplyFailed(f"the message cannot be taken: {error}") from error
        except PublishError as error:
            raise ReplyFailed(f"the message was not accepted, because it could not be kept: {error}") from error

    async def _end(self) -> bool:
        durable = await self._parts.journal.ended()
        if durable:
            self.context.stop()
        return durable

    def _runtime(self) -> str:
        now = datetime.fromtimestamp(self._parts.clock(), UTC)
        return f"{self._parts.instructions}\nIt is {now:%A, %Y-%m-%d %H:%M} UTC."


def _facts(context: ContextResult) -> tuple[Hit, ...]:
    """The facts that the budget let in."""
    return tuple(context.facts[: context.statistics["kept"]["facts"]])
