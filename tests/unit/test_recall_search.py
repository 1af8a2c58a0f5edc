"""Search: both arms, what is not stored yet, scopes, and doing without one part after the other."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory.types import Scope, StoredMessage
from recall.candidates import Asked, find
from recall.meaning_arm import QuerySpace
from recall.search import Query, search_tail
from store import spaces
from tests.unit.recall_support import ANN, NOW, Memory, memory

USER = Scope("ann")
OTHER = Scope("ann", session_id="s2")


@pytest.fixture
async def known(tmp_path: Path) -> AsyncIterator[Memory]:
    async with memory(tmp_path) as made:
        yield made


async def found(known: Memory, query: str, scope: Scope = USER, limit: int = 5) -> list[str]:
    return [hit.content for hit in (await known.reader.search(scope, query, limit)).hits]


async def test_the_best_match_comes_first_and_says_why(known: Memory) -> None:
    await known.store("The kettle is blue.")
    await known.store("The kettle in the kitchen whistles at noon.")
    result = await known.reader.search(USER, "which kettle whistles at noon?")
    best = result.hits[0]
    assert best.content.endswith("at noon.") and best.score == 1.0
    assert 0 < best.parts["text"] <= 1 and best.parts["meaning"] > 0
    assert (best.session_id, best.role, best.occurred_at) == ("s1", "user", NOW)
    assert result.degraded == [] and result.lag.unread == 0 and result.lag.owed == {}


async def test_chinese_is_found_by_two_characters(known: Memory) -> None:
    await known.store("我的猫叫小黑，它喜欢睡觉。")
    await known.store("昨天下了一场大雨。")
    assert (await found(known, "我的猫叫什么名字？"))[0].startswith("我的猫")


async def test_a_session_narrows_the_search(known: Memory) -> None:
    await known.store("kettle one")
    await known.store("kettle two", OTHER)
    assert await found(known, "kettle", OTHER) == ["kettle two"]
    assert set(await found(known, "kettle")) == {"kettle one", "kettle two"}


async def test_kinds_are_those_asked_for(known: Memory) -> None:
    await known.store("kettle talk")
    known.summarise("A summary about the kettle.")
    only = await known.reader.search(USER, "kettle", kinds=("summary",))
    assert [(h.kind, h.turn) for h in only.hits] == [("summary", 1)]
    assert (await known.reader.search(USER, "kettle", kinds=("fact",))).hits == []
    assert {h.kind for h in (await known.reader.search(USER, "kettle")).hits} == {"message", "summary"}


async def test_another_user_or_namespace_finds_nothing(known: Memory) -> None:
    await known.store("the kettle is mine")
    assert await found(known, "kettle", Scope("bob")) == []
    assert await found(known, "kettle", Scope("ann", "elsewhere")) == []
    assert await found(known, "kettle", Scope("bob", session_id="s1")) == []


async def test_what_is_not_stored_yet_is_found_in_its_session(known: Memory) -> None:
    await known.store("the kettle is old")
    event = await known.publish("the kettle is broken, buy another")
    result = await known.reader.search(ANN, "buy a kettle")
    first = result.hits[0]
    assert (first.event_id, first.id, first.turn) == (event, 0, None)
    assert len(result.hits) == 2 and result.lag.unread == 1
    assert "buy another" not in " ".join(await found(known, "buy a kettle", OTHER))


async def test_a_message_in_both_places_is_one_hit(known: Memory) -> None:
    await known.store("the kettle is old", event_id="e1")
    await known.publish("the kettle is old", event_id="e1")
    result = await known.reader.search(ANN, "kettle")
    assert [hit.id for hit in result.hits] == [1]


async def test_what_says_the_same_is_one_hit(known: Memory) -> None:
    await known.store("The kettle  is old")
    await known.store("the KETTLE is old")
    assert len(await found(known, "kettle")) == 1


async def test_the_limit_holds_and_pages_through_many(known: Memory) -> None:
    for number in range(30):
        await known.store(f"kettle number {number}")
    assert len(await found(known, "kettle", limit=3)) == 3
    assert len(await found(known, "kettle", limit=25)) == 25


async def test_an_answer_beside_the_words_gains(known: Memory) -> None:
    await known.store("which kettle did you buy?")
    await known.store("the red one", role="assistant")
    await known.store("the green one", OTHER)
    hits = (await known.reader.search(USER, "which kettle did you buy?")).hits
    near = {hit.content: hit.parts.get("near", 0.0) for hit in hits}
    assert near["the red one"] > near["the green one"] == 0.0


@pytest.mark.parametrize("query", ['"', "'; DROP TABLE x", "AND OR NOT", "scope : s1", "*", "a" * 5_000, "\x00"])
async def test_no_query_is_an_error(known: Memory, query: str) -> None:
    await known.store("the kettle")
    await known.reader.search(USER, query)


async def test_without_an_embedder_words_and_age_decide(tmp_path: Path) -> None:
    async with memory(tmp_path, embed=False) as known:
        await known.store("the kettle is old", at=NOW - 90 * 86_400)
        await known.store("a kettle is new", at=NOW)
        result = await known.reader.search(USER, "kettle")
        assert [hit.content for hit in result.hits] == ["a kettle is new", "the kettle is old"]
        assert [note.part for note in result.degraded] == ["query_embedding"]
        assert "keyword_age" in result.hits[0].parts


async def test_another_models_memories_are_searched_by_words_with_a_note(known: Memory) -> None:
    await known.store("the kettle is old")
    other = spaces.ensure_space(known.db, "newer", 32, NOW)
    spaces.activate(known.db, other)
    result = await known.reader.search(USER, "kettle")
    assert len(result.hits) == 1
    assert [note.part for note in result.degraded] == ["vectors"] and "newer" in result.degraded[0].reason


async def test_a_space_without_its_table_is_a_note(known: Memory) -> None:
    await known.store("the kettle is old")
    space = spaces.active_space(known.db)
    assert space is not None
    known.db.script("test", f"DROP TABLE {space.table}")
    query = QuerySpace(b"\0" * 4 * 64, space.model, space.dimensions)
    result = find(known.db, USER, Asked(["kettl"], ["kettl"], query, ["message"]))
    assert len(result.pool.keys) == 1 and [note.part for note in result.degraded] == ["vectors"]


def test_the_tail_alone_is_searched_by_words() -> None:
    tail = [
        StoredMessage("e1", "s1", "user", "the kettle is old", NOW),
        StoredMessage("e2", "s1", "user", "buy a kettle and tea", NOW),
    ]
    hits = search_tail(Query("buy a kettle", 5), tail, NOW).hits
    assert [hit.event_id for hit in hits] == ["e2", "e1"]
    assert search_tail(Query("kettle", 5, kinds=("summary",)), tail, NOW).hits == []
    assert search_tail(Query("", 5), tail, NOW).hits == []
