"""Full-text search: terms only, one scope only, and bounded work in a large one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.terms import query_terms
from memory.types import Candidate, Scope
from store import fulltext, scopes
from store.db import Database
from tests.unit.store_support import opened, say, session, summarise

ALICE = Scope("alice", session_id="s")
USER = Scope("alice")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as opened_db:
        yield opened_db


def found(db: Database, scope: Scope, query: str, limit: int = 10) -> list[tuple[str, int]]:
    return [(c.kind, c.id) for c in fulltext.search(db, scope, query_terms(query), limit)]


def test_the_better_match_comes_first(db: Database) -> None:
    say(db, ALICE, "we talked about the weather", "my sister plays the violin", "the violin of my sister is old")
    say(db, ALICE, *(f"something else entirely, number {n}" for n in range(10)))
    hits = fulltext.search(db, USER, query_terms("how old is the violin?"), 10)
    assert [hit.id for hit in hits] == [3, 2]
    assert hits[0].score > hits[1].score > 0


def test_any_term_is_enough_and_none_finds_nothing(db: Database) -> None:
    say(db, ALICE, "apples", "pears")
    assert {i for _, i in found(db, USER, "pears or apples")} == {1, 2}
    assert found(db, USER, "plums") == []
    assert fulltext.search(db, USER, [], 10) == []


def test_chinese_is_found_by_pairs(db: Database) -> None:
    say(db, ALICE, "我下周要去上海出差", "今天天气很好", "上班路上堵车了")
    assert found(db, USER, "上海") == [("message", 1)]
    assert found(db, USER, "出差的安排")[0] == ("message", 1)


def test_only_the_scope_is_searched(db: Database) -> None:
    say(db, ALICE, "the password is swordfish")
    say(db, Scope("bob", session_id="b"), "what was the password?")
    say(db, Scope("alice", "other", session_id="o"), "another password")
    assert found(db, USER, "password") == [("message", 1)]
    assert found(db, Scope("bob"), "password") == [("message", 2)]
    assert found(db, Scope("nobody"), "password") == []


def test_a_term_cannot_name_a_scope(db: Database) -> None:
    say(db, ALICE, "mine")
    say(db, Scope("bob", session_id="b"), "secret")
    with db.atomic():
        bob = scopes.scope_id(db, "default", "bob")
    for term in (f"s{bob}", f'x" OR scope : "s{bob}', "secret", '"', "", "*", "NEAR(", "a AND b", "terms : x", "^a"):
        assert fulltext.search(db, USER, [term], 10) == []


def test_kinds_are_told_apart(db: Database) -> None:
    say(db, ALICE, "tea with milk")
    summary = summarise(db, ALICE, 1, "about tea")
    everything = fulltext.search(db, USER, ["tea"], 10)
    assert {(c.kind, c.id) for c in everything} == {("message", 1), ("summary", summary)}
    [only] = fulltext.search(db, USER, ["tea"], 10, kinds=("summary",))
    assert isinstance(only, Candidate) and only.kind == "summary"
    assert fulltext.search(db, USER, ["tea"], 10, kinds=("fact",)) == []
    assert fulltext.search(db, USER, ["tea"], 10, kinds=()) == []


def test_a_session_narrows_the_search(db: Database) -> None:
    say(db, ALICE, "tea here")
    say(db, Scope("alice", session_id="t"), "tea there")
    there = summarise(db, Scope("alice", session_id="t"), 1, "tea, in short")
    assert len(found(db, USER, "tea")) == 3
    assert found(db, ALICE, "tea") == [("message", 1)]
    assert set(found(db, Scope("alice", session_id="t"), "tea")) == {("message", 2), ("summary", there)}
    assert found(db, Scope("alice", session_id="absent"), "tea") == []


def test_an_agent_narrows_the_search(db: Database) -> None:
    session(db, Scope("alice", session_id="coded"), agent_id="coder")
    say(db, ALICE, "tea of the cook", agent_id="cook")
    say(db, ALICE, "tea of nobody")
    coded = summarise(db, Scope("alice", session_id="coded"), 1, "tea of the coder")
    assert found(db, Scope("alice", agent_id="cook"), "tea") == [("message", 1)]
    assert found(db, Scope("alice", agent_id="coder"), "tea") == [("summary", coded)]
    assert found(db, Scope("alice", session_id="s", agent_id="coder"), "tea") == []


def test_removed_rows_are_gone_and_removal_can_be_repeated(db: Database) -> None:
    say(db, ALICE, "tea one", "tea two")
    fulltext.remove(db, "message", [1])
    fulltext.remove(db, "message", [1, 999])
    assert found(db, USER, "tea") == [("message", 2)]


def test_the_limit_holds(db: Database) -> None:
    say(db, ALICE, *(f"tea {n}" for n in range(20)))
    assert len(found(db, USER, "tea", limit=7)) == 7


def test_a_very_long_query_is_cut_and_answered(db: Database) -> None:
    say(db, ALICE, "needle")
    hits = fulltext.search(db, USER, ["needl", *(f"w{n}" for n in range(5_000))], 10)
    assert len(hits) == 1


def test_in_a_large_scope_rare_terms_decide(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fulltext, "LARGE", 50)
    monkeypatch.setattr(fulltext, "BUDGET", 45)
    monkeypatch.setattr(fulltext, "SEEN", 5)
    say(db, ALICE, *(f"common word number {n}" for n in range(60)))
    say(db, ALICE, "a common zebra")
    assert found(db, USER, "common zebra word", limit=50) == [("message", 61)]
    newest = [i for _, i in found(db, USER, "common", limit=50)]
    assert sorted(newest) == list(range(17, 62)), "where only common ones are asked, the newest are searched"
    assert len(found(db, USER, "zebra 7 8 9")) == 4


def test_a_small_scope_is_searched_in_full_whatever_others_have(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fulltext, "LARGE", 50)
    monkeypatch.setattr(fulltext, "BUDGET", 1)
    say(db, Scope("bob", session_id="b"), *(f"common word {n}" for n in range(60)))
    say(db, ALICE, "common zebra", "common word")
    assert {i for _, i in found(db, USER, "common zebra")} == {61, 62}


def test_what_others_have_changes_no_score(db: Database) -> None:
    say(db, ALICE, "green tea in the morning", "black tea", "coffee")
    before = fulltext.search(db, USER, ["green", "tea"], 10)
    say(db, Scope("bob", session_id="b"), *(f"green tea {n}" for n in range(50)))
    assert fulltext.search(db, USER, ["green", "tea"], 10) == before


def test_more_mentions_count_more_and_length_less(db: Database) -> None:
    say(db, ALICE, "tea, tea and again tea", "tea or something of the kind", "tea " + "and much more " * 30)
    assert [i for _, i in found(db, USER, "tea")] == [1, 2, 3]


def test_the_rare_words_of_a_long_question_decide(db: Database) -> None:
    say(db, ALICE, *(" ".join(f"w{n}" for n in range(100)) for _ in range(5)), "the zebra")
    assert found(db, USER, " ".join(f"w{n}" for n in range(80)) + " zebra", limit=1)
    assert found(db, USER, "zebra w1", limit=1) == [("message", 6)]


def test_a_term_of_most_rows_still_finds(db: Database) -> None:
    say(db, ALICE, *(f"tea {n}" for n in range(9)), "nothing")
    assert all(c.score > 0 for c in fulltext.search(db, USER, ["tea"], 10))


def test_a_scope_that_has_most_rows_finds_the_same_as_through_its_own_list(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(db, ALICE, *(f"kettle number {n} whistles" for n in range(60)))
    say(db, Scope("bob", session_id="b"), *(f"the kettle of bob {n} whistles" for n in range(20)))
    summarise(db, ALICE, 1, "a kettle that whistles")
    summarise(db, Scope("bob", session_id="b"), 1, "no kettle whistles")
    with db.atomic():
        alice = scopes.scope_id(db, "default", "alice")
        fulltext.index(db, [("fact", 999, alice, "kettl whistl")])
    terms = query_terms("kettle whistles")
    own = fulltext.postings(db, alice, terms)
    monkeypatch.setattr(fulltext, "LARGE", 50)
    most = fulltext.postings(db, alice, terms)
    assert most.terms == own.terms == ["kettl", "whistl"]
    for mine, all_of_mine in zip(most.keys, own.keys, strict=True):
        assert set(all_of_mine) - set(mine) == {4 * 999 + 2}, "a fact without its row is nobody's"
        assert set(mine) < set(all_of_mine) and len(mine) == 61


def test_how_frequent_terms_are_is_remembered_until_more_was_said(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulltext, "LARGE", 50)
    monkeypatch.setattr(fulltext, "SEEN", 5)
    say(db, ALICE, *(f"common number {n}" for n in range(200)))
    assert len(found(db, USER, "common zebra")) == 10
    first = db.term_shares
    assert first.by_term == {"common": pytest.approx(5 / 6, abs=0.2), "zebra": None}
    say(db, ALICE, "zebra")
    found(db, USER, "zebra common number")
    assert db.term_shares is first and set(first.by_term) == {"common", "zebra", "number"}
    say(db, ALICE, *("zebra" for _ in range(20)))
    found(db, USER, "zebra common")
    assert db.term_shares is not first and db.term_shares.by_term["zebra"] == 5 / 6
