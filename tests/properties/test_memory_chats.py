"""Any file of chats: nothing raises, lines are counted right, and reading twice is reading once."""

import json
from contextlib import suppress
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from memory.chats import parse_chats
from memory.records import BadLine
from memory.times import parse_time
from sidestream.events import Message, SessionEnded

FIELDS = st.sampled_from(
    """role content messages conversations turns from value id session_id ts session text speaker time conversation
    tool_calls name user_id""".split()  # noqa: SIM905 - word lists read best as text
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=8,
)
GOOD = st.builds(
    lambda role, content, session: {"role": role, "content": content, "session_id": session},
    st.sampled_from(["user", "assistant"]),
    st.sampled_from(["yes", "no", "茶"]),
    st.sampled_from(["s1", "s2"]),
)
LINES = st.lists(st.one_of(GOOD.map(json.dumps), JSON.map(json.dumps), st.text(max_size=20)), max_size=12)


def read(lines: list[str]) -> list[tuple[int, Any]]:
    return list(parse_chats(lines, source="f"))


@example(['{"messages": [], "conversations": {"role": null}}'])
@given(LINES)
def test_nothing_raises_and_every_item_names_a_line_that_exists(lines: list[str]) -> None:
    for line, item in read(lines):
        assert 1 <= line <= len(lines)
        assert isinstance(item, Message | SessionEnded | BadLine)
        if isinstance(item, BadLine):
            assert item.line_no == line and item.reason


@given(LINES)
def test_reading_twice_gives_the_same_events(lines: list[str]) -> None:
    assert read(lines) == read(lines)


@given(st.lists(GOOD, max_size=12), st.integers(0, 12))
def test_a_bad_line_costs_itself_alone(good: list[dict[str, str]], place: int) -> None:
    lines = [json.dumps(g) for g in good]
    broken = [*lines[:place], "{broken", *lines[place:]]
    plain = [i for _, i in read(lines)]
    assert [i for _, i in read(broken) if not isinstance(i, BadLine)] == plain
    assert len({i.id for i in plain}) == len(plain)


@given(st.lists(GOOD, max_size=12))
def test_order_within_a_session_is_kept(good: list[dict[str, str]]) -> None:
    found = [i for _, i in read([json.dumps(g) for g in good]) if isinstance(i, Message)]
    assert [(m.session_id, m.content) for m in found] == [(g["session_id"], g["content"]) for g in good]


@given(st.text(max_size=40))
def test_a_time_is_understood_or_refused(text: str) -> None:
    with suppress(ValueError):
        assert isinstance(parse_time(text), float)
