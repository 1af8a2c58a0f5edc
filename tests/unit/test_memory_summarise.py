"""Summaries by rule: what they are made of and how long they are."""

from typing import Any

import pytest

from memory.clauses import clauses, size_of, squeeze, tidy
from memory.salience import term_weights
from memory.shorten import GRADES, shorten
from memory.summarise import length_problem, summarise
from memory.toolcalls import call_text
from memory.types import StoredMessage


def message(role: str, content: str, name: str | None = None, **metadata: Any) -> StoredMessage:
    named = {"name": name, "human": True} if name else {}
    return StoredMessage("e", "s", role, content, 0.0, metadata={**named, **metadata})


def said(*messages: StoredMessage) -> str:
    return summarise(messages).content


def test_a_short_turn_stands_in_its_own_words_without_the_greetings() -> None:
    turn = [
        message("user", "Hey Bo! I planted forty tulips on Sunday.", "Ann"),
        message("assistant", "Wow, nice! My brother Ole grows roses in Bergen.", "Bo"),
    ]
    assert said(*turn) == "Ann: I planted forty tulips on Sunday; Bo: My brother Ole grows roses in Bergen"


def test_without_names_the_words_stand_alone() -> None:
    assert said(message("user", "Book the blue hall for Tuesday"), message("assistant", "Booked.")) == (
        "Book the blue hall for Tuesday; Booked"
    )


def test_what_is_too_long_loses_what_tells_least() -> None:
    filler = "I really just think that it is all so very nice and we should totally keep on going like this. "
    turn = [
        message("user", filler * 2 + "Ingrid moves to Tromsø with 12 sled dogs in October. " + filler, "Ann"),
        message("assistant", filler + "The ferry Polarlys sails from Bodø at 15:00.", "Bo"),
    ]
    summary = said(*turn)
    assert size_of(summary, "en") <= 40
    assert {"Ingrid", "Tromsø", "12", "Polarlys"} <= set(summary.replace(";", " ").replace(",", " ").split())


def test_only_as_much_is_left_out_as_has_to_be() -> None:
    sentence = "the red canoe that I really love was left near Odda pier"
    long = " and ".join([sentence.replace("Odda", place) for place in ("Odda", "Voss", "Geilo", "Flåm")])
    short = summarise([message("user", sentence)])
    assert short.content == sentence
    summary = said(message("user", long))
    assert "really" not in summary.split()
    assert size_of(summary, "en") <= 40


def test_negations_and_other_subjects_are_never_dropped() -> None:
    text = "she was not there and he did not call, they could have told you"
    for grade in range(GRADES):
        assert {"she", "not", "he", "they", "could"} <= set(shorten(text, grade, "en").replace(",", "").split())


def test_chinese_is_summarised_in_chinese_within_fifty_characters() -> None:
    turn = [
        message(
            "user", "你好，我叫李雷。昨天我和妹妹一起去了成都的农贸市场，买了两篮苹果和一罐桂花蜂蜜，非常开心。", "李雷"
        ),
        message("assistant", "听起来真的很棒！苹果含有丰富的维生素，蜂蜜也很健康，希望你们以后还能一起去逛市场。"),
    ]
    summary = said(*turn)
    assert summary.startswith("李雷：")
    assert size_of(summary, "zh") <= 50
    assert "农贸市场" in summary and "蜂蜜" in summary
    assert "听起来" not in summary


def test_a_models_long_answer_does_not_drown_the_question() -> None:
    answer = "Hydrangeas prefer acidic compost. " + "Mulch keeps moisture inside sandy borders. " * 30
    summary = said(message("user", "My hydrangeas in the Ghent garden turned pink, why?"), message("assistant", answer))
    assert "hydrangeas" in summary and "Ghent" in summary


def test_tool_traffic_is_no_part_of_a_summary() -> None:
    metadata = {"tool_calls": [{"id": "a", "type": "function", "function": {"name": "find", "arguments": "{}"}}]}
    turn = [
        message("user", "Find the tide table"),
        StoredMessage("e", "s", "assistant", call_text(metadata), 0.0, metadata=metadata),
        message("tool", '{"rows": 3000}', tool_call_id="a"),
        message("assistant", "High water comes at nine"),
    ]
    assert said(*turn) == "Find the tide table; High water comes at nine"


