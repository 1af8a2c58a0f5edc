"""Time zones by name."""

from datetime import tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal

LOCAL = "local"


def time_zone(name: str) -> tzinfo:
    """The zone of that name, `local` for this machine's own.

    Raises:
        ValueError: there is none of this name.
    """
    if name == LOCAL:
        return tzlocal.get_localzone()
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError(f"{name!r} is no time zone: a name such as Europe/Berlin, or {LOCAL}, is allowed") from error
