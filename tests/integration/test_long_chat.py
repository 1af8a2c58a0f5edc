"""A chat of 2,000 turns: the real agent, the consumer's transaction and the tasks' handlers over a real database.

Redis alone is not there: what the agent publishes goes to the consumer at once, and what falls due is worked off after
each turn. The model is in this process; it answers from what its prompt holds and from nothing else.
"""

import itertools
import random
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from actors.host import AgentHost, HostOptions
from actors.messages import Reply
from llm.ports import ChatDelta, ChatMessage, ChatModel, ChatReply
from memory.compaction.parts import Parts
from memory.compaction.thresholds import CompactionRules
from memory.types import Scope
from recall.database import ReadDatabase
from recall.options import RecallOptions
from recall.reader import Reader
from sidestream.event_base import Event
from sidestream.keys import Keys
from store import checkpoints
from tests.unit.compaction_support import DRAIN, OPTIONS
from tests.unit.scripted_model import Scripted
from tests.unit.workers_support import Bench
from workers.batch import IngestRules
from workers.compact import CompactHandler
from workers.drain import Drain
from workers.summarise import SummariseHandler
from workers.timeline import TimelineHandler

SCOPE = Scope("ann", session_id="s1")
WINDOW = 8_192
RULES = CompactionRules(window_tokens=WINDOW)
NAMES = ["Ana", "Bo", "Cleo", "Dag", "Edda", "Finn", "Gry", "Hal", "Ida", "Jon"]
THINGS = ["heron", "ferry", "lantern", "harbour", "orchard", "violin", "anchor", "meadow", "compass", "walnut"]


@dataclass
class Listener:
    """The reply's model. Asked about an allergy, it names what its prompt says of one."""

    name: str = "listener"
    calls: int = 0
    seen: Sequence[ChatMessage] = ()

    async def stream(
        self, messages: Sequence[ChatMessage], *, tools: Sequence[dict[str, Any]] = ()
    ) -> AsyncIterator[ChatDelta]:
        self.calls += 1
        self.seen = messages
        answer = f"Noted as number {self.calls}."
        if "allergic to?" in messages[-1]["content"]:
            found = re.search(r"allergic to (\w+)[^?\w]", "\n".join(m["content"] for m in messages))
            answer = f"To {found[1]}." if found else "I do not know."
        yield ChatDelta(final=ChatReply(answer))

    async def complete(
        self, messages: Sequence[ChatMessage], *, tools: Sequence[dict[str, Any]] = (), max_tokens: int | None = None
    ) -> ChatReply:
        raise AssertionError("a reply is streamed; this model is nobody else's")

    async def aclose(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True)
class Accepted:
    id: str | None
    spooled: bool = False


@dataclass
class Chat:
    """The agent with the memory that it reads, and the workers that keep it."""

    bench: Bench
    host: AgentHost
    model: Listener
    compactor: ChatModel | None
    ids: "itertools.count[int]" = field(default_factory=itertools.count)

    async def say(self, text: str) -> Reply:
        reply = await self.host.sessions.say(SCOPE, text)
        await self.work()
        return reply

    async def work(self) -> None:
        """All that is due, as the tasks do it."""
        db, clock = self.bench.db, self.clock
        options = OPTIONS if self.compactor else compact_options()
        for handler in (
            SummariseHandler(db, None, keep=10, min_chars=10**9, clock=clock),
            CompactHandler(db, self.compactor, options, clock=clock),
            TimelineHandler(db, clock=clock),
        ):
            drain: Drain[Any] = Drain(db, handler, DRAIN, clock=clock, ids=lambda: f"token-{next(self.ids)}")
            await drain.run()

    def clock(self) -> float:
        return self.bench.now


def compact_options() -> Any:
    return type(OPTIONS)(tokens=490, step=6_144, lease=120.0, cut=2_000, attempts=3, keep=5, template="")


