"""The chat as a child on the same terminal."""

import asyncio
import contextlib
import sys

from cli.environment import ROOT, child_environment
from config.settings import Settings

_STOP_DEADLINE = 10.0


async def chat_in_terminal(found: Settings, *arguments: str) -> int:
    """Runs the chat until it ends; its exit code. Cancelled, it ends the chat first."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "actors", *arguments, cwd=ROOT, env=dict(child_environment(found))
    )
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            try:
                async with asyncio.timeout(_STOP_DEADLINE):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