def test_a_turn_of_tool_traffic_alone_is_still_summarised() -> None:
    assert said(message("tool", "disk full", tool_call_id="a")) == "disk full"


@pytest.mark.parametrize(
    ("content", "name", "summary"),
    [("👍", None, "👍"), ("👍", "Ann", "Ann: 👍"), (" \n ", None, "…"), ("?!", None, "?!")],
)
def test_a_turn_without_words_is_given_as_it_stands(content: str, name: str | None, summary: str) -> None:
    found = summarise([message("user", content, name)])
    assert (found.content, found.confidence) == (summary, 0.0)


def test_a_turn_that_only_greets_keeps_its_greeting() -> None:
    assert said(message("user", "Thanks, Bo!", "Ann"), message("assistant", "Bye!", "Bo")) == "Ann: Thanks, Bo; Bo: Bye"


def test_one_endless_word_does_not_make_an_endless_summary() -> None:
    assert len(said(message("user", "x" * 100_000))) <= 600


def test_a_higher_share_of_what_was_said_means_more_confidence() -> None:
    short = summarise([message("user", "The boat is blue")]).confidence
    long = summarise(
        [message("user", " ".join(f"Boat number {n} sails to harbour {n}." for n in range(50)))]
    ).confidence
    assert 0 < long < short <= 0.9


def test_other_limits_are_kept() -> None:
    turn = [message("user", "Ingrid moves to Tromsø with twelve sled dogs in October and sells her boat", "Ann")]
    assert size_of(summarise(turn, max_words=8).content, "en") <= 8


def test_clauses_know_their_sentence_and_questions() -> None:
    found = list(clauses("- One, which is quite long, ends here. Is it 3.5 km? **Bold** words!\n2. Last", 4, "user"))
    assert [(c.text, c.sentence, c.question) for c in found] == [
        ("One, which is quite long", 0, False),
        ("ends here.", 0, False),
        ("Is it 3.5 km?", 1, True),
        ("Bold words!", 2, False),
        ("Last", 3, False),
    ]
    assert {(c.message, c.role) for c in found} == {(4, "user")}


@pytest.mark.parametrize(
    ("text", "spoken", "size"),
    [("", "en", 0), ("two words", "en", 2), ("a 茶馆 b", "en", 4), ("茶 馆 ab", "zh", 4), ("  ", "zh", 0)],
)
def test_sizes(text: str, spoken: str, size: int) -> None:
    assert size_of(text, spoken) == size


@pytest.mark.parametrize(
    ("text", "limit", "spoken", "short"),
    [
        ("one two three", 2, "en", "one two"),
        ("one two", 2, "en", "one two"),
        ("一二三四", 2, "zh", "一二"),
        ("一二三四 words", 2, "en", "一二"),
        ("one", 0, "en", ""),
    ],
)
def test_squeeze(text: str, limit: int, spoken: str, short: str) -> None:
    assert squeeze(text, limit, spoken) == short


def test_tidy() -> None:
    assert tidy(" - so,\n it  was: ") == "so, it was"


def test_names_numbers_and_rare_words_weigh_more_than_everyday_ones() -> None:
    weights = term_weights("then good Ingrid bought 12 hydrangeas", ())
    assert weights["ingrid"] > weights["hydrangea"] > weights["good"]
    assert weights["12"] > weights["hydrangea"]
    assert "then" not in weights
    assert "ingrid" not in term_weights("then Ingrid came", {"ingrid"})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("word " * 40, None),
        ("word " * 41, "41 words long; at most 40 are allowed"),
        ("茶" * 50, None),
        ("茶" * 51, "51 characters long; at most 50 are allowed"),
    ],
)
def test_length_problem(content: str, problem: str | None) -> None:
    assert length_problem(content) == problem