class Straight:
    """A publisher whose events are consumed at once."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    async def publish(self, event: Event) -> Accepted:
        self._bench.now += 20.0
        applied = self._bench.apply(event.to_fields())
        assert applied.stored == 1
        return Accepted(event.id)


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    bench = Bench(tmp_path, IngestRules(10**9, 1_000_000, RULES, 100))
    options = RecallOptions(tmp_path / "test.db", chat_window=WINDOW, compaction=RULES)
    reader = Reader(ReadDatabase(options.database), None, None, options, Keys(), clock=lambda: bench.now)
    model = Listener()
    host = AgentHost(Straight(bench), reader, model, HostOptions(model_window=WINDOW), clock=lambda: bench.now)
    yield Chat(bench, host, model, None)
    await host.stop()
    await reader.aclose()
    bench.db.close()


def small_talk(number: int, rng: random.Random) -> str:
    """A line of its own; now and then one that is far too long, or Chinese."""
    name, thing, other = rng.choice(NAMES), rng.choice(THINGS), rng.choice(THINGS)
    if number % 50 == 7:
        return f"{name} copied log {number}: " + f"the {thing} met the {other}. " * 200
    if number % 20 == 3:
        return f"{name}在第{number}天看见了一只{thing}，然后回家了。"
    return f"On day {number} {name} carried the {thing} to the {other} and met {rng.choice(NAMES)} there."


def check_prompt(chat: Chat, reply: Reply) -> None:
    """Within the budget, and made by one call of the reply's own model."""
    counts = reply.statistics
    assert counts["over_budget"] == 0
    assert counts["tokens"]["total"] <= counts["budget"]["total"] == int(0.6 * WINDOW)
    assert not any(len(message["content"]) > 4_000 for message in chat.model.seen[1:])


def boundary(chat: Chat) -> int:
    """The last message that the active checkpoint stands for."""
    found = checkpoints.active(chat.bench.db, SCOPE)
    return found.boundary_seq if found else 0


@pytest.mark.slow
@pytest.mark.timeout(1_200)
async def test_two_thousand_turns(chat: Chat) -> None:
    rng = random.Random(7)
    for number in range(1, 2_000):
        text = "By the way, I'm allergic to hazelnuts." if number == 10 else small_talk(number, rng)
        before = boundary(chat)
        reply = await chat.say(text)
        check_prompt(chat, reply)
        assert chat.model.calls == number
        # The window began where the checkpoint ended: nothing stood in neither.
        shown = reply.statistics["kept"]["window"] + reply.statistics["dropped"]["window"]
        assert shown == 2 * number - 1 - before
        if number == 60:
            found = checkpoints.active(chat.bench.db, SCOPE)
            assert found is not None and "hazelnuts" in found.summary
    reply = await chat.say("Do you remember what I am allergic to?")
    check_prompt(chat, reply)
    assert reply.content == "To hazelnuts."
    check_end(chat)


def check_end(chat: Chat) -> None:
    """The fact stands in the checkpoint still, which stands for nearly all; nothing was lost, nothing is owed."""
    found = checkpoints.active(chat.bench.db, SCOPE)
    assert found is not None
    assert Parts.model_validate_json(found.summary).preferences == ("By the way, I'm allergic to hazelnuts.",)
    assert found.boundary_seq == found.message_count > 3_950
    assert found.token_count <= 490
    assert chat.bench.rows("SELECT count(*), max(seq) FROM main_messages") == [(4_000, 4_000)]
    assert chat.bench.rows("SELECT count(*) FROM jobs WHERE state <> 'done' AND kind <> 'embed'") == [(0,)]
    told = chat.bench.rows("SELECT seq_first, seq_last FROM timeline ORDER BY seq_first")
    assert [first for first, _ in told] == [1, *(last + 1 for _, last in told[:-1])]


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_compaction_that_never_succeeds_stops_no_chat(chat: Chat) -> None:
    chat.compactor = Scripted("I would rather not.")
    rng = random.Random(7)
    for number in range(1, 151):
        check_prompt(chat, await chat.say(small_talk(number, rng)))
    assert checkpoints.active(chat.bench.db, SCOPE) is not None, "rules step in at last"


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_without_any_compaction_the_window_is_cut(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Parts:
        raise RuntimeError("a fault of the program")

    monkeypatch.setattr("workers.compact.extract", broken)
    rng = random.Random(7)
    for number in range(1, 151):
        check_prompt(chat, await chat.say(small_talk(number, rng)))
    assert checkpoints.active(chat.bench.db, SCOPE) is None
    assert any("RuntimeError" in reason for reason in chat.bench.reasons())
