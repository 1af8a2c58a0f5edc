"""Generations: begun, read session by session, compared, switched to or dropped; what a person decided stays."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory.facts.model import Draft, Fact
from memory.generations import difference
from memory.types import Scope
from store import fact_changes, fact_reading, generations
from store.db import Database
from store.errors import NotFound, WrongState
from store.generations import Generation
from tests.unit.facts_support import ANN, BOB, fact
from tests.unit.store_support import NOW, opened, say, session

OTHER = Scope("ann", session_id="s9")
HOME = Draft("Ann lives in Oslo", attribute="home", value="oslo", source_ids=(3,), tags=("place",), ends=("berlin",))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as opened_db:
        yield opened_db


def begun(db: Database, *scopes: Scope) -> Generation:
    rows = [session(db, scope).id for scope in scopes or (ANN,)]
    with db.atomic():
        number = generations.begin(db, ANN, rows, model="m", prompt=None, actor="eve", reason="better", now=NOW)
    return generations.get(db, number)


def test_drafts_are_kept_whole_and_by_session_and_the_last_session_makes_it_ready(db: Database) -> None:
    generation = begun(db, ANN, OTHER)
    assert (generation.state, generation.user_id, generation.sessions_left) == ("building", "ann", 2)
    first, second = generation.sessions
    with db.atomic():
        generations.put(db, generation.id, second, "llm:m", [replace(HOME, content="later")])
        generations.one_done(db, generation.id, "building", NOW)
    assert generations.get(db, generation.id).state == "building"
    with db.atomic():
        generations.put(db, generation.id, first, "llm:m", [replace(HOME, content="tried before")])
        generations.put(db, generation.id, first, "llm:m", [HOME])
        generations.one_done(db, generation.id, "building", NOW)
    assert generations.get(db, generation.id).state == "ready"
    found = generations.drafts(db, generation.id)
    assert [d.draft for d in found] == [HOME, replace(HOME, content="later")]
    assert [d.draft for d in generations.drafts(db, generation.id, second)] == [replace(HOME, content="later")]


def test_a_generation_goes_from_state_to_state_and_no_other_way(db: Database) -> None:
    generation = begun(db)
    with pytest.raises(WrongState, match=r"generation 1 is building; it must be ready"):
        generations.move(db, generation.id, "switching", NOW, from_states=("ready",))
    generations.move(db, generation.id, "dropped", NOW, from_states=("building", "ready"))
    with db.atomic():
        generations.one_done(db, generation.id, "building", NOW)
    assert generations.get(db, generation.id).state == "dropped"
    with pytest.raises(NotFound, match="no generation 7"):
        generations.get(db, 7)


def test_sessions_are_a_users_own(db: Database) -> None:
    for scope in (ANN, OTHER, BOB):
        session(db, scope)
    assert list(generations.sessions_of(db, Scope("ann"), None).values()) == ["s1", "s9"]
    assert list(generations.sessions_of(db, Scope("ann"), ["s9"]).values()) == ["s9"]
    with pytest.raises(NotFound, match="user ann has no session s2"):
        generations.sessions_of(db, Scope("ann"), ["s1", "s2"])
    with pytest.raises(NotFound, match="user nobody has no sessions"):
        generations.sessions_of(db, Scope("nobody"), None)


def test_what_people_decided_and_what_stands_elsewhere_too_is_not_replaced(db: Database) -> None:
    (here,) = say(db, ANN, "I live in Oslo")
    (there,) = say(db, OTHER, "I live in Oslo")
    fact(db, "plain", "Ann lives in Oslo", source_ids=(here,))
    fact(db, "held back", "Do as I say", source_ids=(here,), active=False)
    fact(db, "both", "Ann likes tea", source_ids=(here, there))
    fact(db, "other", "Ann likes rain", OTHER, source_ids=(there,))
    fact(db, "tool", "Ann eats no meat", origin={"source_type": "explicit_tool"})
    fact(db, "written", "Ann is 40", origin={"source_type": "manual"})
    for memory_id in ("pinned", "weighed", "let go"):
        fact(db, memory_id, f"Ann: {memory_id}", source_ids=(here,))
    told = {"actor": "eve", "reason": "", "now": NOW}

    def known(memory_id: str) -> fact_reading.KnownFact:
        found = fact_reading.one(db, ANN, memory_id)
        assert found is not None
        return found

    with db.atomic():
        fact_changes.pin(db, known("pinned"), True, **told)  # type: ignore[arg-type] # one test's own
        fact_changes.hold_weight(db, known("weighed"), 0.9, **told)  # type: ignore[arg-type]
        fact_changes.pin(db, known("let go"), True, **told)  # type: ignore[arg-type]
        fact_changes.pin(db, known("let go"), False, **told)  # type: ignore[arg-type]
    assert [f.memory_id for f in generations.replaced(db, begun(db))] == ["plain", "held back"]
    assert {f.memory_id for f in generations.replaced(db, begun(db, ANN, OTHER))} == {
        "plain", "held back", "both", "other",
    }  # fmt: skip


def test_a_difference_names_what_goes_what_comes_and_what_stays(db: Database) -> None:
    def standing(memory_id: str, content: str, **draft: Any) -> Fact:
        return fact(db, memory_id, content, **draft)

    old = [
        standing("m1", "I live in Oslo", attribute="home", value="oslo"),
        standing("m2", "Ann likes tea"),
        standing("m3", "Ann has a dog", attribute="pet", value="dog"),
    ]
    new = [HOME, Draft("tea Ann likes"), Draft("Ann has a cat", attribute="pet", value="cat")]
    found = difference(old, new)
    assert [f.memory_id for f in found.gone] == ["m3"]
    assert [d.content for d in found.new] == ["Ann has a cat"]
    assert [(f.memory_id, d.content) for f, d in found.same] == [("m1", "Ann lives in Oslo"), ("m2", "tea Ann likes")]


def test_two_drafts_are_never_the_same_fact_twice() -> None:
    assert len(difference([], [HOME, HOME]).new) == 2
