"""Times that a question names ("last Tuesday", "in May 2023", "上周二"), as spans to look into.

A question is read against the moment it is asked. What names no year, such as "in May", means that month of this
year and of the few before. Days are those of UTC, as everywhere here.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from memory.times import to_datetime

YEARS_BACK = 4
"""How many years a date without one may lie back."""


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` up to, and without, `end`; unix seconds."""

    start: float
    end: float


def time_hints(text: str, now: float) -> tuple[Span, ...]:
    """The spans that a question names, in the order of its words; none where it names no time.

    A phrase is read once: "last May" is not "in May" as well.
    """
    try:
        today = to_datetime(now).date()
    except OverflowError:
        return ()
    found: list[tuple[int, Span]] = []
    rest = text
    for form, read in _FORMS:
        for match in form.finditer(rest):
            try:
                days = read(match, today)
            except (ValueError, OverflowError):  # no such day
                continue
            found += [(match.start(), _span(first, last)) for first, last in days]
        rest = form.sub(lambda m: "\0" * len(m[0]), rest)
    return tuple(dict.fromkeys(span for _, span in sorted(found, key=lambda item: item[0])))


def asks_recent(text: str) -> bool:
    """Whether a question is about what is new, whatever it was about."""
    return _RECENT.search(text) is not None


_RECENT = re.compile(r"\b(?:recent(?:ly)?|lately|latest|just now|a moment ago)\b|最近|刚才|刚刚|近来", re.IGNORECASE)

