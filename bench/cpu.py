"""Processor time of running processes, which says more than a clock on a machine that others work on too."""

from pathlib import Path

_PROC = Path("/proc")


def cpu_seconds(pid: int) -> float:
    """What all threads of the process that still run have used, in seconds; 0 where the system does not say."""
    try:
        return sum(int((task / "schedstat").read_text().split()[0]) for task in _tasks(pid)) / 1e9
    except OSError:
        return 0.0


def children(pid: int) -> list[int]:
    """Process ids of the children; none where the system does not say."""
    try:
        return [int(child) for task in _tasks(pid) for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _tasks(pid: int) -> list[Path]:
    return list((_PROC / str(pid) / "task").iterdir())
