"""`sidestream up` and `sidestream run`: everything on this machine, without and with the chat."""

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

from cli import environment, signals
from cli.chat import chat_in_terminal
from cli.errors import CheckFailed
from cli.selfcheck import self_check
from cli.stack import Stack, running
from config.settings import Settings


@click.command()
@click.option("--with-chat", is_flag=True, help="Then chat in this terminal, and stop when the chat ends.")
def up(with_chat: bool) -> None:
    """Run everything on this machine under one supervisor: Redis, workers, beat and the API.

    Ctrl-C stops it in order, a second one at once. Redis is the embedded one unless SIDESTREAM_REDIS_URL is
    set.
    """
    found = environment.settings()
    if with_chat:
        _chat(found)
    else:
        signals.run(_serve(found))
        click.echo("stopped")


@click.command()
def run() -> None:
    """Run everything and chat; without a terminal, check instead that memory survives a restart.

    The check tells the system five facts drawn at random, restarts everything, asks for them in a new
    session, and ends with exit code 0 only if all five came back, each with the message that told it as its
    source.
    """
    found = environment.settings()
    if sys.stdin.isatty() and sys.stdout.isatty():
        _chat(found)
        return
    passed = signals.run(self_check(found, click.echo))
    if passed is None:
        raise click.exceptions.Exit(signals.INTERRUPTED)
    if not passed:
        raise CheckFailed("the self-check did not pass")


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def chat(arguments: tuple[str, ...]) -> None:
    """Chat in this terminal with a system that runs already; ARGUMENTS go to the chat."""
    found = environment.settings()
    code = signals.run(chat_in_terminal(found, *arguments), interruptible=False)
    if code:
        raise CheckFailed(f"the chat ended with code {code}")


def _chat(found: Settings) -> None:
    code = signals.run(_with_chat(found), interruptible=False)
    if code:
        raise CheckFailed(f"the chat ended with code {code}")


async def _serve(found: Settings) -> None:
    click.echo(f"starting everything on {found.data_dir.resolve()}")
    async with running(found, click.echo) as stack:
        describe(stack)
        click.echo("ready; Ctrl-C stops everything")
        try:
            await asyncio.Event().wait()
        finally:
            click.echo("stopping")


async def _with_chat(found: Settings) -> int:
    click.echo(f"starting everything on {found.data_dir.resolve()} (logs in {found.data_dir}/logs)")
    say = Switch(click.echo, found.data_dir / "logs" / "up.log")
    async with running(found, say) as stack:
        describe(stack)
        say.to_file()
        code = await chat_in_terminal(stack.settings)
        say.to_terminal()
        click.echo("stopping")
    return code


def describe(stack: Stack) -> None:
    """Says what runs and where its log is."""
    for name, child in stack.children.items():
        click.echo(f"  {name:<7} process {child.pid}, log {child.log_path}")
    click.echo(f"  API     {stack.api_url}/docs")


class Switch:
    """Says things on the terminal, or into a file while something else has the terminal."""

    def __init__(self, echo: Callable[[str], None], path: Path) -> None:
        self._echo = echo
        self._path = path
        self._away = False

    def to_file(self) -> None:
        """From now on into the file."""
        self._away = True

    def to_terminal(self) -> None:
        """From now on to the terminal again."""
        self._away = False

    def __call__(self, line: str) -> None:
        if not self._away:
            self._echo(line)
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {line}\n")
