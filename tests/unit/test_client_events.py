"""The event contract: what is taken, what is refused and with which words."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from sidestream.errors import InvalidEvent
from sidestream.events import (
    MODELS,
    MemoryForget,
    Message,
    SessionStarted,
    check_time,
    parse_entry,
    parse_event,
)
from sidestream.fieldtypes import MAX_CONTENT_BYTES, MAX_META_BYTES

SAID = {"type": "message", "session_id": "s1", "role": "user", "content": "hi"}


def entry(**fields: str) -> dict[str, str]:
    return {**SAID, **fields}


def reason(fields: dict[str, Any]) -> str:
    """Why an entry is refused."""
    with pytest.raises(InvalidEvent) as caught:
        parse_entry(fields)
    return str(caught.value)


def test_four_fields_are_a_message() -> None:
    event = parse_entry(SAID)
    assert event == Message(session_id="s1", role="user", content="hi")
    assert event.to_fields() == SAID


def test_every_type_of_the_contract_is_known() -> None:
    assert list(MODELS) == [
        "message",
        "session.started",
        "session.ended",
        "session.reset",
        "session.flushed",
        "subagent.started",
        "subagent.message",
        "subagent.finished",
        "memory.remember",
        "memory.forget",
        "memory.adjust",
        "memory.used",
    ]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "type: is missing; allowed are message, session.started,"),
        ({"type": "shout"}, "type: 'shout' is not an event type; allowed are message,"),
        ({"type": "message"}, "session_id: is required; role: is required; content: is required"),
        (entry(role="robot"), "role: Input should be 'user', 'assistant', 'system' or 'tool'"),
        (entry(content=""), "content: must not be empty"),
        (entry(session_id=""), "session_id: must not be empty"),
        (entry(session_id="a\nb"), "session_id: control characters are not allowed"),
        (entry(session_id="a\x7f"), "session_id: control characters are not allowed"),
        (entry(session_id=" a"), "session_id: leading or trailing space is not allowed"),
        (entry(session_id="a\u3000"), "session_id: leading or trailing space is not allowed"),
        (entry(session_id="a" * 257), "session_id: String should have at most 256 characters"),
        (entry(user_id="\ud800"), "user_id: holds a lone surrogate, which is not Unicode text"),
        (entry(content="a\ud800b"), "content: holds a lone surrogate, which is not Unicode text"),
        (entry(v="2"), "v: version '2' is not known here; this reader knows version 1"),
        (entry(v="²"), "v: version '²' is not known here; this reader knows version 1"),
        (entry(v="1" * 5000), "v: version '11111111111111111111' is not known here;"),
        (entry(msg_type="joke"), "msg_type: Input should be 'normal', 'fact', 'todo',"),
    ],
)
def test_what_is_refused_and_why(fields: dict[str, str], words: str) -> None:
    assert reason(fields).startswith(words)


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        ("{", "meta: Expecting property name"),
        ("[]", "meta: must be a JSON object"),
        ("null", "meta: must be a JSON object"),
        ('"text"', "meta: must be a JSON object"),
        ('{"a": NaN}', "meta: NaN is not JSON"),
        ('{"a": -Infinity}', "meta: -Infinity is not JSON"),
        ('{"a": 1e999}', "meta: 1e999 is out of range"),
        ('{"a": ' + "9" * 5000 + "}", "meta: Exceeds the limit (4300 digits)"),
        ('{"a": "\\ud800"}', "meta: holds a lone surrogate, which is not Unicode text"),
        ('{"\\ud800": 1}', "meta: holds a lone surrogate, which is not Unicode text"),
        ('{"a":' + "[" * 64 + "]" * 64 + "}", "meta: is nested deeper than 64 levels"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "meta: is nested deeper than 64 levels"),
    ],
)
def test_meta_that_is_refused(meta: str, words: str) -> None:
    assert reason(entry(meta=meta)).startswith(words)


def test_meta_may_be_deep_to_a_point() -> None:
    meta = '{"a":' * 63 + "[1]" + "}" * 63
    assert parse_entry(entry(meta=meta)).to_fields()["meta"] == meta


@pytest.mark.parametrize("size", [MAX_META_BYTES, MAX_META_BYTES + 1])
def test_meta_is_counted_in_bytes_of_json(size: int) -> None:
    text = "é" * ((size - 8) // 2) + "x" * (size % 2)
    meta = json.dumps({"a": text}, ensure_ascii=False, separators=(",", ":"))
    assert len(meta.encode()) == size
    if size > MAX_META_BYTES:
        assert reason(entry(meta=meta)) == "meta: is 262145 bytes of JSON; at most 262144 are allowed"
    else:
        assert parse_entry(entry(meta=meta)).to_fields()["meta"] == meta


@pytest.mark.parametrize("character", ["x", "é", "你", "😀"])
def test_content_is_counted_in_bytes(character: str) -> None:
    most = character * (MAX_CONTENT_BYTES // len(character.encode()))
    assert parse_entry(entry(content=most)).to_fields()["content"] == most
    assert "bytes; at most 1048576 are allowed" in reason(entry(content=most + character))


@pytest.mark.parametrize("meta", [{"a": float("nan")}, {"a": b"x"}, {"a": {1, 2}}, {"a": object()}, [1]])
def test_meta_that_is_not_json_is_refused_when_the_event_is_made(meta: Any) -> None:
    with pytest.raises(ValueError, match="meta"):
        Message(session_id="s1", role="user", content="hi", meta=meta)


def test_meta_is_a_copy_in_the_form_that_a_reader_gets() -> None:
    given: dict[str, Any] = {"a": (1, {2: [3]})}
    event = Message(session_id="s1", role="user", content="hi", meta=given)
    given["a"] = "changed"
    assert event.meta == {"a": [1, {"2": [3]}]}
    assert parse_entry(event.to_fields()) == event


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-01-31T09:00:00Z", "2026-01-31T09:00:00Z"),
        ("2026-01-31t09:00:00z", "2026-01-31T09:00:00Z"),
        ("2026-01-31 09:00:00Z", "2026-01-31T09:00:00Z"),
        ("2026-01-31T09:00:00.25+08:00", "2026-01-31T01:00:00.250000Z"),
        ("2026-01-31T09:00:00.123456789-00:30", "2026-01-31T09:30:00.123456Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ],
)
def test_times_are_rfc_3339_and_kept_in_utc(written: str, meant: str) -> None:
    assert parse_entry(entry(ts=written)).to_fields()["ts"] == meant


@pytest.mark.parametrize(
    "written",
    [
        "1700000000",
        "1700000000.5",
        "2026-01-31",
        "20260131T090000Z",
        "2026-01-31T09:00Z",
        "2026-01-31T09:00:00",
        "2026-W05-6T09:00:00Z",
        "2026-01-31T09:00:00+0800",
        "٢٠٢٦-01-31T09:00:00Z",
        "yesterday",
        "",
    ],
)
def test_other_forms_of_time_are_refused_with_an_example(written: str) -> None:
    assert reason(entry(ts=written)).startswith("ts: must be an RFC 3339 time, as in 2026-01-31T09:00:00Z")


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("2026-02-30T09:00:00Z", "ts: 2026-02-30T09:00:00Z is no time: day is out of range for month"),
        ("2026-01-31T09:00:60Z", "ts: 2026-01-31T09:00:60Z is no time: second must be in 0..59"),
        ("0001-01-01T00:00:00+14:00", "ts: lies outside the years 1 to 9999"),
    ],
)
def test_times_that_do_not_exist_are_refused(written: str, words: str) -> None:
    assert reason(entry(ts=written)) == words


@pytest.mark.parametrize("ts", [1_700_000_000, 1_700_000_000.5, True])
def test_a_number_is_no_time(ts: Any) -> None:
    with pytest.raises(InvalidEvent, match=r"ts: must be an RFC 3339 time, .*, and not a number"):
        parse_event({**SAID, "ts": ts})


def test_a_time_without_an_offset_is_refused() -> None:
    with pytest.raises(InvalidEvent, match="ts: must carry an offset"):
        parse_event({**SAID, "ts": datetime(2026, 1, 31, 9)})  # noqa: DTZ001 - the point of the test


def test_the_past_is_welcome_and_the_future_for_five_minutes() -> None:
    now = datetime(2026, 1, 31, tzinfo=UTC)
    check_time(datetime(1, 1, 1, tzinfo=UTC), now)
    check_time(datetime(2026, 1, 31, 0, 5, tzinfo=UTC), now)
    with pytest.raises(InvalidEvent, match="301 s ahead of the clock; at most 300 s are allowed"):
        check_time(datetime(2026, 1, 31, 0, 5, 1, tzinfo=UTC), now)


def test_unknown_fields_of_an_entry_are_kept_in_meta() -> None:
    event = parse_entry(entry(mood="good", name="Ann", meta='{"name": "Bea"}'))
    assert event.meta == {"mood": "good", "name": "Bea"}


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def test_fields_that_mean_something_in_meta_mean_it_beside_it_too() -> None:
    event = parse_entry(entry(tool_calls=json.dumps([CALL]), human="true", trace='{"traceparent": "00-1"}', score="1"))
    assert event.meta == {"tool_calls": [CALL], "human": True, "trace": {"traceparent": "00-1"}, "score": "1"}
    assert event.digest() == parse_entry(entry(meta=json.dumps(event.meta))).digest()
    assert parse_entry(entry(trace="00-1")).meta == {"trace": "00-1"}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("tool_calls", "look()", "tool_calls: "),
        ("tool_calls", json.dumps(CALL), "tool_calls: must be a JSON array"),
        ("tool_calls", "[" * 100_000, "tool_calls: "),
        ("human", "yes", "human: 'yes' is not allowed; allowed are true, false"),
    ],
)
def test_such_fields_in_another_form_are_refused(name: str, text: str, words: str) -> None:
    assert reason(entry(**{name: text})).startswith(words)


def test_unknown_fields_count_as_meta() -> None:
    assert "bytes of JSON; at most" in reason(entry(mood="x" * MAX_META_BYTES))


def test_unknown_fields_of_an_event_made_in_code_are_refused() -> None:
    with pytest.raises(InvalidEvent, match="mood: is not a field of this event type"):
        parse_event({**SAID, "mood": "good"})


@pytest.mark.parametrize(("text", "value"), [("true", True), ("1", True), ("false", False), ("0", False)])
def test_flags_are_read_from_text(text: str, value: bool) -> None:
    assert parse_entry({"type": "session.started", "session_id": "s", "shared": text}) == SessionStarted(
        session_id="s", shared=value
    )
    forget = {"type": "memory.forget", "session_id": "s", "key": "k", "hard": text}
    assert parse_entry(forget) == MemoryForget(session_id="s", key="k", hard=value)


@pytest.mark.parametrize("also", [{}, {"key": "k", "memory_id": "m"}])
def test_forget_names_one_memory(also: dict[str, str]) -> None:
    fields = {"type": "memory.forget", "session_id": "s", **also}
    assert reason(fields) == "event: exactly one of memory_id and key is needed"


@pytest.mark.parametrize("number", ["nan", "inf", "1.5", "-0.1", "high"])
def test_importance_is_a_share(number: str) -> None:
    fields = {"type": "memory.remember", "session_id": "s", "content": "c", "importance": number}
    assert reason(fields).startswith("importance: ")


@pytest.mark.parametrize("ids", ["[]", "{}", "m1", "[1]", '[""]', "[" * 100_000])
def test_memory_ids_are_a_list_of_ids(ids: str) -> None:
    assert reason({"type": "memory.used", "session_id": "s", "memory_ids": ids}).startswith("memory_ids")


def test_words_of_a_refusal_do_not_repeat_content() -> None:
    assert "secret" not in reason(entry(content="secret " * 200_000, role="secret"))
    assert len(reason({"type": "x" * 100_000})) < 400


def test_the_type_may_be_anything_at_all() -> None:
    kinds: tuple[Any, ...] = (None, 7, [], {}, b"message")
    for kind in kinds:
        with pytest.raises(InvalidEvent, match="type: "):
            parse_event({**SAID, "type": kind})
