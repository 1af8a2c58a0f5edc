"""The command line: `sidestream COMMAND`. Exit codes are listed in cli/errors.py and docs/cli.md."""

import errno
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
from cli.commands.reextract import reextract
from cli.commands.safety import backup, doctor, list_backups, restore
from cli.commands.scope import scope
from cli.commands.serve import beat, migrate, redis, serve, worker
from cli.commands.status import status
from cli.commands.up import chat, run, up
from cli.errors import Unavailable
from cli.signals import INTERRUPTED
from sidestream import __version__

_OF_THE_DISK = (
    errno.EACCES,
    errno.EDQUOT,
    errno.EEXIST,
    errno.EIO,
    errno.ENOSPC,
    errno.ENOTDIR,
    errno.EPERM,
    errno.EROFS,
)


class _Commands(click.Group):
    """Ends with 130 when the keyboard interrupts a command, as shells expect, and with one line where a disk is full
    or a folder is not ours to write."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None
        except OSError as error:
            if error.errno not in _OF_THE_DISK:
                raise
            where = f"{error.filename}: " if error.filename else ""
            raise Unavailable(f"{where}{error.strerror}") from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="sidestream")
def main() -> None:
    """Agent memory that stays off the reply path. Settings come from SIDESTREAM_* and sidestream.toml."""


_TALKING = (up, run, chat, import_chats, evaluate)
_TENDING = (status, facts_command, reextract, dead, maintain, archive_command, hold)
_SAFETY = (erase_command, doctor, backup, list_backups, restore, scope)
_SERVING = (serve, worker, beat, redis, migrate)
for _command in (*_TALKING, *_TENDING, *_SAFETY, *_SERVING):
    main.add_command(_command)

if __name__ == "__main__":
    main(prog_name="sidestream")
