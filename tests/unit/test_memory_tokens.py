"""Token estimate and its correction."""

import pytest

from memory.tokens import Corrector, estimate


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("我", 2),
        ("我们", 3),
        ("我们ab", 4),
        ("ab我们cd", 4),
        ("これはペン", 8),
        ("한국어", 5),
        ("naïve", 2),
        ("Привет", 6),
        ("👍👍", 2),
        ("“quoted”", 2),
        ("，。", 3),
    ],
)
def test_estimate(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


def test_a_corrector_learns_the_ratio_step_by_step() -> None:
    corrector = Corrector(smoothing=0.5)
    assert corrector.correct(100) == 100
    corrector.observe(100, 200)
    assert corrector.ratio == 1.5
    corrector.observe(100, 200)
    assert corrector.ratio == 1.75
    assert corrector.correct(101) == 177


def test_one_absurd_report_moves_it_no_further_than_its_bounds() -> None:
    corrector = Corrector(smoothing=1.0)
    corrector.observe(100, 1_000_000)
    assert corrector.ratio == 3.0
    corrector.observe(100, 1)
    assert corrector.ratio == 0.5


@pytest.mark.parametrize(("estimated", "reported"), [(10, 100), (100, 0), (100, -5), (0, 50)])
def test_samples_that_tell_nothing_are_left_out(estimated: int, reported: int) -> None:
    corrector = Corrector()
    corrector.observe(estimated, reported)
    assert corrector.ratio == 1.0


@pytest.mark.parametrize("wrong", [{"smoothing": 0.0}, {"smoothing": 1.5}, {"low": 1.2}, {"high": 0.5}])
def test_bounds_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must hold"):
        Corrector(**wrong)  # type: ignore[arg-type] # `least` is an int and not among these
