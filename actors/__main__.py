"""`python -m actors`: the chat in a terminal; without one, line by line; with `--json`, for programs."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack

from rich.console import Console

from actors import faults
from actors.chat import Chat
from actors.loop_thread import LoopThread
from actors.scripted import converse
from actors.wiring import open_agents
from config.errors import InvalidSettings
from config.logging import configure, get_logger
from config.settings import Settings, load
from memory.types import Scope
from sidestream.errors import SidestreamError
from sidestream.ids import new_id

_log = get_logger("chat")


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0, or 1 when something was not answered, or 2 when it could not start."""
    arguments = _parser().parse_args(argv)
    try:
        settings = load()
        terminal = not arguments.json and sys.stdin.isatty() and sys.stdout.isatty()
        configure(settings, file=settings.data_dir / "logs" / "chat.log" if terminal else None)
        return _run(settings, arguments, terminal=terminal)
    except (InvalidSettings, SidestreamError, OSError) as error:
        sys.stderr.write(f"The chat cannot start: {error}\n")
        return 2
    except KeyboardInterrupt:
        return 130


def _run(settings: Settings, arguments: argparse.Namespace, *, terminal: bool) -> int:
    scope = Scope(arguments.user, arguments.namespace, arguments.session or new_id())
    with LoopThread() as loop:
        stack = AsyncExitStack()
        agents = loop.run(stack.enter_async_context(open_agents(settings, fault=faults.armed())))
        _log.debug("chat_opened", session=scope.session_id, terminal=terminal)
        try:
            if terminal:
                console = Console()
                Chat(loop, agents, scope, console, lambda: console.input("[bold]> [/]")).run()
                return 0
            failed = converse(loop, agents.host, scope, sys.stdin, sys.stdout, as_json=arguments.json)
            return 1 if failed else 0
        except BrokenPipeError:
            # Whoever read the replies has gone; there is nobody to tell.
            return 1
        finally:
            loop.run(stack.aclose())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m actors", description="Chat with an agent that remembers.")
    parser.add_argument("--user", default="default", help="whose memory it is")
    parser.add_argument("--session", help="session to go on with; absent: a new one")
    parser.add_argument("--namespace", default="default", help="namespace of user and session")
    parser.add_argument("--json", action="store_true", help="read lines, write one JSON object a reply")
    return parser


if __name__ == "__main__":
    sys.exit(main())
