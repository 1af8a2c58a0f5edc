"""What goes into a context: the window, what is not stored yet, summaries, and what other sessions held."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from api import views
from memory.types import Scope, StoredMessage
from recall.results import ContextResult
from store import sessions, timeline
from tests.unit.recall_support import ANN, NOW, Memory, memory

OTHER = Scope("ann", session_id="s2")
BOB = Scope("bob", session_id="s9")


@pytest.fixture
async def known(tmp_path: Path) -> AsyncIterator[Memory]:
    async with memory(tmp_path) as made:
        yield made


def spoken(context: ContextResult) -> list[str]:
    """The window's contents, as the model gets them."""
    return [m["content"] for m in context.messages if m["role"] != "system"]


def framed(context: ContextResult, part: str) -> str:
    """The text of one part."""
    places = [p["index"] for p in context.provenance if p["part"] == part]
    return "\n".join(context.messages[i]["content"] for i in places)


def own(text: str, event_id: str) -> StoredMessage:
    return StoredMessage(event_id, "s1", "user", text, NOW)


async def test_the_window_is_what_is_stored_and_then_what_is_not(known: Memory) -> None:
    await known.store("one")
    await known.store("two", role="assistant")
    await known.publish("three")
    context = await known.reader.build_context(ANN, "three")
    assert spoken(context) == ["one", "two", "three"]
    assert context.lag.unread == 1 and not context.degraded


async def test_a_message_both_stored_and_in_the_tail_stands_once(known: Memory) -> None:
    await known.store("one", event_id="e1")
    await known.publish("one", event_id="e1")
    await known.publish("two", event_id="e2")
    context = await known.reader.build_context(ANN, "two", own=[own("one", "e1"), own("two", "e2")])
    assert spoken(context) == ["one", "two"]


async def test_an_old_message_that_is_remembered_does_not_come_back_as_new(tmp_path: Path) -> None:
    async with memory(tmp_path, window_messages=2) as known:
        for number in range(4):
            await known.store(f"m{number}", event_id=f"e{number}")
        context = await known.reader.build_context(ANN, "?", own=[own("m0", "e0"), own("m9", "e9")])
        assert spoken(context) == ["m3", "m9"]


async def test_the_readers_own_messages_stand_in_their_place(known: Memory) -> None:
    await known.publish("two", event_id="e2")
    await known.publish("somebody else", event_id="x")
    mine = [own("one", "e1"), own("two", "e2"), own("three", "e3")]
    context = await known.reader.build_context(ANN, "three", own=mine)
    assert spoken(context) == ["one", "two", "somebody else", "three"]


async def test_other_sessions_are_recalled_with_their_provenance(known: Memory) -> None:
    event = await known.store("My tortoise Olga eats dandelions.", OTHER)
    await known.publish("What does my tortoise eat?")
    context = await known.reader.build_context(ANN, "What does my tortoise eat?")
    assert "dandelions" in framed(context, "recalled")
    [source] = next(p["sources"] for p in context.provenance if p["part"] == "recalled")
    assert (source["event_id"], source["session_id"]) == (event, "s2")
    assert context.reason == "wanted" and context.hits[0].parts


async def test_what_stands_in_the_window_is_not_recalled_too(known: Memory) -> None:
    await known.store("My tortoise Olga eats dandelions.")
    context = await known.reader.build_context(ANN, "What does my tortoise eat?")
    assert framed(context, "recalled") == "" and len(spoken(context)) == 1


async def test_older_messages_of_the_session_are_recalled_beyond_the_window(tmp_path: Path) -> None:
    async with memory(tmp_path, window_messages=1) as known:
        await known.store("My tortoise Olga eats dandelions.")
        await known.store("Anyway.")
        context = await known.reader.build_context(ANN, "What does my tortoise eat?")
        assert spoken(context) == ["Anyway."] and "Olga" in framed(context, "recalled")


async def test_a_long_tail_is_searched_beyond_the_window(tmp_path: Path) -> None:
    async with memory(tmp_path, window_messages=1) as known:
        await known.publish("My tortoise Olga eats dandelions.")
        await known.publish("Anyway.")
        context = await known.reader.build_context(ANN, "What does my tortoise eat?")
        assert spoken(context) == ["Anyway."] and context.hits[0].content.startswith("My tortoise")
        assert context.hits[0].id == 0


async def test_another_users_memory_never_comes_in(known: Memory) -> None:
    await known.store("My tortoise Olga eats dandelions.", BOB)
    await known.publish("My tortoise is secret.", Scope("bob", session_id="s1"))
    context = await known.reader.build_context(ANN, "What does my tortoise eat?")
    assert not context.messages


async def test_a_session_of_somebody_else_is_as_good_as_none(known: Memory) -> None:
    await known.store("private words", BOB)
    context = await known.reader.build_context(Scope("ann", session_id="s9"), "words")
    assert not context.messages


async def test_a_shared_session_shows_everybodys_words(known: Memory) -> None:
    room = Scope("bob", session_id="room")
    await known.store("hello from bob", room, shared=True)
    await known.publish("bob again", room)
    context = await known.reader.build_context(Scope("ann", session_id="room"), "")
    assert spoken(context) == ["hello from bob", "bob again"]


