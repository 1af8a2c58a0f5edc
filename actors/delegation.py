"""Runs sub-agents: a supervised child with a time limit each, its run published from start to finish."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from actors.agents import AgentDefinition, AgentRegistry
from actors.core import Actor, ActorRef, RestartPolicy
from actors.errors import ActorStopped, AskTimeout, BadToolCall, GaveUp, SubagentFailed
from actors.recorder import Recorder
from actors.subagent import Brief, Run, SubAgent
from actors.text import publishable, within_tokens
from llm.ports import ChatModel
from memory.types import Scope
from sidestream.events import SubagentFinished, SubagentStarted
from sidestream.fieldtypes import RunStatus
from sidestream.ids import new_id

CALL_AGENT = "call_agent"


class Spawn(Protocol):
    """Starts a child of whoever calls the sub-agent."""

    def __call__(self, factory: Callable[[], Actor], name: str, *, policy: RestartPolicy) -> ActorRef:
        """As `Context.spawn`."""
        ...


@dataclass(frozen=True, slots=True)
class Report:
    """What comes back from a run: its result, or in words why there is none."""

    run_id: str
    agent: str
    status: RunStatus
    content: str


@dataclass(frozen=True, slots=True)
class SubagentLimits:
    """Bounds of a run; `timeout` and `first_wait` (before the first restart) are seconds."""

    timeout: float = 120.0
    restarts: int = 2
    reply_tokens: int = 10_000
    first_wait: float = 0.5


class Delegation:
    """Calls sub-agents for one session."""

    def __init__(
        self,
        registry: AgentRegistry,
        model: ChatModel,
        scope: Scope,
        recorder: Recorder,
        limits: SubagentLimits,
        *,
        ids: Callable[[], str] = new_id,
    ) -> None:
        """`model` is for sub-agents that name none of their own."""
        self.registry = registry
        self._model = model
        self._scope = scope
        self._recorder = recorder
        self._limits = limits
        self._ids = ids

    def schema(self) -> dict[str, Any]:
        """`call_agent` as a tool in OpenAI's form."""
        names = [agent.name for agent in self.registry]
        who = " ".join(f"{agent.name}: {agent.description}" for agent in self.registry)
        return {
            "type": "function",
            "function": {
                "name": CALL_AGENT,
                "description": (
                    "Hands a task to a sub-agent and returns its report. It sees the brief alone: put every "
                    f"fact it needs into it. Several calls at once run side by side. {who}"
                ),
                "parameters": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "enum": names},
                        "brief": {"type": "string", "description": "The whole task, with all that it needs."},
                    },
                    "required": ["name", "brief"],
                },
            },
        }

    async def call_agent(self, name: str, brief: str, *, spawn: Spawn, parent_id: str | None = None) -> Report:
        """Runs a sub-agent on a brief and returns its report, also when it failed or took too long.

        Args:
            spawn: starts the child, which is stopped before this returns.
            parent_id: the event that called it.

        Raises:
            UnknownAgent: there is none of that name.
            BadToolCall: the brief is empty.
        """
        definition = self.registry.get(name)
        if not brief.strip():
            raise BadToolCall("the brief is empty")
        run = self._run(parent_id)
        brief = publishable(brief)
        await self._recorder.record(self._started(run, definition, brief))
        policy = RestartPolicy(self._limits.restarts, self._limits.first_wait, redeliver=True)
        child = spawn(lambda: self._make(definition, run), f"{name}-{run.id}", policy=policy)
        status: RunStatus = "cancelled"
        text = f"The call of {name} was cancelled."
        try:
            status, text = await self._outcome(child, name, brief)
        finally:
            await child.stop(now=True)
            # Also when this call is itself being cancelled: a run that began has an end.
            await asyncio.shield(self._recorder.record(self._finished(run, definition, status, text)))
        return Report(run.id, name, status, text)

    async def _outcome(self, child: ActorRef, name: str, brief: str) -> tuple[RunStatus, str]:
        limits = self._limits
        try:
            report = await child.ask(Brief(brief), timeout=limits.timeout, bound=True)
        except AskTimeout:
            return "timed_out", f"{name} did not finish within {limits.timeout:g} seconds."
        except GaveUp as error:
            return "failed", f"{name} failed {limits.restarts + 1} times, last: {error.__cause__!r}"
        except SubagentFailed as error:
            return "failed", f"{name} failed: {error}"
        except ActorStopped:
            return "cancelled", f"{name} was stopped."
        return "completed", within_tokens(str(report), limits.reply_tokens)

    def _make(self, definition: AgentDefinition, run: Run) -> SubAgent:
        model = definition.model or self._model
        return SubAgent(definition, model, run, self._recorder.record, ids=self._ids)

    def _run(self, parent_id: str | None) -> Run:
        scope = self._scope
        if scope.session_id is None:
            raise ValueError("a sub-agent runs for one session: scope.session_id is needed")
        return Run(self._ids(), scope.session_id, scope.namespace, scope.user_id, parent_id)

    def _started(self, run: Run, definition: AgentDefinition, brief: str) -> SubagentStarted:
        return SubagentStarted(
            id=self._ids(),
            run_id=run.id,
            session_id=run.session_id,
            namespace=run.namespace,
            user_id=run.user_id,
            parent_id=run.parent_id,
            agent_id=definition.name,
            content=brief,
        )

    def _finished(self, run: Run, definition: AgentDefinition, status: RunStatus, text: str) -> SubagentFinished:
        return SubagentFinished(
            id=self._ids(),
            run_id=run.id,
            session_id=run.session_id,
            namespace=run.namespace,
            user_id=run.user_id,
            parent_id=run.parent_id,
            agent_id=definition.name,
            status=status,
            content=publishable(text),
        )
