"""Times that a question names, read on Tuesday, 14 November 2023."""

import pytest

from memory.timehints import asks_recent, time_hints
from memory.times import parse_time, to_datetime

NOW = parse_time("2023-11-14T10:00:00Z")


def days(text: str, now: float = NOW) -> list[str]:
    found = []
    for span in time_hints(text, now):
        first, last = (to_datetime(moment).date().isoformat() for moment in (span.start, span.end - 1))
        found.append(first if first == last else f"{first}..{last}")
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did I say yesterday?", "2023-11-13"),
        ("and the day before yesterday", "2023-11-12"),
        ("who called this morning?", "2023-11-14"),
        ("what happened last Tuesday", "2023-11-07"),
        ("on Friday", "2023-11-10"),
        ("this Friday", "2023-11-17"),
        ("last week", "2023-11-06..2023-11-12"),
        ("this month", "2023-11-01..2023-11-30"),
        ("last month", "2023-10-01..2023-10-31"),
        ("last year", "2022-01-01..2022-12-31"),
        ("three days ago", "2023-11-11"),
        ("two weeks ago", "2023-10-28..2023-11-03"),
        ("in the last 10 days", "2023-11-04..2023-11-14"),
        ("on 7 May 2023", "2023-05-07"),
        ("on the 7th of May, 2023", "2023-05-07"),
        ("on May 7th, 2023", "2023-05-07"),
        ("in May 2023", "2023-05-01..2023-05-31"),
        ("last May", "2023-05-01..2023-05-31"),
        ("last December", "2022-12-01..2022-12-31"),
        ("on 2023-05-07", "2023-05-07"),
        ("in 2022", "2022-01-01..2022-12-31"),
        ("上周二我说了什么", "2023-11-07"),
        ("上上周二", "2023-10-31"),
        ("这周五", "2023-11-17"),
        ("周五", "2023-11-10"),
        ("上个星期天", "2023-11-12"),
        ("上周", "2023-11-06..2023-11-12"),
        ("上个月", "2023-10-01..2023-10-31"),
        ("去年5月", "2022-05-01..2022-05-31"),
        ("前年", "2021-01-01..2021-12-31"),
        ("2023年5月7日", "2023-05-07"),
        ("2023年5月", "2023-05-01..2023-05-31"),
        ("昨天", "2023-11-13"),
        ("前天", "2023-11-12"),
        ("大前天", "2023-11-11"),
        ("三天前", "2023-11-11"),
        ("最近三天", "2023-11-11..2023-11-14"),
    ],
)
def test_one_time(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize("text", ["in May", "May 7th", "4月27号", "5月"])
def test_without_a_year_it_is_one_of_the_last_five(text: str) -> None:
    found = days(text)
    assert len(found) == 5
    assert [day[:4] for day in found] == sorted((day[:4] for day in found), reverse=True)


def test_what_is_still_to_come_is_not_meant() -> None:
    assert [day[:4] for day in days("in December")] == ["2022", "2021", "2020", "2019"]


@pytest.mark.parametrize("text", ["may I march in?", "31 February", "2023-13-45", "", "the 5th element", "五月天"])
def test_no_time(text: str) -> None:
    assert days(text) == []


def test_several_times_in_the_order_of_the_words() -> None:
    assert days("from 7 May 2023 until yesterday") == ["2023-05-07", "2023-11-13"]


@pytest.mark.parametrize("now", [-1e18, 1e18])
def test_a_clock_beyond_the_calendar_names_nothing(now: float) -> None:
    assert days("yesterday", now) == []


def test_what_asks_for_the_new() -> None:
    assert asks_recent("what did we discuss recently?") and asks_recent("我们最近聊了什么")
    assert not asks_recent("what did we discuss?")
