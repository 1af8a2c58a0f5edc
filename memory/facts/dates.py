"""Relative dates in English and Chinese, resolved by the day on which they were said."""

import re
from datetime import date, timedelta

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS_ZH = "一二三四五六日"
_UNITS = {"day": 1, "week": 7, "天": 1, "周": 7, "星期": 7, "礼拜": 7}
_COUNTS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "a few": 0,
    "couple of": 2,
    "a couple of": 2,
    "一": 1,
    "两": 2,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
    "半": 0,
}
_COUNT = r"(?P<n>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a couple of)"
_ENGLISH = re.compile(
    rf"\b(?:(?P<day>the day before yesterday|the day after tomorrow|yesterday|tomorrow)"
    rf"|(?P<which>last|next|this(?: coming)?|this past) (?P<unit>monday|tuesday|wednesday|thursday|friday|saturday|sunday|week(?:end)?|month|year)"
    rf"|{_COUNT} (?P<u>days?|weeks?|months?|years?) ago|in {_COUNT.replace('<n>', '<m>')} (?P<v>days?|weeks?|months?|years?))\b(?!\s*\()",
    re.I,
)
_CHINESE = re.compile(
    r"(?P<day>大前天|前天|昨天|昨晚|明天|大后天|后天)|(?P<which>上上|上个?|下下|下个?|这个?|本)(?P<unit>周末|(?:周|星期|礼拜)[一二三四五六日天]|周|星期|礼拜|月)|(?P<year>前年|去年|明年|后年|今年)"
    r"|(?P<n>\d{1,3}|[一两二三四五六七八九十])(?:个)?(?P<u>天|周|星期|礼拜|月|年)(?P<ago>前|以前|之前|后|以后|之后)"
)
_NEAR = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "tomorrow": 1,
    "the day after tomorrow": 2,
    "大前天": -3,
    "前天": -2,
    "昨天": -1,
    "昨晚": -1,
    "明天": 1,
    "后天": 2,
    "大后天": 3,
}
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}


def resolved(text: str, said_on: date) -> str:
    """`text` with the date behind each relative one: "yesterday (2023-05-07)", "last month (2023-04)"."""
    pattern = _CHINESE if re.search("[\u4e00-\u9fff]", text) else _ENGLISH
    return pattern.sub(
        lambda m: f"{m[0]}{'' if pattern is _CHINESE else ' '}({found})" if (found := _meant(m, said_on)) else m[0],
        text,
    )


def _meant(m: re.Match[str], day: date) -> str | None:
    part = m.groupdict()
    if part["day"]:
        return (day + timedelta(days=_NEAR[part["day"].lower()])).isoformat()
    if part.get("year"):
        return str(day.year + _YEARS[str(part["year"])])
    if part["which"]:
        return _named(part["which"].lower(), part["unit"].lower(), day)
    if part.get("m"):
        return _counted(_count(str(part["m"])), str(part["v"]), day)
    forward = part.get("ago") in ("后", "以后", "之后")
    return _counted(_count(str(part["n"])) * (1 if forward else -1), str(part["u"]), day)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _COUNTS.get(word.lower(), 0)


def _counted(count: int, unit: str, day: date) -> str | None:
    if not count:
        return None
    unit = unit.lower().rstrip("s")
    if unit in _UNITS:
        return (day + timedelta(days=count * _UNITS[unit])).isoformat()
    if unit in ("month", "月"):
        return _month(day, count)
    return str(day.year + count)


def _named(which: str, unit: str, day: date) -> str | None:
    step = {"上上": -2, "下下": 2}.get(
        which, -1 if which.startswith(("last", "上", "this past")) else 1 if which.startswith(("next", "下")) else 0
    )
    if unit in ("month", "月"):
        return _month(day, step)
    if unit == "year":
        return str(day.year + step)
    weekday = _weekday(unit)
    monday = day - timedelta(days=day.weekday())
    if weekday is None:
        return (
            f"week of {(monday + timedelta(days=7 * step)).isoformat()}"
            if unit == "week"
            else (monday + timedelta(days=7 * step)).isoformat() + "起"
        )
    if unit in _DAYS:
        return _english_day(step, weekday, day)
    return (monday + timedelta(days=7 * step + weekday)).isoformat()


def _english_day(step: int, weekday: int, day: date) -> str:
    """ "Last Friday" is the latest one before, "this Friday" the next one to come, "next Friday" the one in next week."""
    ahead = (weekday - day.weekday()) % 7
    if step < 0:
        return (day - timedelta(days=(day.weekday() - weekday) % 7 or 7)).isoformat()
    if step == 0:
        return (day + timedelta(days=ahead)).isoformat()
    monday = day - timedelta(days=day.weekday())
    return (monday + timedelta(days=7 + weekday)).isoformat()


def _weekday(unit: str) -> int | None:
    if unit in _DAYS:
        return _DAYS.index(unit)
    if unit in ("weekend", "周末"):
        return 5
    return _DAYS_ZH.index("日" if unit[-1] == "天" else unit[-1]) if unit[-1] in _DAYS_ZH + "天" else None


def _month(day: date, step: int) -> str:
    months = day.year * 12 + day.month - 1 + step
    return f"{months // 12}-{months % 12 + 1:02}"
