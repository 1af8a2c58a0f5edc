"""The self-check's facts: drawn anew each time, and only accepted back from the message that told them."""

import random
from typing import Any

import pytest

from cli.facts import Fact, draw
from cli.scripted_chat import Reply
from cli.selfcheck import Asked, Told

FACT = Fact("My aunt's name is Zuvelka.", "What is my aunt's name?", "Zuvelka")


@pytest.mark.parametrize("seed", range(30))
def test_five_facts_with_five_values_that_no_question_gives_away(seed: int) -> None:
    facts = draw(random.Random(seed))
    assert len({fact.value for fact in facts}) == len({fact.question for fact in facts}) == 5
    for fact in facts:
        assert fact.value in fact.telling
        assert not any(fact.value in other.question for other in facts)


def test_another_draw_gives_other_values() -> None:
    values = [fact.value for seed in range(20) for fact in draw(random.Random(seed))]
    assert len(set(values)) > 95


def asked(text: str, *sources: dict[str, Any]) -> Asked:
    return Asked(Told(FACT, "e1"), Reply(text, "e9", list(sources)))


def test_a_fact_passes_with_its_value_and_the_message_that_told_it() -> None:
    source = {"event_id": "e1", "content": FACT.telling}
    assert asked("It is Zuvelka.", source).passed
    assert asked("It is Zuvelka.", source).source == FACT.telling


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("I do not know.", {"event_id": "e1", "content": FACT.telling}),
        ("It is Zuvelka.", {"event_id": "e2", "content": FACT.telling}),
        ("It is Zuvelka.", {"event_id": "e1", "content": "something else"}),
    ],
)
def test_a_fact_does_not_pass_without_either(text: str, source: dict[str, Any]) -> None:
    assert not asked(text, source).passed
    assert not asked(text).passed
