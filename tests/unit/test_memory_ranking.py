"""Fusion of the search arms and the fallback without vectors."""

from collections.abc import Sequence

import pytest

from memory.ranking import (
    CANDIDATES,
    DENSE_WEIGHT,
    DENSE_WEIGHT_ZH,
    Key,
    Scored,
    dense_weight,
    fuse,
    keyword_score,
    rank_by_keyword,
)
from memory.types import Candidate

DAY = 86_400.0


def found(**scores: float) -> list[Candidate]:
    """Candidates m1=score, m2=score, ...: messages by number."""
    return [Candidate("message", int(name[1:]), score) for name, score in scores.items()]


def ids(scored: Sequence[Scored]) -> list[int]:
    return [item.id for item in scored]


def test_agreement_of_both_arms_comes_first() -> None:
    scored = fuse(found(m1=5.0, m2=4.9, m3=1.0), found(m2=0.9, m4=0.89, m1=0.5))
    assert ids(scored)[0] == 2
    assert scored[0].score == 1.0


@pytest.mark.parametrize("arm", ["text", "dense"])
def test_one_arm_alone_gives_its_own_order(arm: str) -> None:
    one = found(m7=3.0, m8=2.0, m9=1.0)
    scored = fuse(one, []) if arm == "text" else fuse([], one)
    assert ids(scored) == [7, 8, 9]
    assert all(set(item.parts) <= {arm} for item in scored)


def test_nothing_found_is_nothing_ranked() -> None:
    assert fuse([], []) == []


def test_parts_add_up_to_the_score() -> None:
    near: dict[Key, list[Key]] = {("message", 3): [("message", 2)]}
    for item in fuse(found(m1=5.0, m2=3.0, m3=1.0), found(m2=0.9, m3=0.4), neighbours=near):
        assert sum(item.parts.values()) == pytest.approx(item.score, abs=1e-5)


def test_equal_scores_stand_newest_first() -> None:
    assert ids(fuse(found(m1=1.0, m3=1.0, m2=1.0), [])) == [3, 2, 1]


def test_kinds_with_the_same_id_are_kept_apart() -> None:
    scored = fuse([Candidate("message", 1, 2.0), Candidate("summary", 1, 1.0)], [])
    assert [(s.kind, s.id) for s in scored] == [("message", 1), ("summary", 1)]


def test_dense_scores_count_by_how_far_they_stand_out_not_by_their_scale() -> None:
    narrow = fuse(found(m1=1.0), found(m2=0.86, m3=0.80, m4=0.79))
    wide = fuse(found(m1=1.0), found(m2=0.86, m3=0.50, m4=0.44))
    assert ids(narrow) == ids(wide) == [1, 2, 3, 4]
    assert [s.score for s in narrow] == pytest.approx([s.score for s in wide], abs=1e-5)


def test_equal_cosines_do_not_divide_by_zero() -> None:
    assert ids(fuse([], found(m1=0.5, m2=0.5))) == [2, 1]


def test_text_scores_that_say_nothing_count_as_zero() -> None:
    assert [s.score for s in fuse(found(m1=0.0, m2=-1.0), [])] == [0.0, 0.0]


def test_a_neighbour_of_a_good_match_is_lifted() -> None:
    text = found(m1=5.0, m2=1.0, m9=1.1)
    beside: dict[Key, list[Key]] = {("message", 2): [("message", 1), ("message", 3)]}
    assert ids(fuse(text, [])) == [1, 9, 2]
    assert ids(fuse(text, [], neighbours=beside)) == [1, 2, 9]
    assert ids(fuse(text, [], neighbours=beside, neighbour_weight=0.0)) == [1, 9, 2]


def test_lengths_take_back_what_bm25_gives_to_short_messages() -> None:
    text = found(m1=5.2, m2=5.0)
    assert ids(fuse(text, [])) == [1, 2]
    assert ids(fuse(text, [], lengths={("message", 1): 3, ("message", 2): 40})) == [2, 1]
    much_better = found(m1=9.0, m2=7.0)
    assert ids(fuse(much_better, [], lengths={("message", 1): 20, ("message", 2): 60})) == [1, 2]


def test_a_limit_keeps_the_best() -> None:
    assert ids(fuse(found(m1=1.0, m2=3.0, m3=2.0), [], limit=2)) == [2, 3]


def test_meaning_weighs_more_in_chinese() -> None:
    assert dense_weight("zh") == DENSE_WEIGHT_ZH > dense_weight("en") == DENSE_WEIGHT
    assert CANDIDATES > 0


@pytest.mark.parametrize(
    ("matched", "age", "score"),
    [
        (True, 0.0, 1.0),
        (True, -5.0, 1.0),
        (False, 1_800.0, (100 * (1 - 1_800 / DAY / 180) + 30) / 180),
        (False, 1_801.0, 100 * (1 - 1_801 / DAY / 180) / 180),
        (True, 90 * DAY, 100 / 180),
        (False, 400 * DAY, 0.0),
        (True, 400 * DAY, 50 / 180),
    ],
)
def test_keyword_score(matched: bool, age: float, score: float) -> None:
    assert keyword_score(matched, age) == pytest.approx(score)


def test_without_vectors_matches_come_before_what_is_only_new() -> None:
    recent: dict[Key, float] = {("message", n): 1_000_000.0 + n for n in range(1, 6)}
    scored = rank_by_keyword(found(m1=4.0, m2=2.0), recent, now=1_000_010.0)
    assert ids(scored) == [1, 2, 5, 4, 3]
    assert all(0.0 <= s.score <= 1.0 for s in scored)
    assert sum(scored[0].parts.values()) == pytest.approx(scored[0].score, abs=1e-5)
    assert ids(rank_by_keyword(found(m1=4.0), recent, now=1_000_010.0, limit=1)) == [1]


def test_without_vectors_age_decides_between_equal_matches() -> None:
    at: dict[Key, float] = {("message", 1): 200 * DAY, ("message", 2): 10 * DAY}
    assert ids(rank_by_keyword(found(m1=2.0, m2=2.0), at, now=200 * DAY)) == [1, 2]
