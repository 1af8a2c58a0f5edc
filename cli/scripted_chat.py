"""The chat driven by a program: a line of text in, one JSON object a reply out."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from cli.environment import ROOT, child_environment
from cli.errors import CheckFailed
from config.settings import Settings

_STOP_DEADLINE = 10.0
_LINE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """What was answered, the event of what was said, and the memories that the answer was given."""

    text: str
    said_id: str
    sources: list[dict[str, Any]]


class ScriptedChat:
    """A chat process of one user and session. Made by `scripted_chat`."""

    def __init__(self, process: asyncio.subprocess.Process, deadline: float) -> None:
        self._process = process
        self._deadline = deadline

    async def say(self, text: str) -> Reply:
        """Says one line and waits for the reply.

        Raises:
            CheckFailed: no reply within the deadline, or the chat ended.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{text}\n".encode())
        try:
            async with asyncio.timeout(self._deadline):
                await stdin.drain()
                line = await stdout.readline()
        except (TimeoutError, ConnectionError) as error:
            raise CheckFailed(f"the chat gave no reply within {self._deadline:.0f} s") from error
        if not line:
            raise CheckFailed(f"the chat ended with code {await self._process.wait()}")
        return _reply(json.loads(line))


@asynccontextmanager
async def scripted_chat(
    found: Settings, *, user_id: str, session_id: str, deadline: float = 60.0
) -> AsyncIterator[ScriptedChat]:
    """A chat process for as long as the block lasts; it ends when its input does."""
    arguments = ("-m", "actors", "--json", "--user", user_id, "--session", session_id)
    logs = found.data_dir / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / "chat.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            cwd=ROOT,
            env=dict(child_environment(found)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            limit=_LINE_BYTES,
        )
    try:
        yield ScriptedChat(process, deadline)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(_STOP_DEADLINE):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _reply(data: dict[str, Any]) -> Reply:
    if "error" in data:
        raise CheckFailed(f"the chat could not answer: {data['error']}")
    return Reply(data["reply"], data["event_id"], data["sources"])
