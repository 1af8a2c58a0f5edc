"""The summary prompt for a model, and how strictly its answer is read."""

import json

import pytest

from memory.prompts import BadSummary, parse_summary, repair_messages, summary_messages
from memory.types import StoredMessage


def message(role: str, content: str, **metadata: object) -> StoredMessage:
    return StoredMessage("e", "s", role, content, 0.0, metadata=metadata)


def answer(summary: object = "Ann sold her boat", confidence: object = 0.8, **more: object) -> str:
    return json.dumps({"summary": summary, "confidence": confidence, **more}, ensure_ascii=False)


def test_the_prompt_names_limit_and_language_and_frames_the_turn() -> None:
    system, user = summary_messages([message("user", "I sold\nmy boat", name="Ann"), message("assistant", "Why?")])
    assert "at most 40 words" in system["content"] and "English" in system["content"]
    opening, first, second, closing = user["content"].split("\n")
    assert (first, second) == ("Ann: I sold my boat", "assistant: Why?")
    assert closing == opening.replace("<", "</")


def test_a_chinese_turn_is_asked_for_in_chinese() -> None:
    system, _ = summary_messages([message("user", "我昨天把船卖了")])
    assert "at most 50 characters" in system["content"] and "Chinese" in system["content"]


@pytest.mark.parametrize(
    "text",
    [answer(), f"  {answer()}\n", f"```json\n{answer()}\n```", f"```\n{answer()}\n```"],
)
def test_an_answer_as_asked_for(text: str) -> None:
    found = parse_summary(text)
    assert (found.content, found.confidence) == ("Ann sold her boat", 0.8)


def test_a_summary_is_put_on_one_line() -> None:
    assert parse_summary(answer("two\n lines", 1)).content == "two lines"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("Here it is: " + answer(), "not JSON"),
        ("[]", "not an object"),
        ('{"summary": "x"}', "exactly"),
        (answer(more=1), "exactly"),
        (answer(" "), "summary is not a text"),
        (answer(None), "summary is not a text"),
        (answer(confidence="high"), "confidence"),
        (answer(confidence=True), "confidence"),
        (answer(confidence=1.5), "confidence"),
        (answer(confidence=float("nan")), "confidence"),
        (answer("word " * 41), "41 words long"),
        (answer("茶" * 51), "51 characters long"),
        ("[" * 100_000, "not JSON"),
        (answer("a boat \ud83d"), "surrogate"),
    ],
)
def test_any_other_answer_is_refused_with_its_reason(text: str, problem: str) -> None:
    with pytest.raises(BadSummary, match=problem):
        parse_summary(text)


def test_a_repair_repeats_the_request_with_what_was_wrong() -> None:
    asked = summary_messages([message("user", "I sold my boat")])
    again = repair_messages(asked, "", "not JSON: empty")
    assert again[: len(asked)] == asked
    assert [m["role"] for m in again[len(asked) :]] == ["assistant", "user"]
    assert again[-2]["content"] == "(empty)"
    assert "not JSON: empty" in again[-1]["content"]
