"""Agents on a real local model server, with a publisher that writes down what it is given."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actors.agents import AgentRegistry
from actors.delegation import SubagentLimits
from actors.host import AgentHost, HostOptions
from actors.tools import Tool
from config.settings import load
from llm.factory import build_chat
from memory.types import Scope
from recall.database import ReadDatabase
from recall.fact_reader import FactReader
from recall.options import RecallOptions
from recall.reader import Reader
from sidestream.errors import RedisUnavailable
from sidestream.event_base import Event
from sidestream.events import Message
from sidestream.keys import Keys
from tests.fake_openai import FakeOpenAI

SCOPE = Scope("ann", session_id="s1")


@dataclass(frozen=True)
class Receipt:
    """What the publisher answers."""

    id: str | None
    spooled: bool = False


@dataclass
class Notebook:
    """A publisher: `events` in order. It refuses while `refusing`, or after `refuse_after` further ones."""

    events: list[Event] = field(default_factory=list)
    refusing: bool = False
    refuse_after: int | None = None

    async def publish(self, event: Event) -> Receipt:
        if self.refuse_after is not None:
            self.refusing = self.refuse_after <= 0
            self.refuse_after -= 1
        if self.refusing:
            raise RedisUnavailable("Redis is away and there is no spool")
        self.events.append(event)
        return Receipt(event.id)

    def told(self) -> list[tuple[str, str]]:
        """Role and content of the messages."""
        return [(e.role, e.content) for e in self.events if isinstance(e, Message)]

    def types(self) -> list[str]:
        """Type of each event, a message's with its role."""
        return [f"message:{e.role}" if isinstance(e, Message) else e.type for e in self.events]


@dataclass
class Bench:
    """A host and what it is made of."""

    host: AgentHost
    server: FakeOpenAI
    notebook: Notebook

    async def say(self, text: str, scope: Scope = SCOPE) -> str:
        """The reply's text."""
        return (await self.host.sessions.say(scope, text)).content

    def seen(self, request: int = -1) -> list[dict[str, Any]]:
        """Messages of a chat request that the model got, without the system text."""
        messages = self.server.requests("chat")[request].body["messages"]
        return [m for m in messages if m["role"] != "system"]


@asynccontextmanager
async def bench(
    folder: Path,
    *,
    registry: AgentRegistry | None = None,
    tools: tuple[Tool, ...] = (),
    facts: FactReader | None = None,
    fault: Callable[[str], None] = lambda _point: None,
    limits: SubagentLimits | None = None,
    idle: float = 900.0,
    rounds: int = 8,
) -> AsyncIterator[Bench]:
    """A host without Redis or database, as it is when everything behind it is away."""
    with FakeOpenAI() as server:
        settings = load(chat_base_url=server.url, chat_model="test", llm_retries=0, llm_timeout=60)
        model = build_chat(settings)
        options = RecallOptions(folder / "absent.db")
        reader = Reader(ReadDatabase(options.database), None, None, options, Keys())
        notebook = Notebook()
        host = AgentHost(
            notebook,
            reader,
            model,
            HostOptions(
                agent_idle=idle,
                tool_rounds=rounds,
                subagents=limits or SubagentLimits(5, 2, first_wait=0.001),
            ),
            registry=registry,
            tools=tools,
            facts=facts,
            fault=fault,
        )
        try:
            yield Bench(host, server, notebook)
        finally:
            await host.stop(grace=0.2)
            await reader.aclose()
            await model.aclose()
