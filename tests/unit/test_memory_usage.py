"""Which facts an answer used: told from labelled cases in two languages, and by the rules one by one."""

import json
from pathlib import Path
from typing import Any

import pytest

from memory.terms import language
from memory.usage import Given, uses

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "uses.jsonl").read_text(encoding="utf-8").splitlines()
]


def used(case: dict[str, Any]) -> list[tuple[bool, bool]]:
    """(told, true) of each fact that the case gives."""
    given = [Given(str(place), content) for place, (content, _) in enumerate(case["given"])]
    told = uses(case["question"], case["answer"], given)
    return [(use.used, label) for use, (_, label) in zip(told, case["given"], strict=True)]


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_used_facts_are_told_from_unused_ones(spoken: str) -> None:
    pairs = [pair for case in CASES if language(case["answer"]) == spoken for pair in used(case)]
    told, true = sum(t for t, _ in pairs), sum(label for _, label in pairs)
    right = sum(t and label for t, label in pairs)
    assert true >= 13
    assert right / told >= 0.95
    assert right / true >= 0.8


def test_words_of_the_question_tell_less_than_words_of_the_fact() -> None:
    given = [Given("a", "The user's dentist is Dr Okafor."), Given("b", "The user's dentist is in Leeds.")]
    found = uses("Who is my dentist?", "Your dentist is Dr Okafor.", given)
    assert [(use.memory_id, use.used) for use in found] == [("a", True), ("b", False)]


def test_meaning_decides_what_words_leave_open_and_nothing_else() -> None:
    given = [
        Given("a", "Ann plays chess at the club in Ghent", 0.90),
        Given("b", "Ann plays tennis in the park at Bruges", 0.80),
        Given("c", "Ann drives a red van to work", 0.79),
        Given("d", "Ann hates liquorice and mint", 0.80),
    ]
    answer = "At the chess club, I suppose."
    assert [u.used for u in uses("Where to tonight?", answer, given)][1:] == [False, False, False]
    assert uses("Where to tonight?", answer, given)[0].score > 0.2
    assert not any(u.used for u in uses("And?", "I cannot say.", given))


def test_an_empty_answer_used_nothing_and_nothing_given_is_nothing_used() -> None:
    assert not uses("q", "", [Given("a", "Ann is 40")])[0].used
    assert uses("q", "a", []) == []