async def test_summaries_of_the_session_stand_in_order_and_only_there(known: Memory) -> None:
    await known.store("hello", role="assistant")
    for turn in range(1, 4):
        known.summarise(f"Tortoise talk number {turn}.", turn=turn)
    known.summarise("The tortoise of another session.", OTHER)
    context = await known.reader.build_context(ANN, "tortoise")
    lines = framed(context, "summaries")
    assert lines.index("number 1") < lines.index("number 2") < lines.index("number 3")
    assert "another session" in framed(context, "recalled") and "number" not in framed(context, "recalled")


async def test_the_offline_responders_echoes_are_not_recalled(known: Memory) -> None:
    await known.store("I remember: tortoises eat.", OTHER, role="assistant", meta='{"model": "offline"}')
    await known.store("My tortoise Olga eats.", OTHER)
    context = await known.reader.build_context(ANN, "What does my tortoise eat?")
    assert [hit.content for hit in context.hits] == ["My tortoise Olga eats."]
    assert len((await known.reader.search(OTHER, "tortoise")).hits) == 2


@pytest.mark.parametrize(
    ("options", "query", "reason"),
    [
        ({"first_round_empty": True}, "What does my tortoise eat?", "first_round_empty"),
        ({"min_query_length": 9}, "tortoise", "min_query_length"),
        ({"long_term_trigger": ("remember",)}, "What does my tortoise eat?", "long_term_trigger"),
    ],
)
async def test_the_rules_keep_memories_out_and_embed_nothing_in_vain(
    tmp_path: Path, options: dict[str, Any], query: str, reason: str
) -> None:
    async with memory(tmp_path, **options) as known:
        await known.store("My tortoise Olga eats dandelions.", OTHER)
        known.server.clear()
        context = await known.reader.build_context(ANN, query)
        assert (context.reason, list(context.hits)) == (reason, [])
        asked = len(known.server.requests("embeddings"))
        assert asked == (1 if reason == "first_round_empty" else 0)


async def test_a_trigger_word_lets_them_in(tmp_path: Path) -> None:
    async with memory(tmp_path, long_term_trigger=("remember",)) as known:
        await known.store("My tortoise Olga eats dandelions.", OTHER)
        context = await known.reader.build_context(ANN, "Do you REMEMBER my tortoise?")
        assert context.hits


async def test_the_budget_holds_and_the_runtime_text_stands_first(known: Memory) -> None:
    for number in range(10):
        await known.store(f"number {number} " + "word " * 100)
    context = await known.reader.build_context(ANN, "?", tokens=400, runtime="Be brief.")
    assert context.messages[0] == {"role": "system", "content": "Be brief."}
    assert context.statistics["tokens"]["total"] <= 400
    assert "number 9" in spoken(context)[-1]


async def test_a_context_asks_for_one_embedding(known: Memory) -> None:
    await known.store("My tortoise Olga eats dandelions.", OTHER)
    known.server.clear()
    for _ in range(3):
        await known.reader.build_context(ANN, "What does my tortoise eat?")
    assert len(known.server.requests("embeddings")) == 1


def happened(known: Memory, day: int, text: str) -> None:
    row = sessions.get(known.db, ANN)
    assert row is not None
    at = NOW - day * 86_400
    entry = timeline.NewEntry(row.scope_id, "day", f"day -{day}", text, at - 60, at, len(text))
    timeline.put(known.db, entry, NOW)


async def test_the_older_timeline_comes_last_and_only_if_asked_for(tmp_path: Path) -> None:
    async with memory(tmp_path, embed=False) as known:
        await known.store("which ferry?", at=NOW)
        await known.store("another's", BOB, at=NOW)
        happened(known, 0, "this is in the window still")
        happened(known, 2, "Ann sailed to Hven")
        happened(known, 3, "Ann bought a map")
        plain = await known.reader.build_context(ANN, "and then?")
        assert "timeline" not in plain.context.statistics["kept"]
        found = await known.reader.build_context(ANN, "and then?", timeline=5)
        assert found.messages[:-1] == plain.messages
        told = found.messages[-1]["content"]
        assert told.index("Ann bought a map") < told.index("Ann sailed to Hven")
        assert "in the window still" not in told
        assert found.context.provenance[-1]["part"] == "timeline"
        assert found.context.statistics["kept"]["timeline"] == 2
        answer = views.context(found, None)
        assert answer.statistics.parts["timeline"].items == 2
        assert [p.kind for p in answer.provenance if p.part == "timeline"] == ["timeline", "timeline"]
        total = found.context.statistics["tokens"]["total"]
        assert total == plain.context.statistics["tokens"]["total"] + found.context.statistics["tokens"]["timeline"]
        other = await known.reader.build_context(BOB, "and then?", timeline=5)
        assert "Hven" not in str(other.messages)


@pytest.mark.parametrize("tokens", [20, 60, 70, 80, 90, 200])
async def test_the_timeline_takes_only_what_is_left(tmp_path: Path, tokens: int) -> None:
    async with memory(tmp_path, embed=False) as known:
        await known.store("which ferry?", at=NOW)
        for day in range(2, 9):
            happened(known, day, f"Ann wrote report {day} about what she saw in the harbour")
        found = await known.reader.build_context(ANN, "", tokens=tokens, timeline=7)
        plain = await known.reader.build_context(ANN, "", tokens=tokens)
        counts = found.context.statistics
        assert counts["tokens"]["total"] <= tokens
        assert counts["kept"]["timeline"] + counts["dropped"]["timeline"] == 7
        assert found.messages[: len(plain.messages)] == plain.messages
