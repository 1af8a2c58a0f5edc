"""What a command can end with instead of success. Each is one clear line on stderr and an exit code.

    CliError             1  the command ran and its answer is no
    ├── CheckFailed      1  the self-check or a wait found something missing
    ├── BadLines         1  an import file has lines that cannot be read
    ├── Misconfigured    3  a setting is wrong
    ├── Unavailable      4  Redis, the database, a model or the API cannot be reached
    └── AlreadyRunning   5  the data folder or a port is in use by another process

2 is click's own code for wrong usage, 130 for an interrupt from the keyboard.
"""

import click


class CliError(click.ClickException):
    """Root of the package's error tree; shown as `Error: <message>`."""

    exit_code = 1


class CheckFailed(CliError):  # noqa: N818 - named for what happened, as the whole tree
    """Something that should have come back or caught up did not."""


class BadLines(CliError):  # noqa: N818
    """An import file has lines that cannot be read; the message names file and line numbers."""


class Misconfigured(CliError):  # noqa: N818
    """A setting is wrong."""

    exit_code = 3


class Unavailable(CliError):  # noqa: N818
    """A part that the command needs cannot be reached."""

    exit_code = 4


class AlreadyRunning(CliError):  # noqa: N818
    """Another process uses the data folder or the port."""

    exit_code = 5
