"""Measures of recall, against values worked out by hand."""

import math

import pytest

from memory.metrics import (
    by_category,
    collapse,
    full_at,
    hit_at,
    interval,
    measure,
    ndcg_at,
    recall_at,
    reciprocal_rank,
    unique,
)

RANKING = ["d", "a", "a", "c", "b"]


def test_a_repeat_counts_at_its_first_place() -> None:
    assert unique(RANKING) == ["d", "a", "c", "b"]


@pytest.mark.parametrize(("k", "share"), [(1, 0.0), (2, 0.5), (3, 0.5), (4, 1.0)])
def test_recall_is_the_share_of_evidence_found(k: int, share: float) -> None:
    assert recall_at(RANKING, ["a", "b"], k) == share


def test_hit_and_full() -> None:
    assert (hit_at(RANKING, ["a", "b"], 2), full_at(RANKING, ["a", "b"], 2)) == (1.0, 0.0)
    assert (hit_at(RANKING, ["a", "b"], 1), full_at(RANKING, ["a", "b"], 4)) == (0.0, 1.0)
    assert hit_at([], ["a"], 10) == full_at([], ["a"], 10) == 0.0


def test_reciprocal_rank() -> None:
    assert reciprocal_rank(RANKING, ["b", "c"]) == pytest.approx(1 / 3)
    assert reciprocal_rank(RANKING, ["x"]) == 0.0


def test_ndcg() -> None:
    assert ndcg_at(["a", "b"], ["a", "b"], 10) == 1.0
    assert ndcg_at(["x", "a"], ["a"], 10) == pytest.approx(1 / math.log2(3))
    assert ndcg_at(["a"] + ["x"] * 5, ["a", "b"], 1) == 1.0


def test_sessions_stand_in_the_order_in_which_they_are_met() -> None:
    sessions = {"a": "s1", "b": "s2", "c": "s1", "d": "s3"}
    assert collapse(RANKING, sessions) == ["s3", "s1", "s2"]
    assert collapse(RANKING, lambda item: item.upper()) == ["D", "A", "C", "B"]


def test_measure_averages_over_questions() -> None:
    quality = measure([(["a"], ["a"]), (["x", "b"], ["b", "c"])], ks=(1, 2))
    assert quality.count == 2
    assert quality.recall == {1: 0.5, 2: 0.75}
    assert (quality.hit10, quality.full10, quality.mrr) == (1.0, 0.5, 0.75)


def test_measure_of_nothing_is_zero() -> None:
    assert measure([]).recall == {5: 0.0, 10: 0.0, 20: 0.0}


def test_categories_are_measured_apart() -> None:
    found = by_category([("when", ["a"], ["a"]), ("who", ["x"], ["a"]), ("when", ["x"], ["a"])])
    assert list(found) == ["when", "who"]
    assert (found["when"].mrr, found["who"].mrr) == (0.5, 0.0)


def test_an_interval_holds_the_mean_and_narrows_with_more() -> None:
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 500
    low, high = interval(few)
    assert 0.0 < low < 0.5 < high < 1.0
    narrow = interval(many)
    assert narrow[1] - narrow[0] < high - low
    assert interval(few) == (low, high)
    assert interval([1.0] * 5) == (1.0, 1.0)
    assert interval([]) == (0.0, 0.0)
