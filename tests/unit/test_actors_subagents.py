"""Sub-agents: isolation, time limits, crashes and restarts, several at once, and what is published of a run."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from actors.agents import AgentDefinition, AgentRegistry
from actors.core import Actor, ActorSystem
from actors.delegation import Delegation, Report, SubagentLimits
from actors.errors import BadToolCall, UnknownAgent
from actors.recorder import Recorder
from actors.text import within_tokens
from config.settings import load
from llm.factory import build_chat
from memory.tokens import estimate
from sidestream.events import Message, SubagentFinished, SubagentMessage, SubagentStarted
from tests.fake_openai import Behaviour, FakeOpenAI, Hang, Status
from tests.fake_openai import Reply as Answer
from tests.unit.actors_support import until
from tests.unit.agent_support import SCOPE, Bench, Notebook, bench

INSTRUCTIONS = "You are the oracle."
REGISTRY = AgentRegistry([AgentDefinition("oracle", "Knows things.", INSTRUCTIONS)])


def call(name: str, brief: str) -> tuple[str, str]:
    """A tool call as the model writes it."""
    return ("call_agent", json.dumps({"name": name, "brief": brief}))


def is_subagent(body: dict[str, Any]) -> bool:
    """The request comes from the oracle."""
    return bool(body["messages"][0]["content"] == INSTRUCTIONS)


class Caller:
    """An actor that calls a sub-agent as code does, and the pieces around it."""

    def __init__(self, server: FakeOpenAI, limits: SubagentLimits) -> None:
        settings = load(chat_base_url=server.url, chat_model="test", llm_retries=0, llm_timeout=5)
        self.notebook = Notebook()
        self.model = build_chat(settings)
        self.delegation = Delegation(REGISTRY, self.model, SCOPE, Recorder(self.notebook), limits)
        self.system = ActorSystem()

        delegation = self.delegation

        class Parent(Actor):
            async def on_receive(self, message: Any) -> Report:
                return await delegation.call_agent(*message, spawn=self.context.spawn, parent_id="p1")

        self.ref = self.system.spawn(Parent, "parent")

    async def close(self) -> None:
        await self.system.stop(grace=0.1)
        await self.model.aclose()

    async def call(self, name: str = "oracle", brief: str = "What is 6 x 7?") -> Report:
        report = await self.ref.ask((name, brief), timeout=10, bound=True)
        assert isinstance(report, Report)
        return report


@pytest.fixture
async def server() -> AsyncIterator[FakeOpenAI]:
    with FakeOpenAI() as running:
        yield running


@pytest.fixture
async def caller(server: FakeOpenAI) -> AsyncIterator[Caller]:
    made = Caller(server, SubagentLimits(timeout=20, restarts=2, first_wait=0.001))
    yield made
    await made.close()


async def test_a_run_is_published_from_start_to_finish(caller: Caller, server: FakeOpenAI) -> None:
    server.script(Answer("Forty-two."))
    report = await caller.call()
    assert (report.agent, report.status, report.content) == ("oracle", "completed", "Forty-two.")
    started, said, finished = caller.notebook.events
    assert isinstance(started, SubagentStarted) and isinstance(said, SubagentMessage)
    assert isinstance(finished, SubagentFinished)
    assert {e.run_id for e in (started, said, finished)} == {report.run_id}
    assert (started.agent_id, started.parent_id, started.content) == ("oracle", "p1", "What is 6 x 7?")
    assert (said.role, said.content) == ("assistant", "Forty-two.")
    assert (finished.status, finished.content) == ("completed", "Forty-two.")
    assert {(e.session_id, e.user_id) for e in caller.notebook.events} == {("s1", "ann")}


async def test_it_sees_its_brief_and_nothing_else(caller: Caller, server: FakeOpenAI) -> None:
    await caller.call()
    [request] = server.requests("chat")
    assert request.body["messages"] == [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": "What is 6 x 7?"},
    ]
    assert "tools" not in request.body


@pytest.mark.parametrize("failure", [Status(500), Answer(""), Answer("  \n")])
async def test_a_crash_is_tried_again_with_the_same_brief(
    caller: Caller, server: FakeOpenAI, failure: Behaviour
) -> None:
    server.script(failure, failure, Answer("Forty-two."))
    report = await caller.call()
    assert (report.status, report.content) == ("completed", "Forty-two.")
    assert [e.type for e in caller.notebook.events] == [
        "subagent.started",
        "subagent.message",
        "subagent.finished",
    ]


async def test_after_too_many_crashes_it_gives_up_with_a_report(caller: Caller, server: FakeOpenAI) -> None:
    server.script(*[Status(500)] * 3)
    report = await caller.call()
    assert report.status == "failed" and "failed 3 times" in report.content
    assert len(server.requests("chat")) == 3
    finished = caller.notebook.events[-1]
    assert isinstance(finished, SubagentFinished) and finished.status == "failed"
    server.script(Answer("again"))
    assert (await caller.call()).content == "again"


async def test_what_would_fail_again_is_not_tried_again(caller: Caller, server: FakeOpenAI) -> None:
    server.script(Status(401))
    report = await caller.call()
    assert report.status == "failed" and len(server.requests("chat")) == 1


async def test_the_time_limit_ends_it(server: FakeOpenAI) -> None:
    made = Caller(server, SubagentLimits(timeout=0.1))
    server.script(Hang())
    report = await made.call()
    assert (report.status, report.content) == ("timed_out", "oracle did not finish within 0.1 seconds.")
    finished = made.notebook.events[-1]
    assert isinstance(finished, SubagentFinished) and finished.status == "timed_out"
    await made.close()


async def test_a_cancelled_call_ends_its_run(server: FakeOpenAI) -> None:
    made = Caller(server, SubagentLimits(timeout=60))
    server.script(Hang())
    calling = asyncio.create_task(made.call())
    await until(lambda: bool(server.requests("chat")))
    calling.cancel()
    await until(lambda: len(made.notebook.events) == 2)
    finished = made.notebook.events[-1]
    assert isinstance(finished, SubagentFinished) and finished.status == "cancelled"
    await made.close()


async def test_wrong_names_and_empty_briefs_start_nothing(caller: Caller) -> None:
    with pytest.raises(UnknownAgent, match="there are: oracle"):
        await caller.call("nobody")
    with pytest.raises(BadToolCall, match="empty"):
        await caller.call(brief="  ")
    assert caller.notebook.events == []


async def test_a_long_report_is_cut_for_the_caller_and_kept_within_the_limit(server: FakeOpenAI) -> None:
    made = Caller(server, SubagentLimits(timeout=20, reply_tokens=200))
    server.script(Answer("word " * 300_000))
    report = await made.call()
    assert "characters left out" in report.content and len(report.content) < 1_000
    said = made.notebook.events[1]
    assert isinstance(said, SubagentMessage) and 500_000 < len(said.content) <= 1024 * 1024
    await made.close()


@pytest.mark.parametrize("text", ["汉" * 5_000 + "a" * 100_000 + "字" * 5_000, "a" * 100_000, "文" * 10_000, "short"])
def test_a_cut_text_is_within_its_tokens_wherever_they_stand(text: str) -> None:
    cut = within_tokens(text, 1_000)
    assert estimate(cut) <= 1_000
    assert (cut == text) == (text == "short")
    assert cut[:5] == text[:5] and cut[-5:] == text[-5:]


async def test_a_registry_knows_each_name_once() -> None:
    with pytest.raises(ValueError, match="oracle"):
        AgentRegistry([*REGISTRY, *REGISTRY])
    assert [agent.name for agent in AgentRegistry()] == ["researcher"]


async def test_the_model_calls_agents_and_only_their_reports_come_back(tmp_path: Path) -> None:
    async with bench(tmp_path, registry=REGISTRY) as agent:
        agent.server.respond = _oracle
        agent.server.script(Answer("", tool_calls=[call("oracle", "one"), call("oracle", "two")]))
        assert await agent.say("Ask the oracle twice.") == "Both reports: report on one; report on two"
        types = agent.notebook.types()
        assert types[:2] == ["message:user", "message:assistant"]
        assert sorted(types[2:8]) == sorted(["subagent.started", "subagent.message", "subagent.finished"] * 2)
        assert types[8:] == ["message:tool", "message:tool", "message:assistant"]


async def test_the_runs_belong_to_the_event_that_called_them(tmp_path: Path) -> None:
    async with bench(tmp_path, registry=REGISTRY) as agent:
        agent.server.respond = _oracle
        agent.server.script(Answer("", tool_calls=[call("oracle", "one")]))
        await agent.say("Ask the oracle.")
        asking = next(e for e in agent.notebook.events if isinstance(e, Message) and e.meta.get("tool_calls"))
        started = next(e for e in agent.notebook.events if isinstance(e, SubagentStarted))
        result = next(e for e in agent.notebook.events if isinstance(e, Message) and e.role == "tool")
        assert started.parent_id == asking.id == result.parent_id
        assert result.meta["tool_call_id"] == asking.meta["tool_calls"][0]["id"]


async def test_two_sub_agents_run_side_by_side(tmp_path: Path) -> None:
    async with bench(tmp_path, registry=REGISTRY) as agent:
        agent.server.respond = lambda body: Hang() if is_subagent(body) else None
        agent.server.script(Answer("", tool_calls=[call("oracle", "one"), call("oracle", "two")]))
        saying = asyncio.create_task(agent.say("Ask twice."))
        await until(lambda: sum(is_subagent(r.body) for r in agent.server.requests("chat")) == 2)
        saying.cancel()
        await _ended(agent, runs=2)


async def _ended(agent: Bench, runs: int) -> None:
    await until(lambda: agent.notebook.types().count("subagent.finished") == runs)
    await until(lambda: agent.notebook.types().count("message:tool") == runs)
    assert {e.status for e in agent.notebook.events if isinstance(e, SubagentFinished)} == {"cancelled"}


def _oracle(body: dict[str, Any]) -> Behaviour | None:
    if is_subagent(body):
        return Answer(f"report on {body['messages'][-1]['content']}")
    reports = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    return Answer(f"Both reports: {'; '.join(reports)}")
