"""The main agent's loop, with everything behind it away and a real model server in front."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from actors.errors import ReplyFailed
from actors.host import AgentHost, HostOptions
from actors.messages import Reply
from config.settings import load
from llm.factory import build_chat
from memory.types import Scope
from sidestream.events import Message, SessionEnded
from tests.fake_openai import CutStream, Hang, Status
from tests.fake_openai import Reply as Answer
from tests.unit.actors_support import Boom, until
from tests.unit.agent_support import SCOPE, Bench, Notebook, bench
from tests.unit.recall_support import memory


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncIterator[Bench]:
    async with bench(tmp_path) as made:
        yield made


async def test_a_reply_is_published_after_what_it_answers(agent: Bench) -> None:
    agent.server.script(Answer("Hello Ann."))
    assert await agent.say("Hi, I am Ann.") == "Hello Ann."
    said, answered = agent.notebook.events
    assert isinstance(said, Message) and isinstance(answered, Message)
    assert (said.role, said.content) == ("user", "Hi, I am Ann.")
    assert (answered.role, answered.parent_id) == ("assistant", said.id)
    assert {e.user_id for e in agent.notebook.events} == {"ann"}
    assert {e.session_id for e in agent.notebook.events} == {"s1"}


async def test_the_agent_sees_its_last_turns_while_all_memory_is_away(agent: Bench) -> None:
    agent.server.script(Answer("one"), Answer("two"))
    await agent.say("first")
    await agent.say("second")
    assert [m["content"] for m in agent.seen()] == ["first", "one", "second"]


async def test_sessions_do_not_see_each_other(agent: Bench) -> None:
    await agent.say("a secret of s1")
    await agent.say("hello", Scope("ann", session_id="s2"))
    await agent.say("hello", Scope("bob", session_id="s1"))
    assert [m["content"] for m in agent.seen(1)] == ["hello"] == [m["content"] for m in agent.seen(2)]
    assert len(agent.host.sessions) == 3


async def test_the_answer_streams_in_pieces_and_ends_with_the_whole(agent: Bench) -> None:
    agent.server.script(Answer("", pieces=["one ", "two ", "three"]))
    got = [piece async for piece in agent.host.sessions.stream(SCOPE, "count")]
    assert got[:-1] == ["one ", "two ", "three"]
    assert isinstance(got[-1], Reply) and got[-1].content == "one two three"


async def test_leaving_the_stream_early_cancels_the_reply(agent: Bench) -> None:
    agent.server.script(Hang(), Answer("after"))
    stream = agent.host.sessions.stream(SCOPE, "count")
    reading = asyncio.ensure_future(anext(stream))
    await until(lambda: bool(agent.server.requests("chat")))
    reading.cancel()
    assert await agent.say("again") == "after"
    assert agent.notebook.told() == [("user", "count"), ("user", "again"), ("assistant", "after")]


@pytest.mark.parametrize(
    ("failure", "words"),
    [(Status(401), "key"), (Status(429), "patience"), (CutStream(1), "broke in the middle")],
)
async def test_a_failing_model_is_told_plainly_and_the_turn_stays_open(
    agent: Bench, failure: Status | CutStream, words: str
) -> None:
    agent.server.script(failure)
    with pytest.raises(ReplyFailed, match=words):
        await agent.say("question")
    agent.server.script(Answer("now"))
    assert await agent.say("are you there?") == "now"
    assert [m["content"] for m in agent.seen()] == ["question", "are you there?"]
    assert agent.notebook.types() == ["message:user", "message:user", "message:assistant"]


async def test_an_empty_answer_is_a_failure_and_is_not_published(agent: Bench) -> None:
    agent.server.script(Answer("  \n"))
    with pytest.raises(ReplyFailed):
        await agent.say("question")
    assert agent.notebook.types() == ["message:user"]


async def test_what_cannot_be_kept_is_not_answered(agent: Bench) -> None:
    agent.notebook.refusing = True
    with pytest.raises(ReplyFailed, match="could not be kept"):
        await agent.say("lost")
    agent.notebook.refusing = False
    await agent.say("kept")
    assert agent.notebook.told()[0] == ("user", "kept") and len(agent.server.requests("chat")) == 1


async def test_an_answer_that_cannot_be_published_goes_first_the_next_time(agent: Bench) -> None:
    agent.server.script(Answer("one"), Answer("two"))
    agent.notebook.refuse_after = 1
    reply = await agent.host.sessions.say(SCOPE, "first")
    assert reply.content == "one" and not reply.durable
    agent.notebook.refuse_after, agent.notebook.refusing = None, False
    assert (await agent.host.sessions.say(SCOPE, "second")).durable
    assert [content for _, content in agent.notebook.told()] == ["first", "one", "second", "two"]


@pytest.mark.parametrize("text", ["", "  \n "])
async def test_an_empty_message_is_refused(agent: Bench, text: str) -> None:
    with pytest.raises(ReplyFailed, match="empty"):
        await agent.say(text)
    assert agent.notebook.events == []


async def test_a_message_over_the_limit_is_refused_in_plain_words(agent: Bench) -> None:
    with pytest.raises(ReplyFailed, match="content"):
        await agent.say("x" * (1024 * 1024 + 1))
    assert agent.notebook.events == []


async def test_an_answer_over_the_limit_is_cut_with_a_mark(agent: Bench) -> None:
    agent.server.script(Answer("é" * 800_000))
    await agent.say("tell me everything")
    _, answer = agent.notebook.told()[-1]
    assert len(answer.encode()) <= 1024 * 1024 and "characters left out" in answer


async def test_an_idle_agent_stays_while_it_alone_knows_its_last_turn(tmp_path: Path) -> None:
    async with bench(tmp_path, idle=0.01) as agent:
        await agent.say("remember me")
        ref = agent.host.sessions.ref(SCOPE)
        # Five times its idle time; there is no event to wait for when nothing is to happen.
        await asyncio.sleep(0.05)
        assert ref.alive


async def test_the_end_of_a_session_is_published_and_stops_its_agent(agent: Bench) -> None:
    await agent.say("bye")
    ref = agent.host.sessions.ref(SCOPE)
    assert await agent.host.sessions.end(SCOPE)
    await until(lambda: not ref.alive)
    assert isinstance(agent.notebook.events[-1], SessionEnded)
    await agent.say("hello again")
    assert [m["content"] for m in agent.seen()] == ["hello again"]


async def test_a_crash_between_question_and_answer_leaves_an_open_turn(tmp_path: Path) -> None:
    def fault(point: str) -> None:
        reached.append(point)
        if point == "chat.before_answer" and reached.count(point) == 1:
            raise Boom(point)

    reached: list[str] = []
    async with bench(tmp_path, fault=fault) as agent:
        with pytest.raises(Boom):
            await agent.say("first")
        assert await agent.say("second") == "You said: second"
        assert [m["content"] for m in agent.seen()] == ["first", "second"]
        assert agent.notebook.types() == ["message:user", "message:user", "message:assistant"]
    assert reached == ["chat.after_question", "chat.before_answer"] * 2


async def test_a_stop_in_the_middle_of_a_reply_is_told(agent: Bench) -> None:
    agent.server.script(Hang())
    saying = asyncio.create_task(agent.say("wait for it"))
    await until(lambda: bool(agent.server.requests("chat")))
    await agent.host.stop(grace=0.01)
    with pytest.raises(Exception, match="stopped"):
        await saying


async def test_an_idle_agent_whose_messages_are_stored_is_passivated_and_comes_back(tmp_path: Path) -> None:
    async with memory(tmp_path, embed=False) as known:
        settings = load(chat_base_url=known.server.url, chat_model="test", llm_retries=0)
        model, notebook = build_chat(settings), Notebook()
        host = AgentHost(notebook, known.reader, model, HostOptions(agent_idle=0.01))
        await host.sessions.say(SCOPE, "remember me")
        ref = host.sessions.ref(SCOPE)
        for event in notebook.events:
            assert isinstance(event, Message)
            await known.store(event.content, SCOPE, role=event.role, event_id=event.id)
        await until(lambda: not ref.alive)
        assert len(host.sessions) == 0
        await host.sessions.say(SCOPE, "who am I?")
        seen = known.server.requests("chat")[-1].body["messages"]
        assert [m["content"] for m in seen if m["role"] != "system"] == [
            "remember me",
            "You said: remember me",
            "who am I?",
        ]
        await host.stop(grace=0.2)
        await model.aclose()
