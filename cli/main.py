"""The command line: `sidestream COMMAND`. Exit codes are listed in cli/errors.py and docs/cli.md."""

from typing import Any

import click

from cli.commands.archive import archive_command
from cli.commands.dead import dead
from cli.commands.erase import erase_command
from cli.commands.evaluate import evaluate
from cli.commands.facts import facts_command
from cli.commands.hold import hold
from cli.commands.importing import import_chats
from cli.commands.maintain import maintain
from cli.commands.safety import backup, doctor, list_backups, restore
from cli.commands.serve import beat, migrate, redis, serve, worker
from cli.commands.status import status
from cli.commands.up import chat, run, up
from cli.signals import INTERRUPTED
from sidestream import __version__


class _Commands(click.Group):
    """Ends with 130 when the keyboard interrupts a command, as shells expect."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="sidestream")
def main() -> None:
    """Agent memory that stays off the reply path. Settings come from SIDESTREAM_* and sidestream.toml."""


_TALKING = (up, run, chat, import_chats, evaluate)
_TENDING = (status, facts_command, dead, maintain, archive_command, hold)
_SAFETY = (erase_command, doctor, backup, list_backups, restore)
_SERVING = (serve, worker, beat, redis, migrate)
for _command in (*_TALKING, *_TENDING, *_SAFETY, *_SERVING):
    main.add_command(_command)

if __name__ == "__main__":
    main(prog_name="sidestream")
