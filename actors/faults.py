"""Crash tests kill the chat at a named moment: `SIDESTREAM_TEST_FAULT=chat.before_answer:/path/to/marker`.

Points are `chat.after_question`, `chat.before_answer` and those of sidestream's publisher. A point fires
once: it writes its marker first, and a marker that stands disarms it.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path

from config.faults import fault_spec


def armed() -> Callable[[str], None]:
    """What to call at each point; does nothing unless a crash test armed one."""
    spec = fault_spec()
    point, _, marker = (spec or "").rpartition(":/")
    if not point:
        return lambda _reached: None
    path = Path("/") / marker

    def reach(reached: str) -> None:
        if reached == point and not path.exists():
            _mark(path, reached)
            os.kill(os.getpid(), signal.SIGKILL)

    return reach


def _mark(path: Path, reached: str) -> None:
    with path.open("x") as file:
        file.write(f"{reached} {os.getpid()}\n")
        file.flush()
        os.fsync(file.fileno())
