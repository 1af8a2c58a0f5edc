"""When a checkpoint stands in for older messages, how it is shown, and what is counted of it."""

from pathlib import Path
from typing import Any

import pytest

from memory.compaction.parts import as_parts, no_parts
from memory.compaction.thresholds import CompactionRules
from memory.types import Scope
from recall.results import ContextResult
from store import checkpoints, sessions
from tests.unit.recall_support import ANN, KEYS, NOW, Memory, memory

RULES = CompactionRules(window_tokens=1_000, window_messages=40)


def compacted(known: Memory, boundary: int, *decisions: str, scope: Scope = ANN) -> None:
    """A checkpoint of the scope's session, as a worker writes it."""
    session = sessions.get(known.db, scope)
    assert session is not None
    parts = as_parts({**no_parts(), "decisions": list(decisions)})
    begun = checkpoints.begin(known.db, session.id, boundary, "t", NOW, 120.0)
    assert begun is not None
    written: dict[str, Any] = {"token_count": 9, "message_count": boundary, "source_tokens": 99, "method": "rules"}
    assert checkpoints.succeed(
        known.db, begun, "t", base=None, summary=parts.model_dump_json(), now=NOW, keep=3, **written
    )


def grown(known: Memory, tokens: int) -> None:
    """The session has so many tokens."""
    session = sessions.get(known.db, ANN)
    assert session is not None
    session.token_count = tokens
    with known.db.atomic():
        sessions.save_many(known.db, [session])


def spoken(context: ContextResult) -> list[str]:
    return [m["content"] for m in context.messages if m["role"] != "system"]


async def counted(known: Memory) -> dict[str, int]:
    await known.reader._tally.aclose()
    read_counts_of = await known.redis.hgetall(KEYS.read_counts)
    return {name.decode(): int(count) for name, count in read_counts_of.items()}


async def chat(known: Memory, count: int) -> None:
    for number in range(1, count + 1):
        await known.store(f"m{number}", role="user" if number % 2 else "assistant")


async def test_from_half_the_models_window_it_stands_before_what_follows_it(tmp_path: Path) -> None:
    async with memory(tmp_path, embed=False, chat_window=1_000, compaction=RULES) as known:
        await chat(known, 6)
        compacted(known, 4, "fly on 12 May")
        grown(known, 499)
        assert spoken(await known.reader.build_context(ANN, "?")) == ["m1", "m2", "m3", "m4", "m5", "m6"]
        grown(known, 500)
        context = await known.reader.build_context(ANN, "?")
        assert spoken(context) == ["m5", "m6"]
        assert context.provenance[0]["part"] == "checkpoint"
        assert "fly on 12 May" in context.messages[0]["content"]
        wide = await known.reader.build_context(ANN, "?", model_window=100_000)
        assert spoken(wide) == ["m1", "m2", "m3", "m4", "m5", "m6"]


async def test_what_is_not_stored_yet_follows_too(tmp_path: Path) -> None:
    async with memory(tmp_path, embed=False, chat_window=1_000, compaction=RULES) as known:
        await chat(known, 6)
        compacted(known, 6, "fly on 12 May")
        grown(known, 900)
        await known.publish("m7")
        assert spoken(await known.reader.build_context(ANN, "?")) == ["m7"]


async def test_nobody_elses_is_shown(tmp_path: Path) -> None:
    async with memory(tmp_path, embed=False, chat_window=1_000, compaction=RULES) as known:
        await chat(known, 6)
        compacted(known, 4, "fly on 12 May")
        grown(known, 900)
        context = await known.reader.build_context(Scope("bob", session_id="s1"), "?")
        assert context.messages == []


async def test_one_that_cannot_be_read_is_a_note_and_the_messages_stand_for_themselves(tmp_path: Path) -> None:
    async with memory(tmp_path, embed=False, chat_window=1_000, compaction=RULES) as known:
        await chat(known, 6)
        compacted(known, 4, "fly on 12 May")
        grown(known, 900)
        known.db.script("broken", "UPDATE session_checkpoints SET summary = '{}'")
        context = await known.reader.build_context(ANN, "?")
        assert spoken(context) == ["m1", "m2", "m3", "m4", "m5", "m6"]
        assert [note.part for note in context.degraded if note.part == "checkpoint"] == ["checkpoint"]
        assert await counted(known) == {"l2_triggered": 1, "l2_failed": 1}


async def test_the_levels_are_counted_beside_the_reply(tmp_path: Path) -> None:
    async with memory(tmp_path, embed=False, chat_window=1_000, compaction=RULES) as known:
        await chat(known, 2)
        await known.reader.build_context(ANN, "?")
        assert await counted(known) == {}
        grown(known, 900)
        await known.reader.build_context(ANN, "?")
        assert await counted(known) == {"l2_triggered": 1, "l2_waiting": 1}
        compacted(known, 1, "fly on 12 May")
        await known.store("x" * 3_000)
        await known.reader.build_context(ANN, "?", tokens=5_000)
        assert await counted(known) == {
            "l1_triggered": 1, "l1_succeeded": 1, "l2_triggered": 2, "l2_waiting": 1, "l2_succeeded": 1,
        }  # fmt: skip


async def test_a_checkpoint_without_room_has_failed(tmp_path: Path) -> None:
    async with memory(tmp_path, embed=False, chat_window=1_000, compaction=RULES) as known:
        await chat(known, 4)
        compacted(known, 2, "fly on 12 May")
        grown(known, 900)
        context = await known.reader.build_context(ANN, "?", tokens=1)
        assert context.statistics["kept"]["checkpoint"] == 0
        assert await counted(known) == {"l2_triggered": 1, "l2_failed": 1}


async def test_counts_that_redis_did_not_take_are_sent_with_the_next(tmp_path: Path) -> None:
    async with memory(tmp_path, embed=False, chat_window=1_000, compaction=RULES) as known:
        await chat(known, 2)
        grown(known, 900)
        known.redis_server.connected = False
        await known.reader.build_context(ANN, "?")
        await known.reader._tally.aclose()
        known.redis_server.connected = True
        await known.reader.build_context(ANN, "?")
        assert await counted(known) == {"l2_triggered": 2, "l2_waiting": 2}


async def test_counting_writes_nothing_to_sqlite(tmp_path: Path) -> None:
    async with memory(tmp_path, embed=False, chat_window=1_000, compaction=RULES) as known:
        await chat(known, 2)
        grown(known, 900)
        before = known.db.pragma("data_version")
        await known.reader.build_context(ANN, "?")
        await counted(known)
        assert known.db.pragma("data_version") == before


@pytest.mark.parametrize("tokens", [10, 60, 200, 1_000])
async def test_a_context_of_any_size_stays_within_it(tmp_path: Path, tokens: int) -> None:
    async with memory(tmp_path, embed=False, chat_window=1_000, compaction=RULES) as known:
        await chat(known, 6)
        compacted(known, 4, *(f"Ana took ferry {n} to Hven." for n in range(99)))
        grown(known, 900)
        context = await known.reader.build_context(ANN, "?", tokens=tokens)
        assert context.statistics["over_budget"] == 0
