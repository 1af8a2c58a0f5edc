"""Chat exports of several kinds to events."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from memory.chats import parse_chats
from memory.records import BadLine
from sidestream.events import Message, SessionEnded


def read(*lines: str | dict[str, Any] | list[Any], **options: Any) -> list[Any]:
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    return [item for _, item in parse_chats(texts, **{"source": "file", **options})]


def messages(items: Sequence[Any]) -> list[Message]:
    return [i for i in items if isinstance(i, Message)]


def bad(items: Sequence[Any]) -> list[BadLine]:
    return [i for i in items if isinstance(i, BadLine)]


def test_role_and_content_lines_are_one_chat_named_by_the_file() -> None:
    items = read({"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day"}, user_id="ilse")
    assert [(m.session_id, m.user_id, m.role, m.content) for m in messages(items)] == [
        ("file", "ilse", "user", "Hello"),
        ("file", "ilse", "assistant", "Good day"),
    ]
    assert items[-1] == SessionEnded(id="file/ended", session_id="file", user_id="ilse")


def test_lines_may_name_their_session_user_speaker_and_time() -> None:
    line = {"session_id": "s9", "user_id": "u9", "name": "Ann", "timestamp": "2024-03-01T08:00:00+01:00"}
    items = read({**line, "role": "user", "content": "Hi"})
    first = messages(items)[0]
    assert (first.session_id, first.user_id, first.meta) == ("s9", "u9", {"name": "Ann"})
    assert first.ts is not None and first.ts.isoformat() == "2024-03-01T07:00:00+00:00"
    assert items[-1].ts == first.ts


def test_sessions_that_take_turns_each_end_once_and_last() -> None:
    lines = [{"session_id": s, "role": "user", "content": f"{s}{n}"} for n in range(2) for s in "ab"]
    items = read(*lines)
    assert [type(i).__name__ for i in items] == ["Message"] * 4 + ["SessionEnded"] * 2
    assert [i.session_id for i in items[-2:]] == ["a", "b"]


def test_reading_again_makes_the_same_events_also_after_the_file_grew_in_the_middle() -> None:
    lines: list[dict[str, Any]] = [{"role": "user", "content": text} for text in ("one", "two", "two")]
    before = {m.id for m in messages(read(*lines))}
    assert len(before) == 3
    assert {m.id for m in messages(read(*lines))} == before
    grown = [lines[0], {"role": "assistant", "content": "new"}, *lines[1:]]
    assert len({m.id for m in messages(read(*grown))} - before) == 1


def test_a_message_keeps_an_id_of_its_own() -> None:
    assert messages(read({"id": "m1", "role": "user", "content": "x"}))[0].id == "file/m1"
    assert messages(read({"id": 7, "role": "user", "content": "x"}))[0].id == "file/7"


def test_an_id_that_repeats_is_the_same_message_only_if_it_says_the_same() -> None:
    lines = [{"id": "m1", "role": "user", "content": text} for text in ("x", "x", "y", "y")]
    assert [m.id for m in messages(read(*lines))] == ["file/m1", "file/m1", "file/m1~2", "file/m1~2"]


def test_a_session_name_too_long_to_end_loses_only_its_end() -> None:
    items = read({"session_id": "s" * 252, "id": 1, "role": "user", "content": "x"})
    assert [m.content for m in messages(items)] == ["x"]
    assert "end of session" in bad(items)[0].reason


def test_openai_messages_keep_their_tool_calls() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": '{"at": "Odda"}'}}
    chat = {
        "messages": [
            {"role": "developer", "content": "Be brief"},
            {"role": "user", "content": [{"type": "text", "text": "Tide?"}, {"type": "image_url", "image_url": {}}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "3 m"},
            {"role": "assistant", "content": "Three metres."},
        ]
    }
    found = messages(read(chat))
    assert [(m.role, m.content) for m in found] == [
        ("system", "Be brief"),
        ("user", "Tide?\n[image_url]"),
        ("assistant", '[calls tide({"at": "Odda"})]'),
        ("tool", "3 m"),
        ("assistant", "Three metres."),
    ]
    assert found[2].meta["tool_calls"] == [call]
    assert found[3].meta["tool_call_id"] == "c1"


def test_a_call_in_openais_older_form_is_kept() -> None:
    chat = [
        {"role": "user", "content": "Tide?"},
        {"role": "assistant", "content": None, "function_call": {"name": "tide", "arguments": '{"at": "Odda"}'}},
        {"role": "function", "name": "tide", "content": "3 m"},
    ]
    asked, called, answered = messages(read({"messages": chat}))
    assert (called.content, answered.role) == ('[calls tide({"at": "Odda"})]', "tool")
    assert called.meta["tool_calls"][0]["function"]["name"] == "tide"
    assert asked.session_id == answered.session_id


def test_a_list_of_chats_over_many_lines_gives_a_session_each_with_its_line() -> None:
    chats = [
        {"id": "a", "messages": [{"role": "user", "content": "x"}]},
        {"messages": [{"role": "user", "content": "y"}]},
    ]
    text = json.dumps(chats, indent=2)
    items = list(parse_chats(text.splitlines(keepends=True), source="file"))
    assert [(line, type(i).__name__) for line, i in items][:2] == [(2, "Message"), (11, "Message")]
    first, second = messages([i for _, i in items])
    assert first.session_id == "file/a"
    assert second.session_id.startswith("file/") and second.session_id != first.session_id


@pytest.mark.parametrize("questions", [("tides?", "winds?"), ("tides?", "tides?")])
def test_chats_without_a_name_that_begin_alike_stay_apart(questions: Sequence[str]) -> None:
    chats = [
        {"messages": [{"role": "system", "content": "Be brief"}, {"role": "user", "content": q}]} for q in questions
    ]
    first, second = (items := read(*chats))[1].session_id, items[3].session_id
    assert [m.session_id for m in messages(items)] == [first, first, second, second]
    assert first != second
    grown = [{"messages": [*chat["messages"], {"role": "assistant", "content": "Fine."}]} for chat in chats]
    assert {m.session_id for m in messages(read(*grown))} == {first, second}


def test_one_document_may_be_a_list_of_messages() -> None:
    text = json.dumps([{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}], indent=1)
    found = [i for _, i in parse_chats(text.splitlines(), source="file")]
    assert [(m.session_id, m.content) for m in messages(found)] == [("file", "x"), ("file", "y")]


def test_sharegpt_conversations() -> None:
    chat = {
        "id": "g1",
        "conversations": [
            {"from": "system", "value": "s"},
            {"from": "human", "value": "h"},
            {"from": "gpt", "value": "g"},
        ],
    }
    found = messages(read([chat]))
    assert [(m.session_id, m.role, m.content) for m in found] == [
        ("file/g1", "system", "s"),
        ("file/g1", "user", "h"),
        ("file/g1", "assistant", "g"),
    ]


def test_a_chats_own_time_holds_for_messages_without_one() -> None:
    chat = {"create_time": 1_700_000_000, "messages": [{"role": "user", "content": "x"}]}
    first = messages(read(chat))[0]
    assert first.ts is not None and first.ts.timestamp() == 1_700_000_000


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{not json", "not JSON"),
        ("42", "a int is not a message or a chat"),
        ("{}", "no role and content"),
        ('{"role": "user"}', "content is empty"),
        ('{"role": "user", "content": "  "}', "content is empty"),
        ('{"role": "user", "content": 5}', "content: a int is not text"),
        ('{"role": "wizard", "content": "x"}', "role: 'wizard' is not"),
        ('{"role": "user", "content": "x", "ts": "soon"}', "not a time"),
        ('{"role": "user", "content": "x", "ts": [1]}', "ts: not a time"),
        ('{"role": "user", "content": "x", "session_id": "a\\nb"}', "control characters"),
        ('{"role": "user", "content": "\\ud800"}', "content"),
        ('{"role": "user", "content": "x", "meta": {"n": NaN}}', ""),
        ('{"messages": ["x"]}', "message 1: not an object"),
        ('{"messages": [{"role": "user"}]}', "message 1: content is empty"),
        ('{"messages": [], "ts": "soon"}', "not a time"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line_and_nothing_else_is_lost(line: str, reason: str) -> None:
    good = {"role": "user", "content": "fine"}
    items = read(good, "", line, good)
    assert [m.content for m in messages(items)] == ["fine", "fine"]
    (found,) = bad(items)
    assert found.line_no == 3
    assert reason in found.reason


def test_a_bad_first_line_does_not_hide_the_rest() -> None:
    items = read("{broken", {"role": "user", "content": "fine"})
    assert [b.line_no for b in bad(items)] == [1]
    assert [m.content for m in messages(items)] == ["fine"]


def test_a_byte_order_mark_and_an_empty_file_do_no_harm() -> None:
    assert read("\ufeff" + json.dumps({"role": "user", "content": "x"}))[0].content == "x"
    assert read() == read("", "  ") == []
