"""Streams, reasoning marks and Retry-After, however they are written."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.errors import BadReply
from llm.retry_after import retry_after
from llm.sse import SseParser
from llm.thinking import ThinkingFilter, spoken

STREAM = (
    ': a comment\r\nevent: message\r\ndata: {"a": "你好"}\r\n\r\n'
    "data: first\rdata: second\r\rid: 7\ndata:tight\n\n\n"
    "data: 🐈 [DONE]\n\n"
)
EVENTS = ['{"a": "你好"}', "first\nsecond", "tight", "🐈 [DONE]"]


def parsed(*chunks: bytes) -> list[str]:
    parser = SseParser()
    return [event for chunk in chunks for event in parser.feed(chunk)] + parser.finish()


@given(cuts=st.lists(st.integers(0, len(STREAM.encode())), max_size=12))
def test_events_do_not_depend_on_how_the_bytes_are_cut(cuts: list[int]) -> None:
    data = STREAM.encode()
    edges = [0, *sorted(cuts), len(data)]
    assert parsed(*[data[a:b] for a, b in pairwise(edges)]) == EVENTS


def test_byte_by_byte() -> None:
    assert parsed(*[bytes([byte]) for byte in STREAM.encode()]) == EVENTS


def test_a_last_event_without_its_empty_line_counts_but_a_cut_line_does_not() -> None:
    assert parsed(b"data: whole\n") == ["whole"]
    assert parsed(b"data: whole\r") == ["whole"]
    assert parsed(b"data: whole\n\ndata: cu") == ["whole"]


def test_a_byte_order_mark_is_passed_over() -> None:
    assert parsed(b"\xef\xbb\xbfdata: x\n\n") == ["x"]


def test_broken_utf8_does_not_stop_the_stream() -> None:
    assert parsed(b"data: a\xffb\n\n") == ["a\ufffdb"]


@pytest.mark.parametrize("chunk", [b"x" * 1_000_000, b"data: " + b"x" * 1_000_000 + b"\n"])
def test_an_endless_event_is_refused(chunk: bytes) -> None:
    parser = SseParser()
    with pytest.raises(BadReply):
        for _ in range(20):
            parser.feed(chunk)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("plain", "plain"),
        ("<think>so and so</think>\n\nYes.", "Yes."),
        ("\n<think></think>Yes.", "Yes."),
        ("<think>never ends", ""),
        ("<thin", "<thin"),
        ("<b>bold</b>", "<b>bold</b>"),
        ("I <think> so", "I <think> so"),
        ("  spaced", "  spaced"),
    ],
)
def test_reasoning_is_taken_off_however_it_is_cut(answer: str, said: str) -> None:
    assert spoken(answer) == said
    for size in (1, 2, 3, 7):
        sieve = ThinkingFilter()
        cut = [answer[i : i + size] for i in range(0, len(answer), size)]
        assert "".join(map(sieve.feed, cut)) + sieve.finish() == said


NOW = 784_111_777.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "Sun, 06 Nov 1994 08:49:47 GMT"}, 10.0),
        ({"retry-after": "Sun, 06 Nov 1994 08:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "2", "retry-after-ms": "350"}, 0.35),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == (pytest.approx(seconds) if seconds is not None else None)
