"""Vectors: nearest within the scope, replaced and removed, quantised and yet exact where it counts; the cache."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memory.types import Kind, Scope
from store import embedding_cache, messages, spaces, vectors
from store.db import Database
from store.errors import StoreConflict
from store.spaces import Space
from tests.unit.store_support import NOW, Clock, opened, say, session, summarise, vector

ALICE = Scope("alice", session_id="s")
USER = Scope("alice")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as opened_db:
        yield opened_db


@pytest.fixture
def space(db: Database) -> Space:
    return spaces.ensure_space(db, "m", 8, NOW)


def put(db: Database, space: Space, scope: Scope, *found: bytes, kind: Kind = "message", first: int = 1) -> None:
    row = session(db, scope)
    rows: list[vectors.VectorRow] = [
        (kind, first + number, row.scope_id, row.id, one) for number, one in enumerate(found)
    ]
    vectors.upsert(db, space, rows)


def near(db: Database, space: Space, scope: Scope, query: bytes, k: int = 10) -> list[tuple[str, int]]:
    return [(c.kind, c.id) for c in vectors.knn(db, space, scope, query, k)]


def test_the_nearest_comes_first_with_its_cosine(db: Database, space: Space) -> None:
    put(db, space, ALICE, vector(0, 1), vector(1, 1), vector(1, 0), vector(-1, 0))
    hits = vectors.knn(db, space, USER, vector(1, 0), 10)
    assert [hit.id for hit in hits] == [3, 2, 1, 4]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.5**0.5, 0.0, -1.0], abs=1e-6)
    assert near(db, space, USER, vector(1, 0), k=2) == [("message", 3), ("message", 2)]
    assert near(db, space, USER, vector(1, 0), k=0) == []
    assert len(near(db, space, USER, vector(1, 0), k=100_000)) == 4


def test_only_the_scope_is_searched(db: Database, space: Space) -> None:
    put(db, space, ALICE, vector(0, 1))
    put(db, space, Scope("bob", session_id="b"), vector(1, 0), first=2)
    assert near(db, space, USER, vector(1, 0)) == [("message", 1)]
    assert near(db, space, Scope("bob"), vector(1, 0)) == [("message", 2)]
    assert near(db, space, Scope("nobody"), vector(1, 0)) == []


def test_filters_apply_before_the_nearest_are_chosen(db: Database, space: Space) -> None:
    put(db, space, ALICE, *(vector(1, 0.001 * n) for n in range(300)))
    put(db, space, ALICE, vector(-1, 0), kind="summary")
    put(db, space, Scope("alice", session_id="far"), vector(-1, 0.1), first=900)
    assert [c.id for c in vectors.knn(db, space, USER, vector(1, 0), 1, kinds=("summary",))] == [1]
    assert near(db, space, Scope("alice", session_id="far"), vector(1, 0), k=1) == [("message", 900)]
    assert near(db, space, Scope("alice", session_id="absent"), vector(1, 0)) == []
    assert vectors.knn(db, space, USER, vector(1, 0), 1, kinds=()) == []


def test_an_agent_narrows_the_search(db: Database, space: Space) -> None:
    say(db, ALICE, "of the cook", agent_id="cook")
    say(db, ALICE, "of nobody")
    session(db, Scope("alice", session_id="coded"), agent_id="coder")
    summary = summarise(db, Scope("alice", session_id="coded"), 1, "of the coder")
    assert summary is not None
    put(db, space, ALICE, vector(0, 1), vector(1, 0))
    put(db, space, Scope("alice", session_id="coded"), vector(1, 1), kind="summary", first=summary)
    assert near(db, space, Scope("alice", agent_id="cook"), vector(1, 0)) == [("message", 1)]
    assert near(db, space, Scope("alice", agent_id="coder"), vector(1, 0)) == [("summary", summary)]
    assert near(db, space, Scope("alice", session_id="s", agent_id="coder"), vector(1, 0)) == []


def test_a_vector_is_replaced_and_removed(db: Database, space: Space) -> None:
    put(db, space, ALICE, vector(1, 0), vector(0, 1))
    put(db, space, ALICE, vector(0, 1, 1))
    assert vectors.count(db, space) == 2
    assert vectors.fetch(db, space, "message", [1, 2, 9]) == {1: vector(0, 1, 1), 2: vector(0, 1)}
    assert vectors.fetch(db, space, "summary", [1]) == {}
    vectors.remove(db, space, "message", [1, 1, 9])
    assert near(db, space, USER, vector(1, 0)) == [("message", 2)]
    assert vectors.count(db, space) == 1


def test_a_failed_replacement_keeps_the_old_vector(db: Database, space: Space) -> None:
    put(db, space, ALICE, vector(1, 0))
    with pytest.raises(RuntimeError), db.atomic():
        put(db, space, ALICE, vector(0, 1))
        raise RuntimeError
    assert vectors.fetch(db, space, "message", [1]) == {1: vector(1, 0)}
    assert near(db, space, USER, vector(1, 0)) == [("message", 1)]


@pytest.mark.parametrize("wrong", [b"", b"123", vector(1, dimensions=16)])
def test_a_vector_of_another_length_is_refused(db: Database, space: Space, wrong: bytes) -> None:
    with pytest.raises(ValueError, match="8 dimensions"):
        put(db, space, ALICE, wrong)
    with pytest.raises(ValueError, match="8 dimensions"):
        vectors.knn(db, space, USER, wrong, 5)


def test_a_narrow_cone_of_vectors_is_searched_as_well_as_a_wide_one(db: Database) -> None:
    """As real models make them: all near one direction, so that plain signs would hardly differ."""
    rng = np.random.default_rng(7)
    topics = 8.0 * rng.standard_normal(256) + rng.standard_normal((60, 256))
    cone = topics[rng.integers(0, 60, 1_500)] + 0.5 * rng.standard_normal((1_500, 256))
    cone = (cone / np.linalg.norm(cone, axis=1, keepdims=True)).astype("<f4")
    space = spaces.ensure_space(db, "cone", 256, NOW)
    for first in range(0, len(cone), 100):
        put(db, space, ALICE, *(row.tobytes() for row in cone[first : first + 100]), first=first + 1)
    shares = []
    for query in cone[:40] + 0.02 * rng.standard_normal((40, 256)).astype("<f4"):
        true = set((np.argsort(-(cone @ query))[:10] + 1).tolist())
        hits = vectors.knn(db, space, USER, query.astype("<f4").tobytes(), 10)
        shares.append(len(true & {hit.id for hit in hits}) / 10)
    assert float(np.mean(shares)) > 0.9
    assert db.value("spaces_centred", id=space.id) >= vectors.CENTRED_AT


def test_deleted_vectors_give_their_space_back(db: Database) -> None:
    space = spaces.ensure_space(db, "wide", 256, NOW)
    rng = np.random.default_rng(7)

    def fill(first: int) -> None:
        for user in range(20):
            scope = Scope(f"u{user}", session_id=f"s{user}")
            rows = rng.standard_normal((20, 256)).astype("<f4")
            put(db, space, scope, *(row.tobytes() for row in rows), first=first + 20 * user)

    def used() -> int:
        return int(db.pragma("page_count") - db.pragma("freelist_count"))

    empty = used()
    fill(1)
    full = used() - empty
    assert full * 4096 < 3 * 400 * 256 * 4, "the file holds little but the vectors"
    vectors.remove(db, space, "message", list(range(1, 401)))
    assert used() - empty < 0.2 * full
    fill(1_001)
    assert used() - empty < 1.3 * full


def test_spaces_are_by_model_and_dimensions_and_the_first_is_active(db: Database) -> None:
    assert spaces.active_space(db) is None
    first = spaces.ensure_space(db, "m", 8, NOW)
    second = spaces.ensure_space(db, "m", 16, NOW)
    assert first == spaces.ensure_space(db, "m", 8, NOW + 1)
    assert (first.active, second.active) == (True, False)
    assert spaces.active_space(db) == first
    spaces.activate(db, second)
    active = spaces.active_space(db)
    assert active is not None and active.id == second.id
    assert [s.active for s in spaces.all_spaces(db)] == [False, True]
    for wrong in (0, 12, -8):
        with pytest.raises(ValueError, match="multiple of 8"):
            spaces.ensure_space(db, "m", wrong, NOW)


def test_a_summary_that_leaves_recall_leaves_every_index(db: Database, space: Space) -> None:
    ids = [summarise(db, ALICE, turn, f"turn {turn}", keep=2) for turn in (1, 2)]
    assert None not in ids
    put(db, space, ALICE, vector(1), vector(0, 1), kind="summary", first=ids[0] or 0)
    assert summarise(db, ALICE, 3, "turn 3", keep=2) is not None
    assert vectors.fetch(db, space, "summary", [i or 0 for i in ids]).keys() == {ids[1]}


def test_marking_as_embedded(db: Database) -> None:
    first, second = say(db, ALICE, "one", "two")
    messages.mark_embedded(db, [first])
    rows = db.run("messages_contents", ids=f"[{first}, {second}]")
    assert len(rows) == 2
    with pytest.raises(StoreConflict):
        db.script("check", "INSERT INTO embedding_spaces (model, dimensions) VALUES ('m', 8)")


def test_the_cache_keeps_what_was_used_last(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock) as db:
        space = spaces.ensure_space(db, "m", 8, NOW)
        other = spaces.ensure_space(db, "n", 8, NOW)
        keys = [embedding_cache.digest(text) for text in ("a", "b", "c")]
        for key in keys:
            clock.now += 1
            embedding_cache.put_many(db, space.id, {key: b"v" + key[:1]})
        clock.now += 1
        embedding_cache.put_many(db, space.id, [(keys[0], b"again")])
        assert embedding_cache.get_many(db, space.id, [*keys, b"absent", keys[0]]) == {k: b"v" + k[:1] for k in keys}
        assert embedding_cache.get_many(db, other.id, keys) == {}
        assert embedding_cache.trim(db, space.id, 2) == 1
        assert embedding_cache.get_many(db, space.id, keys).keys() == {keys[0], keys[2]}
        assert embedding_cache.trim(db, space.id, 2) == 0
