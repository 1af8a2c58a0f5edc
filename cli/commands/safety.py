"""`sidestream doctor`, `backup` and `restore`."""

import time
from pathlib import Path

import click

from cli import environment
from cli.errors import CheckFailed, CliError, Unavailable
from cli.lock import FolderLock
from cli.store import archive, opened, shown
from store import backup as backups
from store.archive import Archive
from store.archive_folder import LocalArchive
from store.archive_place import archive_folder
from store.doctor import Finding, examine
from store.errors import NotFound, StoreCorrupt, StoreError
from store.opening import open_database


@click.command()
@click.option("--repair", is_flag=True, help="Mend what can be mended without losing anything.")
def doctor(repair: bool) -> None:
    """Check that rows, full text, vectors, jobs and archive agree. Exit code 1 if something is left that does not."""
    with archive() as (_, found):
        findings = examine(found, repair=repair)
    _tell(findings)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def backup(folder: Path) -> None:
    """Write a backup into a new or empty FOLDER while everything runs, and check it."""
    with archive() as (_, found):
        made = backups.backup(found, folder, time.time())
    click.echo(f"{made.folder}: {made.byte_count} bytes, {made.archive_files} archive files")
    for location in made.missing:
        click.echo(f"archive file {location} is recorded and not there", err=True)
    _tell(_examined(folder))


@click.command("backups")
@click.option(
    "--forget", help="Take this one off the list, since it was deleted: an erasure looks for all that are listed."
)
def list_backups(forget: str | None) -> None:
    """List the backups that were made, the newest first; an erasure reaches into them."""
    with opened() as (_, db):
        if forget is not None:
            with db.atomic():
                if not db.run("backups_forget", location=forget):
                    raise CliError(f"no backup {forget} is listed")
        rows = db.run("backups_list")
    for row in rows:
        click.echo(f"{row['location']}  {shown(row['created_at'])}  {row['byte_count']} bytes")
    if not rows:
        click.echo("no backups")


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--erased-in",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The former data folder, if it is another: whoever was erased there since is erased from the backup too.",
)
def restore(folder: Path, erased_in: Path | None) -> None:
    """Put the backup in FOLDER into the data folder, which must be without a database, and check it."""
    found = environment.settings()
    try:
        with FolderLock(found.data_dir):
            again = backups.restore(folder, found.data_dir, erased_in=erased_in, clock=time.time)
    except (NotFound, StoreCorrupt) as error:
        raise CliError(str(error)) from error
    except StoreError as error:
        raise Unavailable(str(error)) from error
    click.echo(f"{found.data_dir}: restored{f', {again} users erased again' if again else ''}")
    with opened() as (_, db):
        _tell(examine(Archive(db, archive_folder(found)), repair=False))


def _examined(folder: Path) -> list[Finding]:
    """What is wrong with a backup; a copy of its database is looked at, since looking leaves files beside it."""
    backups.check(folder)
    with open_database(folder / backups.DATABASE) as db:
        has_archive = (folder / backups.ARCHIVE).exists()
        findings = examine(Archive(db, LocalArchive(folder / backups.ARCHIVE)), repair=False)
    backups.tidy(folder / backups.DATABASE)
    return [f for f in findings if has_archive or f.check != "archive"]


def _tell(findings: list[Finding]) -> None:
    for found in findings:
        mended = "repaired" if found.repaired else "can be repaired" if found.repairable else "cannot be repaired"
        click.echo(f"{found.check}: {found.count} {found.detail} ({mended})")
    left = [found for found in findings if not found.repaired]
    if left:
        raise CheckFailed(f"{len(left)} checks found something wrong")
    click.echo("everything agrees")
