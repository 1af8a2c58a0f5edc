"""BM25: rare terms are worth more, repeats a little more, long rows a little less."""

from memory.lexical import rarity, score


def test_rare_terms_are_worth_more_and_none_is_worth_nothing() -> None:
    assert rarity(1, 1_000) > rarity(10, 1_000) > rarity(1_000, 1_000) > 0
    assert rarity(20, 10) > 0, "a count that lags behind the rows"


def test_an_average_row_with_the_term_once_gets_its_worth() -> None:
    assert abs(score(["tea", "x"], {"tea": 2.0}, 2.0) - 2.0) < 1e-9
    assert score(["x"], {"tea": 2.0}, 1.0) == 0.0


def test_repeats_and_length() -> None:
    worth = {"tea": 2.0}
    once, twice = score(["tea", "x", "x"], worth, 3.0), score(["tea", "tea", "x"], worth, 3.0)
    assert once < twice < 2 * once
    assert score(["tea", *["x"] * 9], worth, 3.0) < once
