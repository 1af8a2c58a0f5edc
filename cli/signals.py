"""Runs a command's main coroutine until it ends or a signal says stop; a second signal says at once."""

import asyncio
import contextlib
import signal
from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")

INTERRUPTED = 130


def run(main: Coroutine[None, None, T], *, interruptible: bool = True) -> T | None:
    """What `main` returns; None when a signal ended it.

    Each SIGINT or SIGTERM cancels `main` once, so that its clean-up runs and a second one hurries it.
    With `interruptible` False the keyboard's SIGINT is left to a child on the same terminal.
    """
    return asyncio.run(_run(main, interruptible))


async def _run(main: Coroutine[None, None, T], interruptible: bool) -> T | None:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(main)
    signalled = False

    def stop() -> None:
        nonlocal signalled
        signalled = True
        task.cancel()

    # A handler and not SIG_IGN, which the children would inherit.
    loop.add_signal_handler(signal.SIGINT, stop if interruptible else _leave_it)
    loop.add_signal_handler(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        # Under nohup the end of the terminal is no reason to stop.
        loop.add_signal_handler(signal.SIGHUP, stop)
    with contextlib.suppress(asyncio.CancelledError):
        return await task
    if not signalled:
        raise asyncio.CancelledError
    return None


def _leave_it() -> None:
    return None
