"""Process groups of supervised programs, recorded so that none outlives its supervisor for good."""

import contextlib
import json
import os
import signal
from pathlib import Path

from store.processes import start_time


def signal_group(group: int, number: signal.Signals) -> bool:
    """Sends a signal to every process of a group; False when none is left."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


class Ledger:
    """A file with the process groups of a supervisor, so that the next one can end what outlived it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._groups: dict[str, tuple[int, str]] = {}

    def note(self, name: str, pid: int) -> None:
        """Records that `name` now runs as the leader of group `pid`."""
        self._groups[name] = (pid, start_time(pid) or "")
        self._write()

    def forget(self, name: str) -> None:
        """Records that nothing of `name` is left."""
        self._groups.pop(name, None)
        self._write()

    def end_leftovers(self) -> list[str]:
        """Kills the groups recorded by a supervisor that is gone; returns their names.

        A group outlives its leader, and its number is not given out again before it is empty. So a group
        whose leader is gone is still ours; one whose leader started at another time is not.
        """
        try:
            recorded = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return []
        ended = []
        for name, (pid, mark) in recorded.items():
            now = start_time(pid)
            if now in (None, mark) and signal_group(pid, signal.SIGKILL):
                ended.append(name)
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()
        return ended

    def _write(self) -> None:
        temporary = self._path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self._groups))
        temporary.replace(self._path)
