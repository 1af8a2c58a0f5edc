"""The crash tests' switch. Unset, as it is everywhere but there, no injection point does anything."""

import os


def fault_spec() -> str | None:
    """`SIDESTREAM_TEST_FAULT`: `<point>:<marker path>[:kill|stop|raise]`, or None."""
    return os.environ.get("SIDESTREAM_TEST_FAULT") or None
