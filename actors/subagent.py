"""A sub-agent: sees its brief and nothing else, and gives a report back.

It has no window, no store and no way to the main agent; what it needs to know stands in the brief. Its own
messages are published into its run, never into the main dialogue.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from actors.agents import AgentDefinition
from actors.core import Actor
from actors.errors import EmptyReport, SubagentFailed
from actors.text import publishable
from llm.errors import BadReply, Permanent
from llm.ports import ChatModel
from sidestream.event_base import Event
from sidestream.events import SubagentMessage


@dataclass(frozen=True, slots=True)
class Brief:
    """All that a sub-agent is told."""

    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """Where a run's messages belong."""

    id: str
    session_id: str
    namespace: str
    user_id: str
    parent_id: str | None = None


class SubAgent(Actor):
    """Answers one Brief with its report, a string. A failure that can pass is a crash, which is retried."""

    def __init__(
        self,
        definition: AgentDefinition,
        model: ChatModel,
        run: Run,
        publish: Callable[[Event], Awaitable[object]],
        *,
        ids: Callable[[], str],
    ) -> None:
        """`publish` takes the run's messages."""
        self._definition = definition
        self._model = model
        self._run = run
        self._publish = publish
        self._ids = ids

    async def on_receive(self, message: Any) -> str:
        """The report on a Brief.

        Raises:
            SubagentFailed: the model refuses, and would again.
            EmptyReport, LlmError: worth another try.
        """
        if not isinstance(message, Brief):
            raise SubagentFailed(f"a sub-agent takes a brief, not {type(message).__name__}")
        messages = [
            {"role": "system", "content": self._definition.instructions},
            {"role": "user", "content": message.text},
        ]
        try:
            reply = await self._model.complete(messages)
        except BadReply:
            # Permanent for a request, but a model that writes its answer anew may write a better one.
            raise
        except Permanent as error:
            raise SubagentFailed(f"{type(error).__name__}: {error}") from error
        report = publishable(reply.content).strip()
        if not report:
            raise EmptyReport(f"{self._definition.name} reported nothing")
        await self._publish(self._message(report, reply.model))
        return report

    def _message(self, content: str, model: str) -> SubagentMessage:
        run = self._run
        return SubagentMessage(
            id=self._ids(),
            run_id=run.id,
            session_id=run.session_id,
            namespace=run.namespace,
            user_id=run.user_id,
            parent_id=run.parent_id,
            agent_id=self._definition.name,
            role="assistant",
            content=content,
            meta={"model": model} if model else {},
        )
