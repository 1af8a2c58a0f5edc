"""Ranking of a pool: text, meaning, neighbours, sessions, speakers, times; and the fallback without vectors."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from memory.ranking import (
    CHINESE,
    ENGLISH,
    FACT_SHARE,
    NOWHERE,
    Pool,
    Scored,
    inverse_frequency,
    keyword_score,
    rank,
    rank_by_words,
    score_parts,
    standing_out,
    weights,
)
from memory.timehints import Span

DAY = 86_400.0


def pool(matches: list[list[float]], **columns: Any) -> Pool:
    """Messages m1, m2, ... that hold these terms; whatever is not given says nothing."""
    count, terms = len(matches), len(matches[0]) if matches else 0
    table = np.array(matches, dtype=np.float64).reshape(count, terms)
    plain = Pool(
        keys=[("message", n + 1) for n in range(count)],
        matches=table,
        idf=np.ones(terms),
        sizes=np.full(count, 10.0),
        mean_size=10.0,
        meaning=np.full(count, np.nan),
        session=np.full(count, NOWHERE),
        before=np.full(count, NOWHERE),
        after=np.full(count, NOWHERE),
        asks=np.zeros(count, dtype=np.bool_),
        named=np.zeros(count, dtype=np.bool_),
        at=np.zeros(count),
        prior=np.zeros(count),
        session_sizes=np.zeros(0),
        mean_session=0.0,
        sessions=0,
    )
    given: dict[str, Any] = {name: np.array(v) if isinstance(v, list) else v for name, v in columns.items()}
    return replace(plain, **given)


def ids(found: Pool, **options: Any) -> list[int]:
    return [item.id for item in rank(found, now=1000 * DAY, **options)]


def parts(found: Pool, spans: tuple[Span, ...] = ()) -> dict[str, list[float]]:
    return {name: part.tolist() for name, part in score_parts(found, ENGLISH, spans, 1000 * DAY).items()}


def test_an_empty_pool_ranks_nothing() -> None:
    assert list(rank(pool([]))) == [] == list(rank_by_words(pool([])))


def test_a_fact_counts_less_beside_what_was_said_and_in_full_among_facts() -> None:
    keys = [("fact", 1), ("message", 2)]
    for ranked in (rank(pool([[1], [1]], keys=tuple(keys))), rank_by_words(pool([[1], [1]], keys=tuple(keys)))):
        said, fact = list(ranked)
        assert (said.kind, fact.kind) == ("message", "fact")
        assert fact.score == pytest.approx(FACT_SHARE * said.score, abs=1e-5)
        assert sum(fact.parts.values()) == pytest.approx(fact.score, abs=1e-5)
    alone, message = (next(rank_by_words(pool([[1]], keys=((kind, 1),)))) for kind in ("fact", "message"))
    assert alone.score == message.score


def test_agreement_of_both_arms_comes_first() -> None:
    found = pool([[1, 0], [1, 0], [0, 0]], meaning=[0.2, 0.9, 0.3])
    best = next(rank(found))
    assert (best.id, best.score) == (2, 1.0)


def test_parts_add_up_to_the_score() -> None:
    found = pool([[1, 1], [1, 0], [0, 1]], meaning=[0.5, 0.9, 0.1], asks=[False, True, False], at=[999 * DAY] * 3)
    for item in rank(found, now=1000 * DAY):
        assert sum(item.parts.values()) == pytest.approx(item.score, abs=1e-5)


def test_equal_scores_stand_newest_first() -> None:
    assert ids(pool([[1], [1], [1]])) == [3, 2, 1]


def test_rare_terms_say_more_and_none_says_less_than_nothing() -> None:
    rarity = inverse_frequency(np.array([1.0, 50.0, 100.0, 120.0]), 100.0)
    assert rarity[0] > rarity[1] > rarity[2] > 0 and rarity[3] > 0
    assert ids(pool([[1, 0], [0, 1]], idf=[1.0, 3.0])) == [2, 1]


def test_a_longer_text_needs_more_to_count_the_same() -> None:
    text = parts(pool([[1], [1]], sizes=[5.0, 50.0]))["text"]
    assert text[0] == 1.0 and 0.5 < text[1] < 1.0


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_meaning_counts_by_how_far_it_stands_out_not_by_its_scale(scale: float) -> None:
    cosines = np.array([0.9, 0.2, 0.1, np.nan])
    plain, scaled = standing_out(cosines), standing_out(0.5 + scale * cosines)
    assert scaled == pytest.approx(plain)
    assert plain[3] == plain[2] < plain[1] < plain[0]


def test_equal_or_no_cosines_say_nothing() -> None:
    assert standing_out(np.array([0.5, 0.5])).tolist() == [0.0, 0.0]
    assert standing_out(np.array([np.nan, np.nan])).tolist() == [0.0, 0.0]


def test_a_neighbour_of_a_good_match_is_lifted() -> None:
    found = pool([[1, 1], [0, 0], [0, 0]], before=[NOWHERE, 0, NOWHERE], after=[1, NOWHERE, NOWHERE])
    near = parts(found)["near"]
    assert near[1] > 0 == near[2]
    assert ids(found) == [1, 2, 3]


def test_an_answer_takes_part_of_the_terms_of_its_question() -> None:
    asked = pool([[1, 1], [0, 0], [0, 0]], before=[NOWHERE, 0, NOWHERE], asks=[True, False, False])
    told = replace(asked, asks=np.array([False, False, False]))
    assert parts(asked)["text"][1] > 0 == parts(told)["text"][1]
    assert parts(asked)["asking"][0] < 0


def test_the_last_row_is_nobodys_neighbour() -> None:
    """NOWHERE is -1, which numpy would take for the last row."""
    found = pool([[0], [1]], asks=[False, True])
    assert parts(found)["text"][0] == 0.0 == parts(found)["near"][0]


def test_a_session_that_holds_more_of_the_terms_lifts_its_messages() -> None:
    found = pool([[1, 0], [0, 1], [1, 0]], session=[0, 0, 1], session_sizes=[20.0, 20.0], mean_session=20.0, sessions=5)
    session = parts(found)["session"]
    assert session[0] == session[1] > session[2] > 0
    assert parts(replace(found, session=np.full(3, NOWHERE)))["session"] == [0.0, 0.0, 0.0]


def test_the_named_speaker_and_the_named_time_are_lifted() -> None:
    found = pool([[1], [1], [1]], named=[True, False, False], at=[0.0, 10 * DAY, 20 * DAY])
    spans = (Span(10 * DAY, 11 * DAY),)
    assert parts(found, spans)["speaker"] == [ENGLISH.speaker, 0.0, 0.0]
    assert parts(found, spans)["time"] == [0.0, ENGLISH.time, 0.0]
    assert ids(found, spans=spans)[-1] == 3


def test_of_the_same_the_newer_and_the_surer_come_first() -> None:
    assert ids(pool([[1], [1]], at=[1000 * DAY, 900 * DAY])) == [1, 2]
    assert ids(pool([[1], [1]], prior=[0.9, 0.3])) == [1, 2]


def test_scores_stay_within_bounds() -> None:
    found = pool([[0], [0]], asks=[True, True], sizes=[1.0, 1.0])
    assert all(0.0 <= item.score <= 1.0 for item in rank(found))


def test_meaning_weighs_more_in_chinese() -> None:
    assert weights("en") is ENGLISH and weights("zh") is CHINESE
    assert CHINESE.meaning > ENGLISH.meaning


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
    assert keyword_score(np.array([matched]), np.array([age]))[0] == pytest.approx(score)


def by_words(found: Pool, **options: Any) -> list[Scored]:
    return list(rank_by_words(found, now=1000 * DAY, **options))


def test_without_vectors_what_nothing_speaks_for_is_left_out() -> None:
    found = pool([[1, 1], [1, 0], [0, 0]], at=[999 * DAY] * 3)
    scored = by_words(found)
    assert [item.id for item in scored] == [1, 2]
    assert all(0.0 <= item.score <= 1.0 for item in scored)
    assert sum(scored[0].parts.values()) == pytest.approx(scored[0].score, abs=1e-5)
    assert [item.id for item in by_words(found, recent=True)] == [1, 2, 3]


def test_without_vectors_age_decides_between_equal_matches() -> None:
    assert [item.id for item in by_words(pool([[1], [1]], at=[990 * DAY, 800 * DAY]))] == [1, 2]
