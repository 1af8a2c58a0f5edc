"""Weights: raised by use, lowered by disuse and age, and left alone where a person decided."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.upkeep import Candidate, leaving
from memory.weights import Standing, WeightPolicy, after_use, archive_at, is_core, present_weight

DAY = 86_400.0
NOW = 1_700_000_000.0
POLICY = WeightPolicy()
FRESH = Standing(0.5, NOW)
SHARES = st.floats(0, 1)


def test_use_raises_and_disuse_lowers() -> None:
    assert after_use(FRESH, True, NOW, POLICY) == pytest.approx(0.5 + 0.15 * 0.5)
    assert after_use(FRESH, False, NOW, POLICY) == pytest.approx(0.5 * 0.98)


def test_disuse_costs_what_matters_much_little_and_what_matters_little_much() -> None:
    allergy, trifle = Standing(0.95, NOW, importance=0.95), Standing(0.95, NOW, importance=0.1)
    for _ in range(50):
        allergy = replace(allergy, weight=after_use(allergy, False, NOW, POLICY))
        trifle = replace(trifle, weight=after_use(trifle, False, NOW, POLICY))
    assert is_core(allergy, NOW, POLICY)
    assert trifle.weight < 0.2


@given(SHARES, SHARES, st.booleans(), st.floats(0, 4_000))
def test_a_weight_stays_between_0_and_1(weight: float, importance: float, used: bool, days: float) -> None:
    standing = Standing(weight, NOW, importance)
    later = NOW + days * DAY
    assert 0.0 <= after_use(standing, used, later, POLICY) <= 1.0
    assert present_weight(standing, later, POLICY) <= weight
    assert after_use(standing, False, later, POLICY) <= after_use(standing, True, later, POLICY)


def test_a_weight_halves_in_its_half_life_and_what_matters_less_fades_sooner() -> None:
    later = NOW + 180 * DAY
    assert present_weight(FRESH, later, POLICY) == pytest.approx(0.25)
    light, heavy = (present_weight(replace(FRESH, importance=i), later, POLICY) for i in (0.0, 1.0))
    assert light == pytest.approx(0.125)
    assert light < 0.25 < heavy


def test_a_clock_that_was_set_back_makes_nothing_heavier() -> None:
    assert present_weight(FRESH, NOW - 100 * DAY, POLICY) == 0.5


@pytest.mark.parametrize("decided", [{"pinned": True}, {"held": True}])
def test_what_a_person_decided_is_moved_by_nothing(decided: dict[str, bool]) -> None:
    standing = replace(FRESH, **decided)
    much_later = NOW + 2_000 * DAY
    assert present_weight(standing, much_later, POLICY) == 0.5
    assert after_use(standing, True, much_later, POLICY) == after_use(standing, False, much_later, POLICY) == 0.5
    assert archive_at(standing, POLICY) is None


@given(st.floats(0.2, 1.0), SHARES)
def test_the_day_of_the_archive_is_the_day_on_which_the_weight_falls_too_low(weight: float, importance: float) -> None:
    standing = Standing(weight, NOW, importance)
    at = archive_at(standing, POLICY)
    assert at is not None
    assert present_weight(standing, at - 60, POLICY) >= POLICY.archive_under
    assert present_weight(standing, at + 60, POLICY) < POLICY.archive_under


def test_a_weight_held_too_low_is_archived_at_once_and_without_a_threshold_nothing_ever_is() -> None:
    assert archive_at(Standing(0.1, NOW, held=True), POLICY) == NOW
    assert archive_at(FRESH, replace(POLICY, archive_under=0.0)) is None
    off = WeightPolicy(gain=0.0, loss=0.0, half_life=math.inf, archive_under=0.0)
    assert after_use(FRESH, True, NOW + 9_999 * DAY, off) == after_use(FRESH, False, NOW, off) == 0.5


def test_core_is_what_is_heavy_or_pinned() -> None:
    assert not is_core(FRESH, NOW, POLICY)
    assert is_core(replace(FRESH, pinned=True), NOW, POLICY)
    heavy = Standing(0.85, NOW)
    assert is_core(heavy, NOW, POLICY)
    assert not is_core(heavy, NOW + 60 * DAY, POLICY)


def test_expired_faded_and_too_many_facts_leave_the_lightest_first() -> None:
    facts = [
        Candidate(1, Standing(0.9, NOW)),
        Candidate(2, Standing(0.9, NOW), expires_at=NOW),
        Candidate(3, Standing(0.1, NOW)),
        Candidate(4, Standing(0.3, NOW)),
        Candidate(5, Standing(0.4, NOW)),
        Candidate(6, Standing(0.01, NOW, pinned=True)),
        Candidate(7, Standing(0.9, NOW, pinned=True), expires_at=NOW - 1),
    ]
    found = {item.id: item.reason for item in leaving(facts, NOW, replace(POLICY, stored_limit=3))}
    assert found == {
        2: "expired",
        7: "expired",
        3: "its weight fell to 0.100, under 0.2",
        4: "the lightest of more than 3 facts",
    }
    assert [i.id for i in leaving(facts, NOW, POLICY)] == [2, 3, 7]
