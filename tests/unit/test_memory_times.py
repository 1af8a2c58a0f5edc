"""Written times to unix seconds."""

from datetime import UTC, datetime

import pytest

from memory.times import parse_time, to_datetime


def at(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[arg-type,misc] # year, month, day, ... as given


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1:56 pm on 8 May, 2023", at(2023, 5, 8, 13, 56)),
        ("12:05 am on 1 January, 2024", at(2024, 1, 1, 0, 5)),
        ("12:05 pm on 1 January, 2024", at(2024, 1, 1, 12, 5)),
        ("9:00 on 3rd March 2022", at(2022, 3, 3, 9)),
        ("2023/07/12 (Wed) 10:14", at(2023, 7, 12, 10, 14)),
        ("2025-12-15 (Monday)", at(2025, 12, 15)),
        ("2023-12-25", at(2023, 12, 25)),
        ("2023.12.25", at(2023, 12, 25)),
        ("2023-12-25T10:20:30Z", at(2023, 12, 25, 10, 20, 30)),
        ("2023-12-25 10:20", at(2023, 12, 25, 10, 20)),
        ("2023-12-25T10:20:30.5+02:00", at(2023, 12, 25, 8, 20, 30) + 0.5),
        ("2023-12-25T10:20:30-0530", at(2023, 12, 25, 15, 50, 30)),
        ("2023-12-25 10:20 UTC", at(2023, 12, 25, 10, 20)),
        ("2024-02-29", at(2024, 2, 29)),
        ("8 May 2023", at(2023, 5, 8)),
        ("Monday, 8 May 2023 at 7:05 PM", at(2023, 5, 8, 19, 5)),
        ("May 8, 2023", at(2023, 5, 8)),
        ("Sept. 8th, 2023 1:56 p.m.", at(2023, 9, 8, 13, 56)),
        ("Mon, 08 May 2023 13:56:07", at(2023, 5, 8, 13, 56, 7)),
        ("2023年5月8日", at(2023, 5, 8)),
        ("2023年5月8日 下午3点20分", at(2023, 5, 8, 15, 20)),
        ("2023年5月8日（周一）09:30", at(2023, 5, 8, 9, 30)),
        ("1700000000", 1_700_000_000.0),
        ("1700000000.25", 1_700_000_000.25),
        ("1700000000123", 1_700_000_000.123),
        (1_700_000_000, 1_700_000_000.0),
        (1_700_000_000_123, 1_700_000_000.123),
        (1_700_000_000_123_456_789, 1_700_000_000.123_456_8),
        (0, 0.0),
        (-86_400, -86_400.0),
        ("  2023-12-25  ", at(2023, 12, 25)),
    ],
)
def test_a_time_that_is_understood(text: str | int, moment: float) -> None:
    assert parse_time(text) == pytest.approx(moment, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2023-13-01",
        "2023-02-30",
        "25:00 on 8 May, 2023",
        "13:00 pm on 8 May, 2023",
        "8 Nay 2023",
        "2023-12-25T10:61",
        "2023-12-25T10:20:75",
        "12",
        "2023-12-25 and more",
        True,
        float("inf"),
        10**30,
    ],
)
def test_a_time_that_is_not(text: str | float) -> None:
    with pytest.raises(ValueError):
        parse_time(text)


def test_to_datetime_is_utc() -> None:
    assert to_datetime(1_700_000_000.5).isoformat() == "2023-11-14T22:13:20.500000+00:00"
    assert to_datetime(-1.0).isoformat() == "1969-12-31T23:59:59+00:00"
