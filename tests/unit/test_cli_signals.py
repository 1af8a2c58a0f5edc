"""How a command's main coroutine ends: by itself, by a signal, or hurried by a second one."""

import asyncio
import os
import signal

import pytest

from cli import signals


async def wait_forever(heard: list[str], *, hurried: bool = False) -> str:
    loop = asyncio.get_running_loop()
    loop.call_soon(os.kill, os.getpid(), signal.SIGTERM)
    try:
        await asyncio.Event().wait()
    finally:
        heard.append("stopping")
        if hurried:
            loop.call_soon(os.kill, os.getpid(), signal.SIGINT)
            try:
                await asyncio.Event().wait()
            finally:
                heard.append("at once")
    return "never"


async def seven() -> int:
    return 7


async def broken() -> None:
    raise ValueError("broken")


def test_a_result_comes_back() -> None:
    assert signals.run(seven()) == 7


def test_an_error_comes_through() -> None:
    with pytest.raises(ValueError, match="broken"):
        signals.run(broken())


def test_a_signal_lets_the_clean_up_run() -> None:
    heard: list[str] = []
    assert signals.run(wait_forever(heard)) is None
    assert heard == ["stopping"]


def test_a_second_signal_interrupts_the_clean_up() -> None:
    heard: list[str] = []
    assert signals.run(wait_forever(heard, hurried=True)) is None
    assert heard == ["stopping", "at once"]


def test_under_nohup_the_end_of_the_terminal_is_no_reason_to_stop() -> None:
    async def hung_up() -> str:
        os.kill(os.getpid(), signal.SIGHUP)
        await asyncio.sleep(0)
        return "goes on"

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert signals.run(hung_up()) == "goes on"
    finally:
        signal.signal(signal.SIGHUP, before)
