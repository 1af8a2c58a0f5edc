"""What a search can be narrowed to, asked as of an earlier moment, and made to explain."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory.filters import Filter
from memory.types import Kind, Scope
from store import facts, timeline
from tests.unit.facts_support import fact
from tests.unit.recall_support import ANN, NOW, Memory, memory
from tests.unit.store_support import session

USER = Scope("ann")
DAY = 86_400.0


@pytest.fixture
async def known(tmp_path: Path) -> AsyncIterator[Memory]:
    async with memory(tmp_path) as made:
        yield made


async def found(known: Memory, query: str, by: Filter, *kinds: Kind) -> list[str]:
    hits = (await known.reader.search(USER, query, 10, kinds or ("message", "summary", "fact"), by=by)).hits
    return [hit.content for hit in hits]


async def test_times_and_metadata_narrow(known: Memory) -> None:
    await known.store("kettle one", at=NOW - 3 * DAY, meta='{"shop": "Porto", "price": 3}')
    await known.store("kettle two", at=NOW - DAY)
    assert await found(known, "kettle", Filter(since=NOW - 2 * DAY)) == ["kettle two"]
    assert await found(known, "kettle", Filter(until=NOW - 2 * DAY)) == ["kettle one"]
    assert await found(known, "kettle", Filter(metadata={"shop": "Porto", "price": 3})) == ["kettle one"]
    assert await found(known, "kettle", Filter(metadata={"shop": "Porto", "price": 4})) == []
    assert await found(known, "kettle", Filter(as_of=NOW - 2 * DAY)) == ["kettle one"]


async def test_as_of_an_earlier_moment_the_old_fact_holds(known: Memory) -> None:
    old = fact(known.db, "old", "Ann lives in Berlin", said_at=NOW - 20 * DAY)
    new = fact(known.db, "new", "Ann lives in Oslo", said_at=NOW - 10 * DAY)
    with known.db.atomic():
        facts.supersede(known.db, old, new, actor="gate", reason="moved", now=NOW)
    assert await found(known, "where does Ann live?", Filter(), "fact") == ["Ann lives in Oslo"]
    then = Filter(as_of=NOW - 15 * DAY)
    assert await found(known, "where does Ann live?", then, "fact") == ["Ann lives in Berlin"]
    both = await found(known, "where does Ann live?", Filter(include=("superseded",)), "fact")
    assert set(both) == {"Ann lives in Oslo", "Ann lives in Berlin"}
    assert await found(known, "where does Ann live?", Filter(as_of=NOW - 30 * DAY), "fact") == []


async def test_facts_are_narrowed_by_tags_type_and_confidence(known: Memory) -> None:
    fact(known.db, "a", "Ann likes tea", tags=("home", "food"), confidence=0.9, memory_type="preference")
    fact(known.db, "b", "Ann drinks tea at noon", tags=("home",), confidence=0.6)
    assert await found(known, "tea", Filter(tags=("food", "home"))) == ["Ann likes tea"]
    assert await found(known, "tea", Filter(types=("preference",))) == ["Ann likes tea"]
    assert await found(known, "tea", Filter(min_confidence=0.8), "fact") == ["Ann likes tea"]


async def test_the_timeline_is_found_where_it_is_asked_for(known: Memory) -> None:
    await known.store("the kettle broke")
    row = session(known.db, ANN)
    entry = timeline.NewEntry(row.scope_id, "day", "2027-01-15", "A day about the kettle.", NOW - DAY, NOW, 40)
    timeline.put(known.db, entry, NOW)
    assert await found(known, "kettle", Filter()) == ["the kettle broke"]
    [hit] = (await known.reader.search(USER, "kettle", 5, ("timeline",))).hits
    assert (hit.kind, hit.content, hit.metadata["level"]) == ("timeline", "A day about the kettle.", "day")
    assert (await known.reader.search(replace(USER, user_id="bob"), "kettle", 5, ("timeline",))).hits == []


async def test_a_named_time_and_the_newest_are_found_without_their_words(tmp_path: Path) -> None:
    async with memory(tmp_path, embed=False) as known:
        await known.store("we bought a boat", at=NOW - DAY)
        await known.store("we sold a barn", at=NOW - 9 * DAY)
        assert await found(known, "what happened yesterday?", Filter()) == ["we bought a boat"]
        assert set(await found(known, "anything new recently?", Filter())) == {"we bought a boat", "we sold a barn"}
        assert await found(known, "what happened in 2011?", Filter()) == []


async def test_an_explanation_names_arms_and_what_was_dropped(known: Memory) -> None:
    await known.store("the kettle is old")
    await known.store("The kettle  is OLD")
    await known.store("a boat")
    plain = await known.reader.search(USER, "old kettle", 2)
    assert plain.dropped == [] and all(not hit.why for hit in plain.hits)
    told = await known.reader.search(USER, "old kettle", 2, explain=True)
    assert told.hits[0].why["ranks"]["text"] in (1, 2) and told.hits[0].why["kept"] == "ranked"
    assert [d.reason.split()[0:3] for d in told.dropped] == [["says", "the", "same"]]
