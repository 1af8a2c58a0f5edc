"""How near candidates are with their neighbours, and what is common to all of them."""

from dataclasses import replace

import numpy as np
import pytest

from memory.meaning import nearness
from memory.ranking import ENGLISH, NOWHERE, Weights

PLAIN = replace(ENGLISH, blend=0.0, common=0.0)
LINES = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)
QUERY = np.array([1, 0, 0], dtype=np.float32)
NO = [NOWHERE, NOWHERE, NOWHERE]


def near(by: Weights, before: list[int], after: list[int], own: list[int] | None = None) -> list[float]:
    rows, left, right = (np.array(column, dtype=np.int64) for column in (own or [0, 1, 2], before, after))
    found: list[float] = nearness(QUERY, LINES, rows, left, right, by, np.zeros(3, dtype=np.float32)).tolist()
    return found


def test_alone_it_is_the_cosine() -> None:
    assert near(PLAIN, NO, NO) == pytest.approx([1.0, 0.0, 0.0])


def test_a_neighbour_brings_a_share() -> None:
    found = near(replace(PLAIN, blend=0.5), [NOWHERE, 0, 1], [1, 2, NOWHERE])
    assert found[0] == pytest.approx(1 / np.sqrt(1.25)) and found[1] == pytest.approx(0.5 / np.sqrt(1.5))
    assert found[2] == 0.0


def test_what_has_no_vector_has_no_nearness() -> None:
    found = near(PLAIN, NO, NO, own=[0, NOWHERE, 2])
    assert np.isnan(found[1]) and found[0] == pytest.approx(1.0)
    assert np.isnan(near(PLAIN, NO, NO, own=NO)).all()


def test_what_is_near_to_everything_loses() -> None:
    common = np.array([0.6, 0.8, 0.0], dtype=np.float32)
    own = np.array([0, 1, 2], dtype=np.int64)
    none = np.array(NO, dtype=np.int64)
    found = nearness(QUERY, LINES, own, none, none, replace(PLAIN, common=1.0), common)
    assert found.tolist() == pytest.approx([0.4, -0.8, 0.0])
    from_own = nearness(QUERY, LINES, own, none, none, replace(PLAIN, common=1.0))
    assert from_own.tolist() == pytest.approx([2 / 3, -1 / 3, -1 / 3])


def test_vectors_are_left_as_they_are() -> None:
    before = LINES.copy()
    near(replace(PLAIN, blend=0.5), [NOWHERE, 0, 1], NO)
    assert (before == LINES).all()
