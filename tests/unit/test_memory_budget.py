"""Shares of a context and what gives way."""

import pytest

from memory.budget import Budget, Kept, Shares, plan, shrink


def budget(total: int) -> Budget:
    return plan(0, tokens=total)


def test_a_plan_takes_its_shares_of_the_models_window() -> None:
    assert plan(10_000) == Budget(total=6_000, window=3_000, summaries=1_800, facts=1_200)


def test_a_plan_for_tokens_asked_for_ignores_the_models_window() -> None:
    assert plan(10_000, tokens=1_000) == Budget(1_000, 500, 300, 200)


def test_a_plan_takes_other_shares() -> None:
    assert plan(1_000, Shares(1.0, 0.8, 0.1, 0.1)) == Budget(1_000, 800, 100, 100)


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        plan(0, tokens=-1)


def test_all_stays_that_fits() -> None:
    kept = shrink(budget(1_000), fixed=50, window=[100] * 4, summaries=[50] * 5, facts=[20] * 5, newest=3)
    assert kept == Kept(0, 5, 5)


def test_a_part_may_use_what_the_others_leave_free() -> None:
    kept = shrink(budget(1_000), fixed=0, window=[10], summaries=[], facts=[100] * 6, newest=0)
    assert kept.facts == 6


def test_a_part_is_held_to_its_share_when_nothing_is_free() -> None:
    kept = shrink(budget(1_000), fixed=0, window=[500], summaries=[100] * 10, facts=[50] * 10, newest=0)
    assert kept == Kept(0, 3, 4)


@pytest.mark.parametrize(
    ("total", "kept"),
    [
        (900, Kept(0, 3, 4)),  # 480 + 240 + 160
        (850, Kept(0, 3, 3)),
        (770, Kept(0, 3, 1)),
        (720, Kept(0, 2, 1)),
        (620, Kept(0, 1, 1)),
        (590, Kept(1, 1, 1)),
        (300, Kept(3, 1, 1)),
        (210, Kept(3, 1, 0)),
        (125, Kept(3, 0, 0)),
        (10, Kept(3, 0, 0)),
    ],
)
def test_facts_give_way_first_then_summaries_then_the_oldest_of_the_window(total: int, kept: Kept) -> None:
    wide = Budget(total, total, total, total)
    assert shrink(wide, fixed=0, window=[120] * 4, summaries=[80] * 3, facts=[40] * 4, newest=3) == kept


def test_the_newest_stays_whatever_it_takes() -> None:
    kept = shrink(budget(100), fixed=90, window=[50, 5_000], summaries=[10], facts=[10], newest=1)
    assert kept == Kept(1, 0, 0)


def test_empty_parts_need_nothing() -> None:
    assert shrink(budget(0), fixed=0, window=[], summaries=[], facts=[], newest=0) == Kept(0, 0, 0)
