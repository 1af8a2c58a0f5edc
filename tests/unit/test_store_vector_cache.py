"""A scope in memory is what the file holds, whoever writes, and takes no more memory than it may."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from memory.types import Candidate, Scope
from store import spaces, vector_cache, vector_changes, vectors
from store.db import Database
from store.migrate import MIGRATIONS_DIR, migrate
from store.opening import open_database
from store.spaces import Space
from store.vector_cache import VectorCache, shared_cache
from store.vector_index import Floats
from tests.unit.store_support import NOW, opened, say, session, summarise

ANN = Scope("ann", session_id="a")
USER = Scope("ann")
DIMENSIONS = 64
RNG = np.random.default_rng(11)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as opened_db:
        yield opened_db


@pytest.fixture
def space(db: Database) -> Space:
    return spaces.ensure_space(db, "m", DIMENSIONS, NOW)


@pytest.fixture
def reader(db: Database, space: Space) -> Iterator[Database]:
    with open_database(db.path, readonly=True) as found:
        found.vector_cache = VectorCache(10_000_000, smallest=300, start=lambda work: work())
        yield found


def unit(rows: int) -> Floats:
    found = RNG.standard_normal((rows, DIMENSIONS))
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def put(db: Database, space: Space, found: Floats, *, first: int = 1, scope: Scope = ANN) -> None:
    row = session(db, scope)
    rows: list[vectors.VectorRow] = [
        ("message", first + n, row.scope_id, row.id, one.tobytes()) for n, one in enumerate(found)
    ]
    vectors.upsert(db, space, rows)


def near(db: Database, space: Space, query: Floats, k: int = 5, scope: Scope = USER) -> list[Candidate]:
    with db.snapshot():
        return vectors.knn(db, space, scope, query.tobytes(), k)


def in_memory(db: Database, space: Space, scope: Scope = ANN) -> bool:
    assert db.vector_cache is not None
    with db.snapshot():
        return db.vector_cache.index(db, space, session_of(db, scope)) is not None


def session_of(db: Database, scope: Scope) -> int:
    return int(db.value("scopes_find", namespace=scope.namespace, user_id=scope.user_id))


def test_memory_and_file_find_the_same(db: Database, space: Space, reader: Database) -> None:
    found = unit(1_000)
    put(db, space, found)
    assert not in_memory(reader, space)
    assert in_memory(reader, space)
    for query in unit(20):
        exact = found @ query
        kept = near(reader, space, query)
        assert [c.id for c in kept] == (1 + np.argsort(-exact)[:5]).tolist()
        assert [c.score for c in kept] == pytest.approx(np.sort(exact)[::-1][:5].tolist(), abs=1e-5)
    assert near(reader, space, unit(1)[0], scope=Scope("ann", session_id="absent")) == []


def test_small_scopes_are_not_kept(db: Database, space: Space, reader: Database) -> None:
    put(db, space, unit(299))
    assert not in_memory(reader, space) and not in_memory(reader, space)
    put(db, space, unit(1), first=300)
    assert not in_memory(reader, space) and in_memory(reader, space)


def test_what_another_connection_writes_is_found_at_once(db: Database, space: Space, reader: Database) -> None:
    put(db, space, unit(400))
    in_memory(reader, space)
    new = unit(3)
    put(db, space, new, first=5_000)
    put(db, space, new[2:], first=7)
    assert in_memory(reader, space)
    assert near(reader, space, new[0])[0].id == 5_000
    assert {c.id for c in near(reader, space, new[2], 2)} == {7, 5_002}
    vectors.remove(db, space, "message", [5_000, 7, 7, 99_999])
    assert in_memory(reader, space)
    assert near(reader, space, new[0])[0].id != 5_000
    assert near(reader, space, new[2])[0].id == 5_002
    assert vector_changes.mark(db, space, session_of(db, ANN)) == (4, 401, 400)


def test_a_change_that_is_rolled_back_is_none(db: Database, space: Space, reader: Database) -> None:
    put(db, space, unit(400))
    in_memory(reader, space)
    new = unit(1)
    with pytest.raises(RuntimeError), db.atomic():
        put(db, space, new, first=9_000)
        raise RuntimeError
    assert in_memory(reader, space)
    assert near(reader, space, new[0])[0].id != 9_000


def test_an_older_snapshot_than_the_memory_is_served(db: Database, space: Space, reader: Database) -> None:
    put(db, space, unit(400))
    in_memory(reader, space)
    new = unit(1)
    with open_database(db.path, readonly=True) as other:
        other.vector_cache = reader.vector_cache
        with other.snapshot():
            before = vectors.knn(other, space, USER, new[0].tobytes(), 3)
            put(db, space, new, first=9_000)
            assert near(reader, space, new[0])[0].id == 9_000
            # The newer row has no vector in this snapshot, so it is not found.
            assert [c.id for c in vectors.knn(other, space, USER, new[0].tobytes(), 3)] == [c.id for c in before]


def test_many_changes_are_loaded_in_the_background(db: Database, space: Space) -> None:
    waiting: list[Callable[[], None]] = []
    with open_database(db.path, readonly=True) as reader:
        reader.vector_cache = VectorCache(10_000_000, smallest=300, start=waiting.append)
        put(db, space, unit(400))
        assert not in_memory(reader, space) and not in_memory(reader, space)
        assert len(waiting) == 1
        waiting.pop()()
        assert in_memory(reader, space)
        new = unit(vector_cache.AT_ONCE + 1)
        put(db, space, new, first=5_000)
        assert near(reader, space, new[0])[0].id == 5_000
        assert len(waiting) == 1
        waiting.pop()()
        assert in_memory(reader, space) and near(reader, space, new[-1])[0].id == 5_000 + len(new) - 1


def test_a_reader_that_is_far_behind_loads_all_anew(
    db: Database, space: Space, reader: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_changes, "KEPT", 3)
    put(db, space, unit(400))
    in_memory(reader, space)
    for number in range(1, 9):
        vectors.remove(db, space, "message", [number])
    assert not in_memory(reader, space) and in_memory(reader, space)
    assert not {1, 2, 3} & {c.id for c in near(reader, space, unit(1)[0], 391)}


def test_memory_is_bounded_and_the_least_used_goes(
    db: Database, space: Space, caplog: pytest.LogCaptureFixture
) -> None:
    with open_database(db.path, readonly=True) as reader:
        cache = VectorCache(350_000, smallest=300, start=lambda work: work())
        reader.vector_cache = cache
        scopes = [Scope(f"user-{n}", session_id=f"s-{n}") for n in range(3)]
        for number, scope in enumerate(scopes):
            put(db, space, unit(400), first=1 + 1_000 * number, scope=scope)
            in_memory(reader, space, scope)
        assert cache.size_bytes <= cache.max_bytes
        assert [in_memory(reader, space, s) for s in (scopes[1], scopes[2])] == [True, True]
        assert not in_memory(reader, space, scopes[0])
        put(db, space, unit(5_000), first=10_000, scope=Scope("huge", session_id="h"))
        found = near(reader, space, unit(1)[0], 3, Scope("huge"))
        assert len(found) == 3 and all(c.id >= 10_000 for c in found)
        assert not in_memory(reader, space, Scope("huge"))


def test_a_file_that_was_replaced_is_another(db: Database, space: Space, tmp_path: Path) -> None:
    cache = VectorCache(10_000_000, smallest=300, start=lambda work: work())
    put(db, space, unit(400))
    with open_database(db.path, readonly=True) as reader:
        reader.vector_cache = cache
        in_memory(reader, space)
        assert in_memory(reader, space)
    db.close()
    for path in tmp_path.glob("sidestream.db*"):
        path.unlink()
    new = unit(350)
    with opened(tmp_path) as other:
        put(other, spaces.ensure_space(other, "m", DIMENSIONS, NOW), new)
        with open_database(other.path, readonly=True) as reader:
            reader.vector_cache = cache
            assert not in_memory(reader, space) and in_memory(reader, space)
            assert near(reader, space, new[9])[0].id == 10


def test_a_file_that_cannot_be_read_is_tried_again_later(db: Database, space: Space, reader: Database) -> None:
    now = 0.0
    tries: list[Callable[[], None]] = []
    cache = VectorCache(10_000_000, smallest=300, start=tries.append, monotonic=lambda: now)
    reader.vector_cache = cache
    put(db, space, unit(400))
    in_memory(reader, space)
    hidden = db.path.rename(db.path.with_suffix(".away"))
    tries.pop()()
    hidden.rename(db.path)
    assert not in_memory(reader, space) and not tries
    now = 31.0
    assert not in_memory(reader, space)
    tries.pop()()
    assert in_memory(reader, space)


def test_the_process_has_one() -> None:
    assert shared_cache(0) is None
    assert shared_cache(5_000_000) is shared_cache(7_000_000)


def test_threads_search_while_a_worker_writes(db: Database, space: Space) -> None:
    cache = VectorCache(10_000_000, smallest=300, start=lambda work: work())
    bob = Scope("bob", session_id="b")
    put(db, space, unit(400))
    put(db, space, unit(400), first=100_001, scope=bob)
    done = threading.Event()

    def search(scope: Scope, ids: range) -> int:
        searches = 0
        with open_database(db.path, readonly=True) as reader:
            reader.vector_cache = cache
            while not done.is_set() or not searches:
                found = near(reader, space, unit(1)[0], 20, Scope(scope.user_id))
                assert len(found) == 20 and all(c.id in ids for c in found)
                searches += 1
        return searches

    with ThreadPoolExecutor(4) as threads:
        runs = [threads.submit(search, ANN, range(1, 100_001)), threads.submit(search, bob, range(100_001, 200_001))]
        runs += [threads.submit(search, ANN, range(1, 100_001)), threads.submit(search, bob, range(100_001, 200_001))]
        for step in range(40):
            put(db, space, unit(5), first=1_000 + 5 * step)
            put(db, space, unit(5), first=101_000 + 5 * step, scope=bob)
            vectors.remove(db, space, "message", [1 + step, 100_001 + step])
        done.set()
        assert all(run.result() for run in runs)


def test_vectors_of_an_earlier_version_are_known(tmp_path: Path) -> None:
    """The file as it was before scopes had versions."""
    old = tmp_path / "old"
    old.mkdir()
    [added] = MIGRATIONS_DIR.glob("*_vector_keys.sql")
    for path in (p for p in MIGRATIONS_DIR.glob("*.sql") if p.name < added.name):
        (old / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    with Database.open(tmp_path / "sidestream.db") as db:
        migrate(db, old)
        say(db, ANN, "one", "two", has_embedding=1)
        say(db, ANN, "owed", has_embedding=0)
        summarise(db, ANN, 1, "a summary")
        db.script("mark", "UPDATE short_term_memories SET has_embedding = 1")
        space = spaces.ensure_space(db, "m", DIMENSIONS, NOW)
        migrate(db)
        assert vector_changes.mark(db, space, session_of(db, ANN)) == (1, 3, 0)
