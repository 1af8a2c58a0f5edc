"""What of the ranked is handed out: nothing twice, different things first, the unsure to fill up."""

import pytest

from memory.ranking import Scored
from memory.redundancy import PENALTY, Chosen, choose

TEXTS = {
    1: "The kettle in the kitchen whistles at noon.",
    2: "the kettle in the kitchen  whistles at noon.",
    3: "The kettle in the kitchen whistles loudly at noon!",
    4: "Ben repairs old radios.",
}


def of(*scores: tuple[int, float], limit: int = 10, low: tuple[int, ...] = ()) -> Chosen:
    ranked = [(Scored("message", number, score, {"text": score}), TEXTS[number]) for number, score in scores]
    return choose(ranked, limit, {("message", number) for number in low})


def ids(chosen: Chosen) -> list[int]:
    return [item.id for item in chosen.kept]


def test_nothing_is_nothing() -> None:
    assert of() == Chosen([], [])
    assert of((1, 1.0), limit=0).kept == []


def test_word_for_word_the_same_is_left_out() -> None:
    chosen = of((1, 1.0), (2, 0.9), (4, 0.1))
    assert ids(chosen) == [1, 4]
    assert [(d.scored.id, d.reason) for d in chosen.dropped] == [(2, "says the same as message 1")]


def test_much_the_same_waits_behind_what_is_different() -> None:
    chosen = of((1, 1.0), (3, 0.9), (4, 0.7))
    assert ids(chosen) == [1, 4, 3]
    last = chosen.kept[-1]
    assert last.parts["redundancy"] < 0
    assert sum(last.parts.values()) == pytest.approx(last.score) and last.score >= 0.9 - PENALTY


def test_the_order_of_different_things_stays() -> None:
    chosen = of((4, 1.0), (1, 0.9))
    assert ids(chosen) == [4, 1] and all("redundancy" not in item.parts for item in chosen.kept)


def test_a_limit_keeps_the_best_and_says_what_it_cut() -> None:
    chosen = of((1, 1.0), (3, 0.9), (4, 0.7), limit=1)
    assert ids(chosen) == [1]
    assert {d.reason for d in chosen.dropped} <= {"limit", "says much the same"}


def test_what_is_unsure_only_fills_up() -> None:
    assert ids(of((1, 1.0), (4, 0.2), low=(1,))) == [4, 1]
    chosen = of((1, 1.0), (4, 0.2), low=(1,), limit=1)
    assert ids(chosen) == [4] and [d.reason for d in chosen.dropped] == ["low confidence"]
