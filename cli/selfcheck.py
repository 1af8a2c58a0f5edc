"""The self-check: tell the system five facts, restart everything, ask for them in a new session."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

from cli import facts
from cli.backlog import Backlog, handled, words
from cli.facts import Fact
from cli.scripted_chat import Reply, scripted_chat
from cli.stack import Stack, running
from cli.supervisor import Say
from config.settings import Settings
from recall.database import ReadDatabase
from sidestream.ids import new_id
from sidestream.keys import Keys
from store.redis_client import connect_async

PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Told:
    """A fact and the event that told it."""

    fact: Fact
    event_id: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A fact and what came back when it was asked for."""

    told: Told
    reply: Reply

    @property
    def source(self) -> str | None:
        """What the telling message says, where it is among the sources of the answer."""
        for source in self.reply.sources:
            if source.get("event_id") == self.told.event_id:
                return str(source.get("content"))
        return None

    @property
    def passed(self) -> bool:
        """The value is in the answer, and the message that told it is quoted as a source."""
        value, source = self.told.fact.value, self.source
        return value in self.reply.text and source is not None and value in source


async def self_check(found: Settings, say: Say, *, rng: random.Random | None = None) -> bool:
    """Tells, restarts, asks, and says what it does. True if all five came back with their sources."""
    drawn = facts.draw(rng or random.SystemRandom())
    user, first, second = f"self-check-{new_id()}", new_id(), new_id()
    say("no terminal here, so this is a self-check: memory must survive a restart")
    say(f"data folder {found.data_dir.resolve()}")
    say("1/4 starting everything")
    async with running(found, say) as stack:
        _describe(stack, say)
        say(f"2/4 telling five facts, drawn at random, in session {first}")
        told = await _tell(stack, user, first, drawn, say)
        await _until_kept(stack, say)
        say("3/4 stopping every process and starting again")
    say("    all stopped")
    async with running(found, say) as stack:
        _describe(stack, say)
        say(f"4/4 asking for the facts in a new session, {second}")
        asked = await _ask(stack, user, second, told, say)
    passed = sum(a.passed for a in asked)
    say(f"{passed} of {len(asked)} facts came back with their source")
    return passed == len(asked)


async def _tell(stack: Stack, user: str, session: str, drawn: Sequence[Fact], say: Say) -> list[Told]:
    told = []
    async with scripted_chat(stack.settings, user_id=user, session_id=session) as chat:
        for fact in drawn:
            say(f"    told:  {fact.telling}")
            reply = await chat.say(fact.telling)
            told.append(Told(fact, reply.said_id))
    return told


async def _until_kept(stack: Stack, say: Say) -> None:
    started = time.monotonic()
    redis, database = connect_async(stack.redis_url), ReadDatabase(stack.settings.database)
    try:
        keys, kinds = Keys(stack.settings.redis_prefix), handled(stack.settings)
        backlog = Backlog(redis, keys, database, patience=PATIENCE, kinds=kinds)
        await backlog.done(lambda _: None)
    finally:
        database.close()
        await redis.aclose()
    say(f"    the workers have {words(kinds)} them ({time.monotonic() - started:.1f} s)")


async def _ask(stack: Stack, user: str, session: str, told: Sequence[Told], say: Say) -> list[Asked]:
    asked = []
    async with scripted_chat(stack.settings, user_id=user, session_id=session) as chat:
        for one in told:
            result = Asked(one, await chat.say(one.fact.question))
            asked.append(result)
            say(f"    asked: {one.fact.question}")
            say(f"    reply: {' '.join(result.reply.text.split())}")
            say(f"    source: {_source(result)}")
            say("    ok" if result.passed else f"    FAILED: expected {one.fact.value!r}, told by {one.event_id}")
    return asked


def _source(result: Asked) -> str:
    if result.source is None:
        return "the message that told it is not among the sources"
    return f"{result.source!r} (event {result.told.event_id})"


def _describe(stack: Stack, say: Say) -> None:
    running_now = ", ".join(f"{name} {child.pid}" for name, child in stack.children.items())
    say(f"    running: {running_now}")
