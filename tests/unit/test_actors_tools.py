"""Tool rounds: what the model may call, what it does wrong, how long it may go on, and what later turns see."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from actors.agents import AgentRegistry
from actors.conversation import MAX_CALLS, Conversation
from actors.delegation import Spawn
from actors.errors import BadToolCall, ReplyFailed
from actors.journal import Journal
from actors.tools import CallContext, Toolbox
from llm.ports import ChatDelta, ChatMessage, ChatModel, ChatReply, Usage
from memory.context import message_tokens
from memory.tokens import Corrector, estimate
from sidestream.events import Message
from tests.fake_openai import Reply as Answer
from tests.unit.actors_support import Boom
from tests.unit.agent_support import Bench, bench


class Lamp:
    """A tool whose effect the test decides."""

    def __init__(self, effect: Callable[[Mapping[str, Any]], str] = lambda _: "the lamp is on") -> None:
        self.effect = effect
        self.calls: list[Mapping[str, Any]] = []

    @property
    def name(self) -> str:
        return "lamp"

    def schema(self) -> dict[str, Any]:
        return {"type": "function", "function": {"name": "lamp", "parameters": {"type": "object"}}}

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> str:
        self.calls.append(arguments)
        await asyncio.sleep(0)
        return self.effect(arguments)


def results(agent: Bench) -> list[str]:
    """Contents of the published tool results."""
    return [e.content for e in agent.notebook.events if isinstance(e, Message) and e.role == "tool"]


async def test_a_call_is_carried_out_and_its_result_goes_back(tmp_path: Path) -> None:
    lamp = Lamp()
    async with bench(tmp_path, tools=(lamp,)) as agent:
        agent.server.script(Answer("One moment.", tool_calls=[("lamp", '{"on": true}')]), Answer("Done."))
        assert await agent.say("Light, please.") == "Done."
        assert lamp.calls == [{"on": True}]
        asked, answered = agent.seen()[-2:]
        assert asked["tool_calls"][0]["function"] == {"name": "lamp", "arguments": '{"on": true}'}
        assert answered["content"] == "the lamp is on"
        assert answered["tool_call_id"] == asked["tool_calls"][0]["id"]
        assert [role for role, _ in agent.notebook.told()] == ["user", "assistant", "tool", "assistant"]


async def test_later_turns_see_the_call_with_its_result(tmp_path: Path) -> None:
    async with bench(tmp_path, tools=(Lamp(),)) as agent:
        agent.server.script(Answer("", tool_calls=[("lamp", "{}")]), Answer("Done."))
        await agent.say("Light, please.")
        await agent.say("Thanks.")
        assert [m["role"] for m in agent.seen()] == ["user", "assistant", "tool", "assistant", "user"]
        assert agent.seen()[1]["tool_calls"][0]["function"]["name"] == "lamp"


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("lamp", "{not json", "not valid JSON"),
        ("lamp", "[1]", "must be a JSON object"),
        ("stove", "{}", "no tool is named 'stove'"),
        ("call_agent", "{}", "needs two strings"),
        ("call_agent", '{"name": "nobody", "brief": "x"}', "no sub-agent is named 'nobody'"),
    ],
)
async def test_a_wrong_call_is_told_to_the_model(tmp_path: Path, name: str, arguments: str, words: str) -> None:
    async with bench(tmp_path, tools=(Lamp(),)) as agent:
        agent.server.script(Answer("", tool_calls=[(name, arguments)]), Answer("Sorry."))
        assert await agent.say("Do it.") == "Sorry."
        assert words in agent.seen()[-1]["content"] and words in results(agent)[0]


async def test_a_tool_may_refuse(tmp_path: Path) -> None:
    def refuse(_: Mapping[str, Any]) -> str:
        raise BadToolCall("the lamp is broken")

    async with bench(tmp_path, tools=(Lamp(refuse),)) as agent:
        agent.server.script(Answer("", tool_calls=[("lamp", "{}")]), Answer("Sorry."))
        assert await agent.say("Light.") == "Sorry."
        assert results(agent) == ["error: the lamp is broken"]


async def test_a_crashing_tool_leaves_no_call_without_a_result(tmp_path: Path) -> None:
    def crash(_: Mapping[str, Any]) -> str:
        raise Boom("short circuit")

    async with bench(tmp_path, tools=(Lamp(crash),)) as agent:
        agent.server.script(Answer("", tool_calls=[("lamp", "{}"), ("lamp", "{}")]))
        with pytest.raises(Boom):
            await agent.say("Light.")
        assert results(agent) == ["error: cancelled"] * 2
        assert await agent.say("Hello?") == "You said: Hello?"


async def test_the_rounds_are_bounded_and_the_last_one_has_no_tools(tmp_path: Path) -> None:
    async with bench(tmp_path, tools=(Lamp(),), rounds=2) as agent:
        endless = Answer("", tool_calls=[("lamp", "{}")])
        agent.server.script(endless, endless, Answer("Enough."))
        assert await agent.say("Light.") == "Enough."
        offered = ["tools" in r.body for r in agent.server.requests("chat")]
        assert offered == [True, True, False]


async def test_a_model_that_never_answers_fails_plainly(tmp_path: Path) -> None:
    async with bench(tmp_path, tools=(Lamp(),), rounds=1) as agent:
        endless = Answer("", tool_calls=[("lamp", "{}")])
        agent.server.script(endless, endless)
        with pytest.raises(ReplyFailed):
            await agent.say("Light.")


async def test_too_many_calls_at_once_are_not_all_carried_out(tmp_path: Path) -> None:
    lamp = Lamp()
    async with bench(tmp_path, tools=(lamp,)) as agent:
        agent.server.script(Answer("", tool_calls=[("lamp", "{}")] * (MAX_CALLS + 2)), Answer("Done."))
        await agent.say("Light.")
        assert len(lamp.calls) == MAX_CALLS and len(results(agent)) == MAX_CALLS + 2
        assert "at most 16" in results(agent)[-1]


async def test_huge_arguments_reach_the_tool_whole_and_are_published_cut(tmp_path: Path) -> None:
    lamp = Lamp(lambda arguments: str(len(arguments["x"])))
    async with bench(tmp_path, tools=(lamp,)) as agent:
        arguments = json.dumps({"x": "y" * 400_000})
        agent.server.script(Answer("", tool_calls=[("lamp", arguments)]), Answer("Done."))
        assert await agent.say("Light.") == "Done."
        assert results(agent) == ["400000"]
        await agent.say("Thanks.")
        sent = agent.seen()[1]["tool_calls"][0]["function"]["arguments"]
        assert len(sent) < 20_000 and json.loads(sent)["cut"].startswith('{"x": "yyy')


@pytest.mark.parametrize("arguments", ["{not json", "[1]", "", '{"deep": ' * 2_000])
async def test_what_is_sent_back_is_always_a_json_object(tmp_path: Path, arguments: str) -> None:
    """Some servers refuse the whole conversation otherwise, now and in later turns."""
    async with bench(tmp_path, tools=(Lamp(),)) as agent:
        agent.server.script(Answer("", tool_calls=[("lamp", arguments)]), Answer("Sorry."))
        await agent.say("Do it.")
        await agent.say("And now?")
        for request in (-2, -1):
            sent = agent.seen(request)[1]["tool_calls"][0]["function"]["arguments"]
            assert isinstance(json.loads(sent), dict)


async def test_whatever_a_model_writes_into_its_calls_can_be_published(tmp_path: Path) -> None:
    lamp = Lamp()
    async with bench(tmp_path, tools=(lamp,)) as agent:
        calls = [("lamp", json.dumps({"x": text * 20_000}, ensure_ascii=False)) for text in ("灯", "\\", '"', "a")]
        calls += [("lamp", '{"x": "\ud83d"}'), ("lamp\ud83d", "{}")]
        agent.server.script(Answer("", tool_calls=calls * 2), Answer("Done."))
        assert await agent.say("Light.") == "Done."
        assert len(lamp.calls) == 10 and len(results(agent)) == 12


async def test_a_silent_tool_has_a_result_all_the_same(tmp_path: Path) -> None:
    async with bench(tmp_path, tools=(Lamp(lambda _: ""),)) as agent:
        agent.server.script(Answer("", tool_calls=[("lamp", "{}")]), Answer("Done."))
        await agent.say("Light.")
        assert results(agent) == ["(nothing)"]


async def test_agents_are_offered_as_one_tool_and_none_without_a_registry(tmp_path: Path) -> None:
    async with bench(tmp_path) as agent:
        await agent.say("Hello.")
        [tool] = agent.server.requests("chat")[-1].body["tools"]
        assert tool["function"]["parameters"]["properties"]["name"]["enum"] == ["researcher"]
    async with bench(tmp_path, registry=AgentRegistry(())) as bare:
        await bare.say("Hello.")
        assert "tools" not in bare.server.requests("chat")[-1].body


async def test_tools_are_counted_with_what_was_sent() -> None:
    """Else short contexts, which they outweigh, would teach that every text is three times as long as it is."""

    class Exact:
        """Reports just as many tokens as are estimated."""

        name = "exact"

        async def stream(
            self, messages: Sequence[ChatMessage], *, tools: Sequence[dict[str, Any]] = ()
        ) -> AsyncGenerator[ChatDelta, None]:
            sent = sum(map(message_tokens, messages)) + sum(estimate(json.dumps(tool)) for tool in tools)
            yield ChatDelta(final=ChatReply("Done.", usage=Usage(sent, 1)))

    corrector = Corrector()
    lamp = Lamp()
    lamp.schema = lambda: {"type": "function", "function": {"name": "lamp", "description": "word " * 500}}  # type: ignore[method-assign] # a long one
    talk = Conversation(cast(ChatModel, Exact()), Toolbox([lamp]), cast(Journal, None), corrector, rounds=1)
    nowhere = CallContext("e1", cast(Spawn, None))
    assert (await talk.answer([{"role": "user", "content": "word " * 100}], nowhere, None)).content == "Done."
    assert corrector.ratio == pytest.approx(1.0, abs=0.02)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="same name"):
        Toolbox([Lamp(), Lamp()])
