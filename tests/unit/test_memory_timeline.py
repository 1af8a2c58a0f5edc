"""Days, weeks and months of the timeline, and the shortening of what they hold."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.answers import BadAnswer
from memory.condense import condense
from memory.timeline import TimelineRules, bounds, period, roll_up
from memory.timeline_prompt import parse_timeline, timeline_messages
from memory.types import TimelineEntry, TimelineLevel

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def entry(content: str, number: int = 1) -> TimelineEntry:
    return TimelineEntry(number, "session", f"s{number}", content, 0.0, 1.0, len(content))


def test_a_moment_belongs_to_the_day_of_the_zone() -> None:
    moment = at("2026-11-29T23:30:00")
    assert period("day", moment, ZoneInfo("UTC")) == "2026-11-29"
    assert period("day", moment, BERLIN) == "2026-11-30"
    assert period("week", moment, ZoneInfo("UTC")) == "2026-W48"
    assert period("week", moment, BERLIN) == "2026-W49"


def test_a_week_belongs_to_the_month_of_its_thursday() -> None:
    assert period("month", at("2026-11-30T12:00:00"), BERLIN) == "2026-12"
    assert period("month", at("2027-01-01T12:00:00"), BERLIN) == "2026-12"
    assert period("week", at("2027-01-01T12:00:00"), BERLIN) == "2026-W53"


def test_a_day_in_which_the_clock_is_changed_has_its_own_length() -> None:
    start, end = bounds("day", "2026-03-29", BERLIN)
    assert end - start == 23 * 3600
    start, end = bounds("day", "2026-10-25", BERLIN)
    assert end - start == 25 * 3600


def test_a_session_is_no_period() -> None:
    with pytest.raises(ValueError, match="no period"):
        period("session", 0.0, BERLIN)
    with pytest.raises(ValueError, match="no period"):
        bounds("session", "x", BERLIN)


@given(
    moment=st.integers(0, 4_000_000_000),
    level=st.sampled_from(["day", "week", "month"]),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Shanghai"]),
)
def test_a_moment_lies_within_its_period_and_nothing_of_the_next_does(
    moment: int, level: TimelineLevel, zone: str
) -> None:
    where = ZoneInfo(zone)
    name = period(level, moment, where)
    start, end = bounds(level, name, where)
    assert start <= moment < end
    assert period(level, start, where) == name != period(level, end, where)


def test_lengths_are_shares_of_the_sessions_entries() -> None:
    rules = TimelineRules()
    assert [rules.length(level, 4_000) for level in ("session", "day", "week", "month")] == [4_000, 2_000, 1_000, 400]


def test_what_tells_most_is_kept_in_its_order() -> None:
    lines = [
        "Well that is nice. Ana moved to Lisbon on 3 May and works for Orbital there.",
        "Thanks! They chose PostgreSQL 16 for the ledger service.",
        "It was all so good. It was nice.",
    ]
    assert condense(lines, 110) == (
        "Ana moved to Lisbon on 3 May and works for Orbital there.\nThey chose PostgreSQL 16 for the ledger service."
    )


def test_chinese_is_shortened_too() -> None:
    lines = ["你好呀。张伟决定把数据库迁移到上海机房，费用是三万元。", "好的，谢谢。"]
    assert condense(lines, 26) == "张伟决定把数据库迁移到上海机房，费用是三万元。"


def test_one_long_sentence_is_cut() -> None:
    assert condense(["word " * 100], 20) == "word word word word"


def test_the_same_line_stands_once() -> None:
    assert roll_up([entry("Bo sold the boat."), entry("Bo sold the boat.", 2)], 1_000) == "Bo sold the boat."


@given(lines=st.lists(st.text(max_size=200), max_size=20), length=st.integers(0, 300))
def test_a_shortened_text_keeps_to_its_length_and_says_nothing_new(lines: list[str], length: int) -> None:
    short = condense(lines, length)
    assert len(short) <= length
    whole = "\n".join(lines)
    assert all(c in whole or c.isspace() for c in short)


def test_a_models_text_is_read_strictly() -> None:
    assert parse_timeline('{"text": " Ana  moved.\\n\\nBo stayed. "}', 100) == "Ana moved.\nBo stayed."
    assert parse_timeline('```json\n{"text": "Ana moved."}\n```', 100) == "Ana moved."
    for answer, problem in (
        ("no", "JSON"),
        ('{"text": ""}', "at least 1"),
        ('{"text": "a", "more": 1}', "not permitted"),
        ('{"text": "' + "a" * 200 + '"}', "200 characters"),
    ):
        with pytest.raises(BadAnswer, match=problem):
            parse_timeline(answer, 100)


def test_a_model_is_told_the_length_and_the_language() -> None:
    system, user = timeline_messages("{length} in {language}", ["张伟去了北京"], 80)
    assert system["content"] == "80 in Chinese"
    assert "张伟去了北京" in user["content"]
