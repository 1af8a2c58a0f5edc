"""When a night is due: once a day, whatever the clock and the zone do."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.nights import latest_night, parse_time

BERLIN = ZoneInfo("Europe/Berlin")
TWO, HALF_PAST_TWO = parse_time("02:00"), parse_time("02:30")


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def test_before_its_time_the_night_is_yesterdays() -> None:
    assert latest_night(at("2026-05-10T01:59+02:00"), TWO, BERLIN).day == "2026-05-09"
    assert latest_night(at("2026-05-10T02:00+02:00"), TWO, BERLIN) == ("2026-05-10", at("2026-05-10T02:00+02:00"))


def test_a_time_that_summer_time_leaves_out_still_has_its_night() -> None:
    night = latest_night(at("2026-03-29T12:00+02:00"), HALF_PAST_TWO, BERLIN)
    assert night == ("2026-03-29", at("2026-03-29T03:30+02:00"))


def test_a_time_that_comes_twice_is_one_night() -> None:
    first = latest_night(at("2026-10-25T02:30+02:00"), HALF_PAST_TWO, BERLIN)
    second = latest_night(at("2026-10-25T02:30+01:00"), HALF_PAST_TWO, BERLIN)
    assert first == second == ("2026-10-25", at("2026-10-25T02:30+02:00"))


@given(st.floats(min_value=0, max_value=4_000_000_000), st.sampled_from(["Europe/Berlin", "Asia/Shanghai", "UTC"]))
def test_the_latest_night_has_begun_and_is_less_than_26_hours_old(now: float, zone: str) -> None:
    night = latest_night(now, HALF_PAST_TWO, ZoneInfo(zone))
    assert 0 <= now - night.moment < 26 * 3_600


def test_every_day_of_a_year_has_one_night() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    days = {latest_night(start + hour * 1_800, HALF_PAST_TWO, BERLIN).day for hour in range(2 * 24 * 365)}
    assert len(days) == 366


@pytest.mark.parametrize("text", ["24:00", "2", "02:60", "", "02:00:00"])
def test_what_is_no_time_of_day_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="HH:MM"):
        parse_time(text)
