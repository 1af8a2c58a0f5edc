"""When a session is compacted, and what a checkpoint keeps."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.answers import BadAnswer
from memory.compaction.extract import extract
from memory.compaction.parts import TITLES, Part, Parts, as_parts, as_text, fit, merge, no_parts
from memory.compaction.prompt import checkpoint_messages, parse_checkpoint
from memory.compaction.thresholds import CompactionRules, whole_boundary
from memory.tokens import estimate
from memory.types import StoredMessage

RULES = CompactionRules(window_tokens=1_000, window_messages=40)


def said(seq: int, role: str, content: str, turn: int = 1, **metadata: Any) -> StoredMessage:
    return StoredMessage(f"e{seq}", "s1", role, content, 0.0, seq, seq, turn, metadata=metadata)


def parts(**lists: list[str]) -> Parts:
    found = no_parts()
    for part, items in lists.items():
        assert part in TITLES
        found[part] = items
    return as_parts(found)


def call(number: str) -> dict[str, Any]:
    return {"id": number, "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}


# when


@pytest.mark.parametrize(
    ("tokens", "messages", "keep"),
    [(749, 10, None), (750, 10, 5), (750, 5, None), (10, 39, None), (10, 40, 20), (900, 40, 5)],
)
def test_a_session_is_due_by_tokens_or_by_messages(tokens: int, messages: int, keep: int | None) -> None:
    assert RULES.due(tokens, messages) == keep


def test_a_window_of_one_message_does_not_ask_each_time() -> None:
    rules = CompactionRules(window_tokens=1_000_000, window_messages=1)
    assert [rules.due(0, n) for n in (6, 9, 10)] == [None, None, 5]


@pytest.mark.parametrize(
    ("tokens", "messages", "window", "reuse"),
    [(499, 19, 1_000, False), (500, 3, 1_000, True), (500, 3, 100_000, False), (10, 20, 100_000, True)],
)
def test_a_checkpoint_is_used_from_half_a_window_on(tokens: int, messages: int, window: int, reuse: bool) -> None:
    assert RULES.reuse(tokens, messages, window) is reuse


def test_a_boundary_keeps_calls_with_their_results() -> None:
    tail = [
        said(1, "user", "look"),
        said(2, "assistant", "ok", tool_calls=[call("a"), call("b")]),
        said(3, "tool", "one", tool_call_id="a"),
    ]
    assert whole_boundary(tail) == 1
    tail.append(said(4, "tool", "two", tool_call_id="b"))
    assert whole_boundary(tail) == 4


def test_calls_that_the_user_passed_over_hold_no_boundary_back() -> None:
    tail = [said(1, "assistant", "ok", tool_calls=[call("a")]), said(2, "user", "never mind")]
    assert whole_boundary(tail) == 2
    assert whole_boundary(tail[:1]) == 0


# what by rule

WORK: list[tuple[str, str]] = [
    ("user", "Hi! I'm allergic to peanuts and I prefer window seats. Can you find flights to Lisbon in May?"),
    ("assistant", "In conclusion, TAP flies daily for 240 euros."),
    ("user", "We decided to fly on 12 May. Remind me to renew my passport. Remind me to call Dr Weiss."),
    ("assistant", "Noted. I created the file itinerary.md with the plan."),
    ("user", "Error: relation users does not exist"),
    ("assistant", "That is solved by running the migration first. ALTER TABLE users ADD COLUMN seat text."),
    ("user", "I have renewed my passport. We imported 300 rows from users.csv."),
    ("assistant", "Good."),
]


def dialogue(lines: list[tuple[str, str]]) -> list[StoredMessage]:
    return [said(n + 1, role, text, turn=1 + n // 2) for n, (role, text) in enumerate(lines)]


def test_sentences_go_to_the_part_they_belong_to() -> None:
    found = extract(None, dialogue(WORK))
    assert found.requests == ("Can you find flights to Lisbon in May?",)
    assert found.decisions == ("In conclusion, TAP flies daily for 240 euros.", "We decided to fly on 12 May.")
    assert found.objects == ("I created the file itinerary.md with the plan.",)
    assert found.schema_changes == ("ALTER TABLE users ADD COLUMN seat text.",)
    assert found.data_operations == ("We imported 300 rows from users.csv.",)
    assert found.errors == (
        "Error: relation users does not exist",
        "→ That is solved by running the migration first.",
    )
    assert found.preferences == ("I'm allergic to peanuts and I prefer window seats.",)


def test_a_task_that_is_done_is_open_no_more() -> None:
    found = extract(None, dialogue(WORK))
    assert found.open_tasks == ("Remind me to call Dr Weiss.",)
    later = extract(found, [said(9, "user", "I called Dr Weiss today, done.", 5), said(10, "assistant", "Fine.", 5)])
    assert later.open_tasks == ()


def test_chinese_is_read_too() -> None:
    found = extract(
        None,
        dialogue(
            [
                ("user", "我叫张伟，我喜欢喝茶。请帮我查一下上海的天气。"),
                ("assistant", "结论是明天下雨。"),
                ("user", "我们决定下周三去杭州。提醒我买高铁票。"),
                ("assistant", "好的。我创建了行程文档。"),
            ]
        ),
    )
    assert found.requests == ("请帮我查一下上海的天气。",)
    assert found.decisions == ("结论是明天下雨。", "我们决定下周三去杭州。")
    assert found.preferences == ("我叫张伟，我喜欢喝茶。",)
    assert found.open_tasks == ("提醒我买高铁票。",)
    assert found.objects == ("我创建了行程文档。",)


def test_tool_calls_stand_with_their_results_and_sql_is_told_by_what_it_does() -> None:
    found = extract(
        None,
        [
            said(1, "user", "Look at the pier"),
            said(2, "assistant", "Looking.", tool_calls=[call("a")]),
            said(3, "tool", "the ferry has left", tool_call_id="a"),
            said(4, "assistant", "It has left.", sql="DROP TABLE piers"),
        ],
    )
    assert found.tool_calls == ('look({"at": 1}) → the ferry has left',)
    assert found.schema_changes == ("DROP TABLE piers",)


def test_a_turn_that_fits_no_part_leaves_its_line() -> None:
    found = extract(None, dialogue([("user", "The heron of Hven nests at pier four."), ("assistant", "Lovely!")]))
    assert "heron of Hven nests at pier four" in found.other[0]


def test_a_summary_builds_on_the_one_before() -> None:
    base = extract(None, dialogue(WORK))
    later = extract(base, [said(9, "user", "I hate early trains.", 5), said(10, "assistant", "Understood.", 5)])
    assert later.preferences == (*base.preferences, "I hate early trains.")
    assert later.decisions == base.decisions


def test_what_is_said_again_stands_once_but_other_numbers_are_another_thing() -> None:
    old = parts(decisions=["We paid invoice 12.", "We fly on 12 May."])
    new = parts(decisions=["We fly on 12 May, at noon.", "We paid invoice 13."])
    assert merge(old, new).decisions == ("We paid invoice 12.", "We fly on 12 May, at noon.", "We paid invoice 13.")


# how much


def test_too_much_gives_way_by_weight_and_age() -> None:
    much = parts(
        preferences=["I am allergic to peanuts."],
        tool_calls=[f"look({n}) → heron {n}" for n in range(100)],
        other=["Well.", *(f"Ana met captain Number{n} at Hven." for n in range(60))],
    )
    short = fit(much, 300)
    assert short.preferences == much.preferences
    assert short.tool_calls == much.tool_calls[-len(short.tool_calls) :] and short.tool_calls
    assert "Well." not in short.other and short.other[-1] == much.other[-1]


ITEM = st.text(min_size=1, max_size=60).map(str.strip).filter(lambda s: bool(s.split()))


@given(
    lists=st.fixed_dictionaries({part: st.lists(ITEM, max_size=6) for part in TITLES}),
    tokens=st.integers(0, 400),
)
def test_what_fits_is_within_its_size_and_in_its_order(lists: dict[Part, list[str]], tokens: int) -> None:
    try:
        whole = as_parts(lists)
    except ValueError:
        return
    short = fit(whole, tokens)
    assert estimate(as_text(short)) <= tokens
    for part, items in short.items():
        rest = iter(getattr(whole, part))
        assert all(item in rest for item in items)


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool", "system"]), st.text(max_size=300)), max_size=12)
)
def test_any_dialogue_can_be_read(lines: list[tuple[str, str]]) -> None:
    tail = [message for message in dialogue(lines) if not any("\ud800" <= c <= "\udfff" for c in message.content)]
    found = extract(None, tail)
    assert Parts.model_validate_json(found.model_dump_json()) == found
    assert extract(found, []) == found


# by a model


def answer(**lists: list[str]) -> str:
    return json.dumps({**no_parts(), **lists})


def test_a_models_answer_is_read_strictly() -> None:
    assert parse_checkpoint(answer(decisions=[" fly  on\n12 May "]), 100).decisions == ("fly on 12 May",)
    for text, problem in (
        ("Sure!", "JSON"),
        (json.dumps({"decisions": []}), "Field required"),
        (json.dumps({**no_parts(), "mood": []}), "not permitted"),
        (answer(decisions=[1]), "string"),  # type: ignore[list-item]  # a model may say anything
        (answer(decisions=["x" * 700]), "600 characters"),
        (answer(), "all ten lists are empty"),
        (answer(other=["\ud800"]), "Invalid JSON"),
    ):
        with pytest.raises(BadAnswer, match=problem):
            parse_checkpoint(text, 100)


def test_a_model_that_says_too_much_is_cut() -> None:
    long = parse_checkpoint(answer(other=[f"Ana met captain {n} of ferry {n}." for n in range(150)]), 200)
    assert estimate(as_text(long)) <= 200


def test_a_model_is_shown_the_summary_before_and_the_messages_since() -> None:
    system, user = checkpoint_messages(
        "{words} in {language}",
        parts(decisions=["Fly on 12 May."]),
        [said(9, "user", "x" * 3_000), said(10, "assistant", "Fine.", name="Bo")],
        tokens=1_000,
        cut=2_000,
    )
    assert system["content"] == "600 in English or whichever language it is"
    before, since = user["content"].split("\n\n")
    assert "Fly on 12 May." in before
    assert "1000 characters left out" in since and "Bo: Fine." in since
