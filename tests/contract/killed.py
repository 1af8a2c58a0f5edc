"""A publisher process that kills itself at a named point.

    python -m tests.contract.killed URL SPOOL POINT AFTER COUNT FIRST

It publishes COUNT events one by one, from number FIRST on, and says on standard output what it was told of
each. When it reaches POINT for the AFTER-th time, it says so and kills itself with SIGKILL.
"""

import os
import signal
import sys
import threading
from pathlib import Path

from sidestream import Message, Publisher

_SPEAKING = threading.Lock()


def say(line: str) -> None:
    """One line, whole, and none once the process has said where it dies: the replay has a thread of its own."""
    with _SPEAKING:
        os.write(1, f"{line}\n".encode())


class Fault:
    """Kills this process when `point` is reached the `after`-th time."""

    def __init__(self, point: str, after: int) -> None:
        self._point = point
        self._left = after

    def __call__(self, point: str) -> None:
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                with _SPEAKING:
                    os.write(1, f"reached {point}\n".encode())
                    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """See the module."""
    url, spool, point, after, count, first = sys.argv[1:]
    publisher = Publisher(url, spool_dir=Path(spool), timeout=1.0, fault=Fault(point, int(after)))
    for number in range(int(first), int(first) + int(count)):
        receipt = publisher.publish(Message(id=f"e{number}", session_id="s1", role="user", content=f"message {number}"))
        say(f"published {receipt.id}")
    publisher.flush(30.0)
    say("flushed")


if __name__ == "__main__":
    main()
