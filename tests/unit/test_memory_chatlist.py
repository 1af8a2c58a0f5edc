"""Windows to lists that chat APIs accept, above all with tool calls in them."""

from typing import Any

import pytest

from memory.chatlist import cut_middle, group, merge_system, render
from memory.toolcalls import answered_call, call_ids, call_text, tool_calls
from memory.types import StoredMessage


def call(number: str) -> dict[str, Any]:
    return {"id": number, "type": "function", "function": {"name": "look", "arguments": '{"for": "tea"}'}}


def message(role: str, content: str, **metadata: Any) -> StoredMessage:
    return StoredMessage("e", "s", role, content, 0.0, metadata=metadata)


def listed(window: list[StoredMessage]) -> list[dict[str, Any]]:
    return [m for g in group(window)[0] for m in render(g, 2_000)]


def test_calls_and_their_results_stay_together_in_the_order_of_the_calls() -> None:
    asked = message("assistant", "Let me look.", tool_calls=[call("a"), call("b")])
    window = [
        message("user", "Tea?"),
        asked,
        message("tool", "none", tool_call_id="b"),
        message("tool", "some", tool_call_id="a"),
        message("assistant", "There is some."),
    ]
    assert listed(window) == [
        {"role": "user", "content": "Tea?"},
        {"role": "assistant", "content": "Let me look.", "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": "some"},
        {"role": "tool", "tool_call_id": "b", "content": "none"},
        {"role": "assistant", "content": "There is some."},
    ]


def test_a_result_that_comes_late_is_put_behind_its_call() -> None:
    window = [
        message("assistant", "Wait.", tool_calls=[call("a")]),
        message("user", "Hurry"),
        message("tool", "some", tool_call_id="a"),
    ]
    assert [m["role"] for m in listed(window)] == ["assistant", "tool", "user"]


def test_a_call_without_a_result_is_left_out() -> None:
    window = [message("assistant", "Wait.", tool_calls=[call("a"), call("b")]), message("tool", "x", tool_call_id="b")]
    assert listed(window)[0]["tool_calls"] == [call("b")]
    assert listed(window[:1]) == [{"role": "assistant", "content": "Wait."}]


def test_a_result_without_its_call_is_left_out_and_counted() -> None:
    groups, orphans = group([message("tool", "x", tool_call_id="gone"), message("tool", "y"), message("user", "z")])
    assert [g.head.content for g in groups] == ["z"]
    assert [m.content for m in orphans] == ["x", "y"]


def test_an_id_used_twice_belongs_to_the_newest_call() -> None:
    window = [
        message("assistant", "1", tool_calls=[call("a")]),
        message("tool", "first", tool_call_id="a"),
        message("assistant", "2", tool_calls=[call("a")]),
        message("tool", "second", tool_call_id="a"),
    ]
    assert [m["content"] for m in listed(window)] == ["1", "first", "2", "second"]


def test_words_that_stand_for_calls_alone_are_not_sent_beside_them() -> None:
    metadata = {"tool_calls": [call("a")]}
    asked = message("assistant", call_text(metadata), **metadata)
    assert listed([asked, message("tool", "x", tool_call_id="a")])[0]["content"] == ""
    assert listed([asked])[0]["content"] == '[calls look({"for": "tea"})]'


def test_system_messages_can_be_joined_at_the_start() -> None:
    messages = [
        {"role": "system", "content": "a"},
        {"role": "user", "content": "q"},
        {"role": "system", "content": "b"},
    ]
    assert merge_system(messages) == [{"role": "system", "content": "a\n\nb"}, {"role": "user", "content": "q"}]
    assert merge_system(messages[1:2]) == messages[1:2]


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("short", 5, "short"),
        ("abcdefgh", 4, "ab\n[... 4 characters left out ...]\ngh"),
        ("abcdefghi", 5, "ab\n[... 5 characters left out ...]\nhi"),
        ("茶" * 9, 4, "茶茶\n[... 5 characters left out ...]\n茶茶"),
        ("", 0, ""),
        ("abc", 0, "\n[... 3 characters left out ...]\n"),
    ],
)
def test_cut_middle(text: str, limit: int, cut: str) -> None:
    assert cut_middle(text, limit) == cut


@pytest.mark.parametrize(
    "calls",
    [
        None,
        "x",
        [],
        ["x"],
        [{"id": "a"}],
        [{"id": "", "function": {"name": "f"}}],
        [{"id": 1, "function": {"name": "f"}}],
        [{"id": "a", "function": {"name": 2}}],
        {"id": "a"},
    ],
)
def test_malformed_calls_are_no_calls(calls: Any) -> None:
    assert tool_calls({"tool_calls": calls}) == []
    assert call_ids({"tool_calls": calls}) == []
    assert call_text({"tool_calls": calls}) == ""


def test_what_a_tool_message_answers() -> None:
    assert answered_call({"tool_call_id": "a"}) == "a"
    assert answered_call({}) is answered_call({"tool_call_id": ""}) is answered_call({"tool_call_id": 3}) is None
