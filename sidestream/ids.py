"""Event ids: UUID version 7 as text, so that they sort by the time they were made."""

import os
import threading
import time
from collections.abc import Callable

_COUNTER_BITS = 12
_lock = threading.Lock()
_last = 0  # milliseconds and counter of the newest id, as one number


def new_id(clock: Callable[[], float] = time.time) -> str:
    """A new id of 36 characters.

    Within one process each sorts after the one before, also when the clock steps back. Processes that were
    forked from one another draw different ids, since 62 bits come from the system.
    """
    global _last
    with _lock:
        _last = max(_last + 1, int(clock() * 1000) << _COUNTER_BITS)
        stamp = _last
    rest = int.from_bytes(os.urandom(8)) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    text = f"{stamp >> _COUNTER_BITS:012x}7{stamp & 0xFFF:03x}{rest:016x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


# A thread of the parent may hold the lock at the moment of the fork; nobody would release it in the child.
os.register_at_fork(after_in_child=_renew_lock)
