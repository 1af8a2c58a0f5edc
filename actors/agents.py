"""The sub-agents that there are: who they are, and what they are told about themselves."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from actors.errors import UnknownAgent
from llm.ports import ChatModel


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """A sub-agent.

    Attributes:
        name: what it is called by, such as `researcher`.
        description: when to call it; read by the model that decides.
        instructions: its system prompt. With the brief it is all that the sub-agent ever sees.
        model: the model it runs on; None takes the main agent's.
    """

    name: str
    description: str
    instructions: str
    model: ChatModel | None = None


RESEARCHER = AgentDefinition(
    name="researcher",
    description="Works one self-contained question or task out in depth and reports the result.",
    instructions=(
        "You work out one task for another agent. You see its brief and nothing else, so take every fact you "
        "need from it. Think it through, then answer with a report that stands on its own: the result first, "
        "then what supports it, then what you could not settle. Do not ask questions back. Answer in the "
        "brief's language."
    ),
)


class AgentRegistry:
    """Sub-agents by name, in the order given."""

    def __init__(self, agents: Iterable[AgentDefinition] = (RESEARCHER,)) -> None:
        """Raises ValueError when two have the same name."""
        self._agents: dict[str, AgentDefinition] = {}
        for agent in agents:
            if agent.name in self._agents:
                raise ValueError(f"two sub-agents are named {agent.name!r}")
            self._agents[agent.name] = agent

    def __iter__(self) -> Iterator[AgentDefinition]:
        return iter(self._agents.values())

    def __len__(self) -> int:
        return len(self._agents)

    def get(self, name: str) -> AgentDefinition:
        """The sub-agent of that name.

        Raises:
            UnknownAgent: there is none; the text lists those there are.
        """
        try:
            return self._agents[name]
        except KeyError:
            known = ", ".join(self._agents) or "none"
            raise UnknownAgent(f"no sub-agent is named {name!r}; there are: {known}") from None
