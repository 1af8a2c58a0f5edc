"""Times as chat exports write them, to unix seconds. Without an offset a time is taken as UTC."""

import re
from datetime import UTC, datetime, timedelta, timezone

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_ISO = re.compile(
    r"(?P<y>\d{4})[-/.](?P<mo>\d{1,2})[-/.](?P<d>\d{1,2})(?:\s*\(\w+\.?\))?"
    r"(?:[T ,]\s*(?P<h>\d{1,2}):(?P<mi>\d{2})(?::(?P<s>\d{2}(?:[.,]\d+)?))?\s*(?P<ap>[ap]\.?m\.?)?\s*(?P<tz>Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?",
    re.IGNORECASE,
)
_CLOCK = r"(?P<h>\d{1,2}):(?P<mi>\d{2})(?::(?P<s>\d{2}))?\s*(?P<ap>[ap]\.?m\.?)?"
_CLOCK_FIRST = re.compile(
    _CLOCK + r"\s*(?:on|,)?\s*(?:\w+,\s*)?(?P<d>\d{1,2})(?:st|nd|rd|th)?\s+(?P<mon>[a-z]{3,9})\.?,?\s+(?P<y>\d{4})",
    re.IGNORECASE,
)
_DAY_FIRST = re.compile(
    r"(?:[a-z]{3,9},?\s+)?(?P<d>\d{1,2})(?:st|nd|rd|th)?\s+(?P<mon>[a-z]{3,9})\.?,?\s+(?P<y>\d{4})(?:,?\s+(?:at\s+)?"
    + _CLOCK
    + ")?",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    r"(?:[a-z]{3,9},\s+)?(?P<mon>[a-z]{3,9})\.?\s+(?P<d>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y>\d{4})(?:,?\s+(?:at\s+)?"
    + _CLOCK
    + ")?",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?P<y>\d{4})\s*年\s*(?P<mo>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]?\s*(?:[(（]?(?:星期|周)\w[)）]?)?\s*"
    r"(?:(?P<ap>上午|下午|晚上|凌晨|中午)?\s*(?P<h>\d{1,2})\s*[:：点]\s*(?P<mi>\d{2})?分?(?::(?P<s>\d{2}))?)?"
)
_FORMS = (_ISO, _CLOCK_FIRST, _DAY_FIRST, _MONTH_FIRST, _CHINESE)
_NUMBER = re.compile(r"\d{9,19}(?:\.\d+)?")


def parse_time(value: str | int | float) -> float:
    """Unix seconds of a written time or an epoch in seconds, milli-, micro- or nanoseconds.

    Raises:
        ValueError: the form is unknown or the date does not exist.
    """
    if isinstance(value, bool):
        raise ValueError(f"not a time: {value!r}")
    if isinstance(value, int | float):
        return _epoch(float(value))
    text = " ".join(value.split())
    if _NUMBER.fullmatch(text):
        return _epoch(float(text))
    for form in _FORMS:
        match = form.fullmatch(text)
        if match:
            return _unix(match.groupdict(), text)
    raise ValueError(f"not a time that is understood: {text[:60]!r}")


def to_datetime(seconds: float) -> datetime:
    """The moment as a UTC datetime, to the microsecond."""
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)


def _epoch(number: float) -> float:
    for scale in (1.0, 1e3, 1e6, 1e9):
        if abs(number) < 1e11 * scale:
            return number / scale
    raise ValueError(f"not a time: {number!r}")


def _unix(part: dict[str, str | None], text: str) -> float:
    month = int(part["mo"] or 0) if part.get("mo") else _month(part.get("mon") or "", text)
    second = float((part.get("s") or "0").replace(",", "."))
    hour = _hour(int(part.get("h") or 0), (part.get("ap") or "").lower().replace(".", ""), text)
    try:
        moment = datetime(
            int(part["y"] or 0),
            month,
            int(part["d"] or 0),
            hour,
            int(part.get("mi") or 0),
            tzinfo=_zone(part.get("tz")),
        )
    except ValueError as error:
        raise ValueError(f"no such date: {text[:60]!r} ({error})") from error
    if second >= 61:
        raise ValueError(f"no such date: {text[:60]!r}")
    return moment.timestamp() + second


def _month(name: str, text: str) -> int:
    short = name.lower()[:3]
    if short not in _MONTHS:
        raise ValueError(f"no such month: {text[:60]!r}")
    return _MONTHS.index(short) + 1


def _hour(hour: int, half: str, text: str) -> int:
    if half in ("am", "pm") and not 1 <= hour <= 12:
        raise ValueError(f"no such hour: {text[:60]!r}")
    if half in ("pm", "下午", "晚上", "中午") and hour < 11 + (half != "中午"):
        return hour + 12
    return 0 if half in ("am", "凌晨") and hour == 12 else hour


def _zone(name: str | None) -> timezone:
    if not name or name.upper() in ("Z", "UTC", "GMT"):
        return UTC
    digits = name.replace(":", "")
    minutes = int(digits[1:3]) * 60 + int(digits[3:5])
    return timezone(timedelta(minutes=-minutes if name[0] == "-" else minutes))
