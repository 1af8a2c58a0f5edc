"""Facts: written as candidates, activated, strengthened, closed and never overwritten; each change leaves a line."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory.facts.model import Draft, Fact, Origin
from memory.terms import query_terms
from memory.types import Scope
from store import facts, fulltext, spaces, vectors
from store.db import Database
from tests.unit.store_support import NOW, opened, session, vector

ALICE = Scope("alice", session_id="s")
BOB = Scope("bob", session_id="b")
HOME = Draft(
    "I live in Berlin", attribute="home", value="berlin", single=True, source_ids=(1,), said_at=NOW, importance=0.6
)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as opened_db:
        yield opened_db


def stored(db: Database, memory_id: str, draft: Draft, scope: Scope = ALICE, *, active: bool = True) -> Fact:
    row = session(db, scope)
    with db.atomic():
        origin = Origin(row.scope_id, "auto_consolidation", "rules/1", row.id)
        new = facts.insert(db, memory_id, draft, origin, actor="extractor", reason="said", now=NOW)
        assert new is not None
        found = facts.row(db, new)
        assert found is not None
        if active:
            facts.activate(db, found, actor="gate", reason="new", now=NOW)
    again = facts.get(db, scope, memory_id)
    assert again is not None
    return again


def found(db: Database, words: str, scope: Scope = ALICE) -> list[int]:
    return [c.id for c in fulltext.search(db, replace(scope, session_id=None), query_terms(words), 10, ("fact",))]


def test_a_candidate_is_not_found_and_an_active_fact_is(db: Database) -> None:
    fact = stored(db, "m1", HOME, active=False)
    assert (fact.status, found(db, "berlin"), facts.by_ids(db, ALICE, [fact.id], NOW)) == ("candidate", [], [])
    with db.atomic():
        facts.activate(db, fact, actor="gate", reason="new", now=NOW)
    assert found(db, "berlin") == [fact.id]
    assert [f.content for f in facts.by_ids(db, ALICE, [fact.id], NOW)] == ["I live in Berlin"]
    assert [(c.change, c.version) for c in facts.history(db, ALICE, "m1")] == [("created", 1), ("activated", 2)]


def test_a_repeated_id_writes_nothing(db: Database) -> None:
    stored(db, "m1", HOME)
    row = session(db, ALICE)
    with db.atomic():
        origin = Origin(row.scope_id, "auto_consolidation")
        assert facts.insert(db, "m1", HOME, origin, actor="x", reason="again", now=NOW) is None
    assert len(facts.history(db, ALICE, "m1")) == 2


def test_a_fact_belongs_to_its_scope(db: Database) -> None:
    mine = stored(db, "m1", HOME)
    stored(db, "m2", replace(HOME, content="I live in Oslo"), BOB)
    assert facts.get(db, BOB, "m1") is None
    assert facts.by_ids(db, BOB, [mine.id], NOW) == []
    assert facts.history(db, BOB, "m1") == []
    assert [f.memory_id for f in facts.list_facts(db, ALICE, 10)] == ["m1"]
    assert [f.memory_id for f in facts.neighbours(db, mine.scope_id, "user", "home", "")] == ["m1"]


def test_a_change_closes_the_old_fact_where_the_new_one_begins(db: Database) -> None:
    old = stored(db, "m1", HOME)
    new = stored(db, "m2", replace(HOME, content="I live in Oslo now", value="oslo", said_at=NOW + 60))
    with db.atomic():
        facts.supersede(db, old, new, actor="gate", reason="update", now=NOW + 61)
    closed = facts.get(db, ALICE, "m1")
    assert closed is not None
    assert (closed.status, closed.valid_to, closed.superseded_by) == ("superseded", new.valid_from, "m2")
    assert closed.content == "I live in Berlin"
    assert found(db, "berlin oslo") == [new.id]
    assert facts.history(db, ALICE, "m1")[-1].before == {"status": "active", "valid_to": None, "superseded_by": None}


def test_a_repeat_joins_sources_and_strengthens_once(db: Database) -> None:
    fact = stored(db, "m1", HOME)
    for _ in range(2):
        current = facts.get(db, ALICE, "m1")
        assert current is not None
        with db.atomic():
            facts.strengthen(db, current, replace(HOME, source_ids=(7,)), actor="gate", reason="same", now=NOW)
    after = facts.get(db, ALICE, "m1")
    assert after is not None
    assert after.source_ids == (1, 7)
    assert after.confidence > fact.confidence
    assert [c.change for c in facts.history(db, ALICE, "m1")].count("strengthened") == 1


def test_what_is_archived_or_superseded_has_no_vector(db: Database) -> None:
    fact = stored(db, "m1", HOME)
    with db.atomic():
        space = spaces.ensure_space(db, "m", 8, NOW)
        vectors.upsert(db, space, [("fact", fact.id, fact.scope_id, fact.source_session or 0, vector(1.0))])
        facts.mark_embedded(db, [fact.id])
    assert [c.id for c in vectors.knn(db, space, ALICE, vector(1.0), 5, ("fact",))] == [fact.id]
    with db.atomic():
        facts.set_status(db, fact, "archived", actor="nightly", reason="weight", now=NOW)
    assert vectors.knn(db, space, ALICE, vector(1.0), 5, ("fact",)) == []
    archived = facts.get(db, ALICE, "m1")
    assert archived is not None
    assert (archived.status, archived.status_reason) == ("archived", "weight")


def test_doubt_links_both_ways(db: Database) -> None:
    first, second = stored(db, "m1", HOME), stored(db, "m2", replace(HOME, content="I live in Oslo"))
    with db.atomic():
        facts.link_conflict(db, first, second, actor="gate", reason="doubt", now=NOW)
    linked = {f.memory_id: f.conflicts_with for f in facts.list_facts(db, ALICE, 10)}
    assert linked == {"m1": ("m2",), "m2": ("m1",)}


def test_an_expired_fact_is_not_recalled(db: Database) -> None:
    fact = stored(db, "m1", replace(HOME, expires_at=NOW + 10))
    assert len(facts.by_ids(db, ALICE, [fact.id], NOW)) == 1
    assert facts.by_ids(db, ALICE, [fact.id], NOW + 11) == []


def test_one_active_fact_a_key(db: Database) -> None:
    fact = stored(db, "m1", replace(HOME, key="home"))
    assert facts.with_key(db, fact.scope_id, "home") == fact
    assert facts.with_key(db, fact.scope_id, "other") is None


def test_a_hard_delete_leaves_no_words(db: Database) -> None:
    fact = stored(db, "m1", HOME)
    with db.atomic():
        facts.destroy(db, fact, actor="user", reason="asked", now=NOW)
    assert facts.get(db, ALICE, "m1") is None
    assert found(db, "berlin") == []
    assert [(c.change, c.before) for c in facts.history(db, ALICE, "m1")] == [("destroyed", None)]
