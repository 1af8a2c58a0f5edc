"""Names a process so that its death can be told: `host:pid:start time`, the last because pids are used
again."""

import os
import socket
import subprocess
from pathlib import Path


def this_process() -> str:
    """The owner string of this process."""
    pid = os.getpid()
    return f"{socket.gethostname()}:{pid}:{start_time(pid) or 'unknown'}"


def process_alive(owner: str) -> bool:
    """False only where the owner is known to be dead: on this host, and its process gone, a zombie, or
    another one.

    An owner on another host, or in a form that is not ours, counts as alive: only its lease's end frees it.
    """
    host, pid, started = [*owner.rsplit(":", 2), "", ""][:3]
    if host != socket.gethostname() or not pid.isdigit():
        return True
    found = start_time(int(pid))
    return found is not None and (found == started or "unknown" in (found, started))


def start_time(pid: int) -> str | None:
    """When the process started, in its system's own form; None where there is none (a zombie is none)."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] in "ZX" else fields[19]
    return _start_time_by_ps(pid)


def _start_time_by_ps(pid: int) -> str | None:
    asked = ["ps", "-o", "state=,lstart=", "-p", str(pid)]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    state, _, started = answer.stdout.strip().partition(" ")
    if not started or state.startswith("Z"):
        return None
    return "-".join(started.replace(":", ".").split())
