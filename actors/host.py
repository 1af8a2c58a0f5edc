"""Everything a process needs to host agents, put together from plain parts."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from actors.agents import AgentRegistry
from actors.conversation import Conversation
from actors.core import Actor, ActorSystem
from actors.delegation import Delegation, SubagentLimits
from actors.journal import Journal
from actors.main_agent import INSTRUCTIONS, MainAgent, MainAgentParts
from actors.memory_tools import memory_tools
from actors.recorder import EventPublisher, Recorder
from actors.sessions import Sessions
from actors.tools import CallAgent, Tool, Toolbox
from config.settings import Settings
from llm.ports import ChatModel
from memory.tokens import Corrector
from memory.types import Scope
from recall.fact_reader import FactReader
from recall.reader import Reader
from sidestream.ids import new_id


@dataclass(frozen=True, slots=True)
class HostOptions:
    """Plain values; see docs/configuration.md for the settings of the same names. Durations are seconds."""

    model_window: int = 32_768
    tool_rounds: int = 8
    agent_idle: float = 900.0
    instructions: str = INSTRUCTIONS
    subagents: SubagentLimits = field(default_factory=SubagentLimits)

    @classmethod
    def from_settings(cls, settings: Settings) -> "HostOptions":
        """The options that the settings ask for."""
        return cls(
            model_window=settings.chat_window,
            tool_rounds=settings.tool_rounds,
            agent_idle=settings.agent_idle,
            subagents=SubagentLimits(
                timeout=settings.subagent_timeout,
                restarts=settings.subagent_restarts,
                reply_tokens=settings.subagent_reply_tokens,
            ),
        )


class AgentHost:
    """The agents of one process, in one event loop. It owns no part that it is given, and closes none."""

    def __init__(
        self,
        publisher: EventPublisher,
        reader: Reader,
        model: ChatModel,
        options: HostOptions,
        *,
        registry: AgentRegistry | None = None,
        tools: Sequence[Tool] = (),
        facts: FactReader | None = None,
        fault: Callable[[str], None] = lambda _point: None,
        ids: Callable[[], str] = new_id,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """
        Args:
            registry: sub-agents; None takes the built-in one, an empty registry offers none.
            tools: further tools for every session's agent.
            facts: with it every session's agent has the memory tools.
            fault: called at named points of a reply, for crash tests.
        """
        self._publisher = publisher
        self._reader = reader
        self._model = model
        self._options = options
        self._registry = AgentRegistry() if registry is None else registry
        self._tools = tuple(tools)
        self._facts = facts
        self._fault = fault
        self._ids = ids
        self._clock = clock
        self._corrector = Corrector()
        self.system = ActorSystem()
        self.sessions = Sessions(self.system, self._factory, idle=options.agent_idle)

    async def stop(self, *, grace: float = 5.0) -> None:
        """Stops every agent; a reply still at work after `grace` seconds is cancelled."""
        await self.system.stop(grace=grace)

    def _factory(self, scope: Scope) -> Callable[[], Actor]:
        recorder = Recorder(self._publisher)
        journal = Journal(scope, recorder, ids=self._ids, clock=self._clock)
        delegation = Delegation(self._registry, self._model, scope, recorder, self._options.subagents, ids=self._ids)
        own: list[Tool] = [CallAgent(delegation)] if len(self._registry) else []
        if self._facts is not None:
            own += memory_tools(scope, recorder, self._reader, self._facts)
        conversation = Conversation(
            self._model,
            Toolbox([*own, *self._tools]),
            journal,
            self._corrector,
            rounds=self._options.tool_rounds,
            ids=self._ids,
        )
        parts = MainAgentParts(
            journal=journal,
            reader=self._reader,
            conversation=conversation,
            corrector=self._corrector,
            model_name=self._model.name,
            model_window=self._options.model_window,
            instructions=self._options.instructions,
            clock=self._clock,
            fault=self._fault,
        )
        return lambda: MainAgent(parts)