Days = list[tuple[date, date]]
"""First and last days."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = (
    r"(?P<mon>Jan(?:uary)?|Feb(?:ruary)?|March|Mar|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_WEEKDAY = r"(?P<wd>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b"
_COUNT = r"(?P<n>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|a couple of)"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_NUMBERS = {
    **{
        w: n
        for n, w in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
    },
    "a": 1,
    "an": 1,
    "a few": 3,
    "a couple of": 2,
    **{w: n for n, w in enumerate("零一二三四五六七八九十")},
    "两": 2,
    "几": 3,
}
_ZH_COUNT = r"(?P<n>\d{1,3}|[一二两三四五六七八九十几])"
_ZH_WEEK = r"(?:周|星期|礼拜)"
_ZH_DAYS = "一二三四五六日"
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365, "天": 1, "周": 7, "月": 30, "年": 365}
_SLACK = {"day": 0, "week": 3, "month": 15, "year": 183, "天": 0, "周": 3, "月": 15, "年": 183}
"""How many days "two months ago" may be off to either side."""


def _span(first: date, last: date) -> Span:
    begin = datetime(first.year, first.month, first.day, tzinfo=UTC)
    return Span(begin.timestamp(), begin.timestamp() + 86_400.0 * ((last - first).days + 1))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[" ".join(text.lower().split())]


def _month_days(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _month_back(today: date, back: int) -> tuple[date, date]:
    months = today.year * 12 + today.month - 1 - back
    return _month_days(months // 12, months % 12 + 1)


def _year_days(year: int) -> tuple[date, date]:
    return date(year, 1, 1), date(year, 12, 31)


def _week(today: date, back: int) -> tuple[date, date]:
    monday = today - timedelta(days=today.weekday() + 7 * back)
    return monday, monday + timedelta(days=6)


def _calendar(today: date, year: str | None, month: int, day: str | None) -> Days:
    """A month or a day of one; without a year, of this one and those before it."""
    years = [int(year)] if year else [today.year - back for back in range(YEARS_BACK + 1)]
    found: Days = []
    for one in years:
        if day is None:
            found.append(_month_days(one, month))
        elif int(day) <= monthrange(one, month)[1]:
            found.append((date(one, month, int(day)), date(one, month, int(day))))
    return [days for days in found if year or days[0] <= today]


def _written(match: re.Match[str], today: date) -> Days:
    part = match.groupdict()
    return _calendar(today, part.get("y"), int(part["mo"]), part.get("d"))


def _named(match: re.Match[str], today: date) -> Days:
    part = match.groupdict()
    return _calendar(today, part.get("y"), _MONTHS.index(part["mon"].lower()[:3]) + 1, part.get("d"))


def _relative_month(match: re.Match[str], today: date) -> Days:
    month = _MONTHS.index(match["mon"].lower()[:3]) + 1
    year = today.year if month < today.month or match["which"].lower() == "this" else today.year - 1
    return [_month_days(year, month)]


def _ago(match: re.Match[str], today: date) -> Days:
    unit, count = match["unit"].lower(), _number(match["n"])
    middle, slack = today - timedelta(days=_DAYS[unit] * count), _SLACK[unit]
    return [(middle - timedelta(days=slack), middle + timedelta(days=slack))]


def _during(match: re.Match[str], today: date) -> Days:
    return [(today - timedelta(days=_DAYS[match["unit"].lower()] * _number(match["n"])), today)]


def _unit(match: re.Match[str], today: date) -> Days:
    back, unit = int(match["which"].lower() != "this"), match["unit"].lower()
    if unit == "week":
        return [_week(today, back)]
    return [_month_back(today, back)] if unit == "month" else [_year_days(today.year - back)]


def _weekday(match: re.Match[str], today: date) -> Days:
    """The one before today; "this Friday" is that of this week."""
    wanted = _WEEKDAYS.index(match["wd"].lower()[:3])
    if (match["which"] or "").lower() == "this":
        day = _week(today, 0)[0] + timedelta(days=wanted)
    else:
        day = today - timedelta(days=(today.weekday() - wanted - 1) % 7 + 1)
    return [(day, day)]


def _zh_weekday(match: re.Match[str], today: date) -> Days:
    day = _ZH_DAYS.index(match["wd"].replace("天", "日"))
    back = len(match["up"] or "")
    first = _week(today, back)[0] + timedelta(days=day)
    if not match["up"] and not match["this"] and first > today:
        first -= timedelta(days=7)
    return [(first, first)]


def _zh_unit(match: re.Match[str], today: date) -> Days:
    back = len(match["up"] or "")
    return [_week(today, back)] if match["unit"] != "月" else [_month_back(today, back)]


def _zh_year(match: re.Match[str], today: date) -> Days:
    year = today.year - "今去前".index(match["which"])
    return [_month_days(year, int(match["mo"])) if match["mo"] else _year_days(year)]


def _days_back(days: int) -> Callable[[re.Match[str], date], Days]:
    def read(match: re.Match[str], today: date) -> Days:
        del match
        return [(today - timedelta(days=days),) * 2]

    return read


def _form(pattern: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(pattern, flags)


# Longer phrases first: each takes its words away from those that follow.
_FORMS: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str], date], Days]]] = (
    (_form(r"\b(?P<y>(?:19|20)\d\d)[-/.](?P<mo>\d{1,2})(?:[-/.](?P<d>\d{1,2}))?\b"), _written),
    (_form(r"(?P<y>(?:19|20)\d\d)\s*年\s*(?P<mo>\d{1,2})\s*月(?:份|\s*(?P<d>\d{1,2})\s*[日号])?"), _written),
    (_form(r"(?P<which>[今去前])年(?:的?(?P<mo>\d{1,2})月(?!\d|\s*\d+\s*[日号])份?)?"), _zh_year),
    (_form(r"(?<![\d年个])(?P<mo>\d{1,2})\s*月(?:份|\s*(?P<d>\d{1,2})\s*[日号])?"), _written),
    (_form(r"(?P<y>(?:19|20)\d\d)\s*年"), lambda m, _: [_year_days(int(m["y"]))]),
    (_form(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?(?:\s+(?P<y>(?:19|20)\d\d))?"), _named),
    (_form(rf"\b{_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b,?(?:\s+(?P<y>(?:19|20)\d\d))?"), _named),
    (_form(rf"\b{_MONTH},?\s+(?:of\s+)?(?P<y>(?:19|20)\d\d)\b"), _named),
    (_form(rf"\b(?P<which>last|this|past)\s+{_MONTH}"), _relative_month),
    # "may" and "march" are words too: alone they must be written large and stand where a time stands.
    (_form(rf"\b(?:[Ii]n|[Dd]uring|[Ss]ince|[Oo]f|[Ee]arly|[Ll]ate|[Mm]id|[Bb]y)[\s-]+{_MONTH}", 0), _named),
    (_form(rf"\b(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}\b"), _during),
    (_form(rf"\b{_COUNT}\s+{_UNIT}\s+ago\b"), _ago),
    (_form(r"\b(?P<which>last|this|past|previous)\s+(?P<unit>week|month|year)\b"), _unit),
    (_form(rf"\b(?:(?P<which>last|this|past|on)\s+)(?:last\s+)?{_WEEKDAY}"), _weekday),
    (_form(r"\bday before yesterday\b"), _days_back(2)),
    (_form(r"\byesterday\b|\blast night\b"), _days_back(1)),
    (_form(r"\btoday\b|\bthis (?:morning|afternoon|evening)\b|\btonight\b"), _days_back(0)),
    (_form(r"\bin\s+(?P<y>(?:19|20)\d\d)\b"), lambda m, _: [_year_days(int(m["y"]))]),
    (_form(rf"(?P<up>上{{1,2}})?(?:个|一个)?(?P<this>[这本])?个?{_ZH_WEEK}(?P<wd>[一二三四五六日天])"), _zh_weekday),
    (_form(r"(?:(?P<up>上{1,2})|[这本])个?(?:(?P<unit>月)|周|星期|礼拜)"), _zh_unit),
    (_form(rf"(?:最近|过去|近){_ZH_COUNT}个?(?:(?:星期|礼拜)|(?P<unit>[天周月年]))"), lambda m, t: _zh_during(m, t)),
    (_form(rf"{_ZH_COUNT}个?(?:星期|礼拜|(?P<unit>[天周月年]))(?:之前|以前|前)"), lambda m, t: _zh_ago(m, t)),
    (_form(r"大前天"), _days_back(3)),
    (_form(r"前天"), _days_back(2)),
    (_form(r"昨[天晚日]"), _days_back(1)),
    (_form(r"今[天晚早日]"), _days_back(0)),
)


def _zh_during(match: re.Match[str], today: date) -> Days:
    return [(today - timedelta(days=_DAYS[match["unit"] or "周"] * _number(match["n"])), today)]


def _zh_ago(match: re.Match[str], today: date) -> Days:
    unit = match["unit"] or "周"
    middle, slack = today - timedelta(days=_DAYS[unit] * _number(match["n"])), _SLACK[unit]
    return [(middle - timedelta(days=slack), middle + timedelta(days=slack))]
