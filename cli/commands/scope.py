"""`sidestream scope`: everything of a user as a file, and back."""

import time
from pathlib import Path

import click

from cli.errors import CliError
from cli.store import opened
from memory.types import Scope
from store import scope_export, scope_import
from store.errors import NotFound, StoreConflict

_LEFT_OUT = {
    "jobs": "jobs that are not done: what they would make is missing where this is imported",
    "generations": "generations of facts",
    "archive_files": "files of the namespace's archive, which may hold something of the user",
}


@click.group()
def scope() -> None:
    """Export what is stored of a user as JSON lines, and import it elsewhere."""


@scope.command("export")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--user", required=True, help="Whose memory.")
@click.option("--namespace", default="default", show_default=True, help="The user's namespace.")
@click.option("--session", help="Only this session.")
def export_command(file: Path, user: str, namespace: str, session: str | None) -> None:
    """Write a user's sessions, messages, summaries, facts with their history, timeline and runs into FILE.

    What is in the archive is not in it: restore that first, or copy the archive's files. Nor are jobs that are not done
    (wait until `sidestream status` shows none) and generations of facts. Vectors are made again.
    """
    part = file.with_name(file.name + ".part")
    lines = 0
    with opened() as (_, db):
        left_out = scope_export.left_out(db, Scope(user, namespace))
        try:
            with part.open("w", encoding="utf-8") as target:
                for line in scope_export.export(db, Scope(user, namespace, session_id=session), time.time()):
                    target.write(line + "\n")
                    lines += 1
            part.chmod(0o600)
            part.replace(file)
        except NotFound as error:
            raise CliError(str(error)) from error
        except OSError as error:
            raise CliError(f"{file}: cannot be written: {error.strerror}") from error
        finally:
            part.unlink(missing_ok=True)
    click.echo(f"{file}: {lines - 1} rows")
    for name, count in left_out.items():
        if count:
            click.echo(f"not in it: {count} {_LEFT_OUT[name]}", err=True)


@scope.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def import_command(file: Path) -> None:
    """Bring in what `sidestream scope export` wrote, with the same ids and times; a second time changes nothing."""
    with opened() as (found, db), file.open(encoding="utf-8") as lines:
        try:
            result = scope_import.load(db, lines, embed_min_chars=found.embed_min_chars)
        except StoreConflict as error:
            raise CliError(str(error)) from error
    for table, count in sorted(result.written.items()):
        click.echo(f"{table:<22} {count}")
    click.echo(f"{result.present} rows were there already")
