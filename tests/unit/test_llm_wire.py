"""Replies and streamed pieces of many servers, read into one form."""

import itertools
import json
from typing import Any

import pytest

from llm.errors import BadReply, RateLimited, ServerError
from llm.openai_wire import StreamReader, read_reply, read_usage
from llm.ports import ToolCall, Usage


def ids() -> Any:
    counter = itertools.count(1)
    return lambda: f"n{next(counter)}"


def body(message: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "stop"}], **more}


def read(message: Any, **more: Any) -> Any:
    return read_reply(body(message, **more), "asked-for", ids())


def test_a_plain_reply() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    reply = read({"role": "assistant", "content": "Hello"}, model="served", usage=usage)
    assert (reply.content, reply.model, reply.usage) == ("Hello", "served", Usage(7, 2))


def test_the_model_asked_for_stands_in_for_one_not_named() -> None:
    assert read({"content": "x"}, model=None).model == "asked-for"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": None, "refusal": "No."}, "No."),
        ({"content": "<think>hm</think>Yes"}, "Yes"),
        ({"content": "Yes", "reasoning_content": "hm"}, "Yes"),
    ],
)
def test_forms_of_content(message: dict[str, Any], text: str) -> None:
    assert read(message).content == text


def test_tool_calls_with_and_without_ids() -> None:
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}},
        {"function": {"name": "list", "arguments": None}},
    ]
    reply = read({"content": None, "tool_calls": calls})
    assert reply.tool_calls == (ToolCall("c1", "look", '{"q": 1}'), ToolCall("call_n1", "list", "{}"))


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"choices": []},
        {"choices": "x"},
        {"choices": [3]},
        {"choices": [{"message": None}]},
        body({"content": ""}),
        body({"content": " \n"}),
        body({"content": 7}),
        body({"content": "<think>only"}),
        body({"content": None, "tool_calls": [{"function": {"arguments": "{}"}}]}),
        body({"content": None, "tool_calls": [{}]}),
        body({"content": None, "tool_calls": "x"}),
    ],
)
def test_what_breaks_the_protocol_is_a_bad_reply(bad: dict[str, Any]) -> None:
    with pytest.raises(BadReply):
        read_reply(bad, "m", ids())


@pytest.mark.parametrize("usage", [None, "x", {}, {"prompt_tokens": None, "completion_tokens": -1}])
def test_usage_that_is_not_reported_is_zero(usage: Any) -> None:
    assert read_usage({"usage": usage}) == Usage()


def event(delta: Any = None, *, finish: str | None = None, **more: Any) -> str:
    return json.dumps({"choices": [{"delta": delta, "finish_reason": finish}], **more})


def call(index: int | None, *, id: str | None = None, name: str | None = None, arguments: str = "") -> Any:
    piece: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    if index is not None:
        piece["index"] = index
    if id is not None:
        piece["id"] = id
    return event({"tool_calls": [piece]})


def test_a_stream_is_put_together() -> None:
    reader = StreamReader("asked-for", ids())
    said = [reader.feed(e) for e in (event({"role": "assistant"}), event({"content": "He"}), event({"content": "y"}))]
    assert said == ["", "He", "y"]
    assert not reader.finished
    reader.feed(event({}, finish="stop", model="served"))
    assert reader.finished
    reader.feed(json.dumps({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}))
    reply = reader.reply()
    assert (reply.content, reply.usage, reply.model) == ("Hey", Usage(3, 1), "served")


def test_held_back_text_comes_with_the_flush() -> None:
    reader = StreamReader("m", ids())
    assert reader.feed(event({"content": "<"})) == ""
    assert reader.flush() == "<"
    assert reader.reply().content == "<"


def test_calls_in_turns_by_index() -> None:
    reader = StreamReader("m", ids())
    for piece in (
        call(0, id="a", name="one", arguments='{"x"'),
        call(1, id="b", name="two"),
        call(0, arguments=": 1}"),
        call(1, arguments='{"y": 2}'),
    ):
        reader.feed(piece)
    assert reader.reply().tool_calls == (ToolCall("a", "one", '{"x": 1}'), ToolCall("b", "two", '{"y": 2}'))


@pytest.mark.parametrize("index", [0, None])
def test_calls_told_apart_by_id_where_the_index_does_not(index: int | None) -> None:
    reader = StreamReader("m", ids())
    reader.feed(call(index, id="a", name="one", arguments="{}"))
    reader.feed(call(index, id="b", name="two", arguments='{"y"'))
    reader.feed(call(index, arguments=": 2}"))
    assert reader.reply().tool_calls == (ToolCall("a", "one", "{}"), ToolCall("b", "two", '{"y": 2}'))


def test_errors_inside_a_stream() -> None:
    reader = StreamReader("m", ids())
    with pytest.raises(ServerError, match="overloaded"):
        reader.feed(json.dumps({"error": {"message": "overloaded"}}))
    with pytest.raises(RateLimited):
        reader.feed(json.dumps({"error": {"message": "slow down", "code": 429}}))
    with pytest.raises(ServerError, match="plain"):
        reader.feed(json.dumps({"error": "plain"}))


@pytest.mark.parametrize("data", ["{", "[]", event(7), event({"content": 7}), event({"tool_calls": [7]})])
def test_pieces_that_break_the_protocol(data: str) -> None:
    with pytest.raises(BadReply):
        StreamReader("m", ids()).feed(data)


def test_an_empty_stream_is_no_answer() -> None:
    reader = StreamReader("m", ids())
    reader.feed(event({}, finish="length"))
    with pytest.raises(BadReply, match="length"):
        reader.reply()
