"""Names a process so that its death can be told: `host:pid:start time`, the last because pids are used
again.

Two containers may have one host name and the same pids, so on Linux `host` also holds the number of the
namespace in which the pid counts: `host/4026531836`.
"""

import os
import socket
import subprocess
from pathlib import Path


def this_process() -> str:
    """The owner string of this process."""
    pid = os.getpid()
    return f"{this_host()}:{pid}:{start_time(pid) or 'unknown'}"


def this_host() -> str:
    """What the names of all processes begin with that share this one's pids: those of this host or container."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return socket.gethostname()
    return f"{socket.gethostname()}/{namespace.partition('[')[2].rstrip(']')}"


def host_of(owner: str) -> str:
    """The host or container of a process, by its name."""
    return owner.rsplit(":", 2)[0]


def process_alive(owner: str) -> bool:
    """False only where the owner is known to be dead: on this host, and its process gone, a zombie, or
    another one.

    An owner on another host or in another container, or in a form that is not ours, counts as alive: only its
    lease's end frees it.
    """
    host, pid, started = [*owner.rsplit(":", 2), "", ""][:3]
    if host != this_host() or not pid.isdigit():
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
