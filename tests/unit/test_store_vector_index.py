"""An index in memory finds what an exact search finds, while rows come and go."""

import numpy as np
import pytest

from store.vector_index import WIDE, Floats, VectorIndex, size_of

ALL = (0, 1, 2)


def made(rows: int, dimensions: int) -> Floats:
    """Unit vectors around forty topics, all of them in one narrow cone."""
    rng = np.random.default_rng(3)
    topics = 4.0 * rng.standard_normal(dimensions) + rng.standard_normal((40, dimensions))
    found = topics[rng.integers(0, 40, rows)] + 0.7 * rng.standard_normal((rows, dimensions))
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def filled(vectors: Floats, *, kinds: int = 1, sessions: int = 1, capacity: int = 16) -> VectorIndex:
    index = VectorIndex(vectors.mean(axis=0), capacity)
    numbers = np.arange(len(vectors))
    for start in range(0, len(vectors), 700):
        some = numbers[start : start + 700]
        index.add(4 * some + some % kinds, some % sessions, vectors[some])
    return index


def recall(index: VectorIndex, vectors: Floats, queries: Floats, k: int, asked: int) -> float:
    shares = []
    for query in queries:
        exact = set((4 * np.argsort(-(vectors @ query), kind="stable")[:k]).tolist())
        shares.append(len(exact & {key for key, _ in index.near(query, asked, ALL)}) / k)
    return float(np.mean(shares))


@pytest.mark.parametrize("dimensions", [64, 384, 1_000, 1_024])
def test_it_finds_what_an_exact_search_finds(dimensions: int) -> None:
    vectors, queries = np.split(made(12_040, dimensions), [12_000])
    index = filled(vectors)
    assert len(index) == 12_000
    # Eight bits a dimension confuse the nearest among themselves, so twice as many are asked for.
    assert recall(index, vectors, queries, 10, asked=20) >= (0.9 if dimensions == 64 else 0.97)
    key, cosine = index.near(vectors[77], 1, ALL)[0]
    assert (key, round(cosine, 2)) == (4 * 77, 1.0)


def test_a_small_one_is_searched_whole_and_in_order() -> None:
    vectors = made(WIDE, 64)
    found = filled(vectors).near(vectors[5], WIDE, ALL)
    assert {key for key, _ in found} == {4 * n for n in range(WIDE)}
    cosines = [cosine for _, cosine in found]
    assert cosines == sorted(cosines, reverse=True)
    assert cosines == pytest.approx(np.sort(vectors @ vectors[5])[::-1].tolist(), abs=0.002)


def test_kinds_and_a_session_narrow_before_the_nearest_are_chosen() -> None:
    vectors = made(9_000, 384)
    index = filled(vectors, kinds=3, sessions=5)
    query = vectors[0]
    assert {key % 4 for key, _ in index.near(query, 50, (1,))} == {1}
    assert index.near(query, 50, ()) == []
    of_session = index.near(query, 3_000, ALL, session_pk=2)
    assert {key // 4 % 5 for key, _ in of_session} == {2} and len(of_session) == 1_800
    assert index.near(query, 5, ALL, session_pk=9) == []


def test_rows_are_replaced_and_dropped() -> None:
    vectors = made(3_000, 384)
    index = filled(vectors)
    index.add(np.array([8]), np.array([0]), vectors[100:101])
    assert {key for key, _ in index.near(vectors[100], 2, ALL)} == {8, 400}
    index.drop(np.array([8, 9, 400]))
    assert not {8, 400} & {key for key, _ in index.near(vectors[100], 2_998, ALL)}
    assert len(index) == 2_998


def test_what_is_dropped_makes_room_again() -> None:
    vectors = made(4_000, 64)
    index = filled(vectors, capacity=4_000)
    before = index.size_bytes
    for start in range(0, 4_000, 500):
        keys = 4 * np.arange(start, start + 500)
        index.drop(keys)
        index.add(keys, np.zeros(500, np.int64), vectors[start : start + 500])
    assert len(index) == 4_000
    assert index.size_bytes <= 1.6 * before
    assert recall(index, vectors, vectors[:20], 10, asked=20) >= 0.9
    index.drop(4 * np.arange(4_000))
    assert len(index) == 0 and index.near(vectors[0], 5, ALL) == []


def test_equal_vectors_do_not_make_a_search_larger() -> None:
    index = filled(np.repeat(made(1, 64), 20_000, axis=0))
    assert len(index.near(made(1, 64)[0], 7, ALL)) == 7


def test_its_size_is_told_beforehand() -> None:
    index = VectorIndex(np.zeros(1_024, np.float32), 1_000)
    assert index.size_bytes == size_of(1_024, 1_000) < 1_250_000


def test_vectors_are_handed_out_by_key() -> None:
    vectors = made(3_000, 384)
    index = filled(vectors)
    index.drop(np.array([8]))
    places, lines = index.fetch(np.array([4, 8, 400, 9_999_999, -1]))
    assert (places >= 0).tolist() == [True, False, True, False, False]
    found = lines[places[[0, 2]]]
    assert found == pytest.approx(vectors[[1, 100]], abs=0.002)
    assert np.linalg.norm(found, axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)
    index.drop(4 * np.arange(1_000))
    assert lines[places[[0]]] == pytest.approx(vectors[[1]], abs=0.002), "who has lines keeps them"
    places, lines = index.fetch(np.array([4 * 1_500]))
    assert lines[places] == pytest.approx(vectors[[1_500]], abs=0.002), "after rows were moved together"
    assert len(index.fetch(np.array([], dtype=np.int64))[0]) == 0
