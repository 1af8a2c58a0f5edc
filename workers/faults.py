"""Injection points for the crash tests: the process kills, stops or fails itself at a named moment.

A point fires once: it writes its marker file first, and a marker that exists disarms it. So the test knows
that the moment was reached, and the restarted process passes it.
"""

import os
import signal
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from config.faults import fault_spec
from workers.errors import InjectedFault

Point: TypeAlias = Literal[
    "consumer.after_read",
    "consumer.before_commit",
    "consumer.after_commit",
    "consumer.after_ack",
    "task.after_claim",
    "task.during_model",
    "task.before_write",
    "task.after_write",
    "beat.after_tick",
]
Mode: TypeAlias = Literal["kill", "stop", "raise"]

NIGHTLY = "nightly."
"""What the names of the nightly run's moments begin with; they are made of its steps' names."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is to happen, where, and which file proves that it did."""

    point: str
    marker: Path
    mode: Mode = "kill"


def parse_fault(spec: str) -> Fault:
    """A fault from `<point>:<marker path>[:<mode>]`.

    Raises:
        ValueError: the point or the mode is unknown, or there is no marker path.
    """
    point, _, rest = spec.partition(":")
    path, _, mode = rest.rpartition(":")
    if mode not in get_args(Mode):
        path, mode = rest, "kill"
    if not path or (point not in get_args(Point) and not point.startswith(NIGHTLY)):
        raise ValueError(f"SIDESTREAM_TEST_FAULT: {spec!r} is not <point>:<marker path>[:kill|stop|raise]")
    return Fault(point, Path(path), cast(Mode, mode))


_spec = fault_spec()
_armed = parse_fault(_spec) if _spec else None


def reach(point: Point) -> None:
    """Says that the process is at `point`; does nothing unless a crash test armed it."""
    if _armed is not None and _armed.point == point:
        fire(_armed)


def reach_night(moment: str) -> None:
    """The same for a moment of the nightly run, such as `messages.prepared`."""
    if _armed is not None and _armed.point == f"{NIGHTLY}{moment}":
        fire(_armed)


def fire(fault: Fault) -> None:
    """Writes the marker, durable before anything happens, and does what the fault says; nothing if it
    stands already."""
    try:
        handle = os.open(fault.marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        return
    os.write(handle, f"{fault.point} {os.getpid()}\n".encode())
    os.fsync(handle)
    os.close(handle)
    if fault.mode == "raise":
        raise InjectedFault(f"injected at {fault.point}")
    # To this thread: one sent to the process may be taken by another thread, and this one would run on for
    # a moment.
    signal.pthread_kill(threading.get_ident(), signal.SIGKILL if fault.mode == "kill" else signal.SIGSTOP)
