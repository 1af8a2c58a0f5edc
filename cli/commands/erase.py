"""`sidestream erase`: a person, everywhere."""

import time

import click

from cli import environment
from cli.errors import AlreadyRunning, CheckFailed, CliError
from cli.store import archive
from sidestream.keys import Keys
from store.erase import Reach, erase
from store.errors import LegalHold, StoreBusy
from store.processes import this_process
from store.redis_client import connect

_TIMEOUT = 60.0


@click.command("erase")
@click.option("--user", required=True, help="Who.")
@click.option("--namespace", default="default", show_default=True, help="The user's namespace.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def erase_command(user: str, namespace: str, yes: bool) -> None:
    """Erase a person: from SQLite, the archive, Redis and listed backups; then look for what might be left.

    It cannot be undone. The files are written anew, which holds writers up meanwhile: choose a quiet hour. Exit
    code 1 if something could not be reached or is left; erase again when that is mended.
    """
    if not yes:
        click.confirm(f"Erase user {user!r} of namespace {namespace!r} for good?", abort=True)
    with archive() as (found, place):
        url = environment.redis_url(found)
        client = connect(url, timeout=_TIMEOUT)
        folder = None if found.redis_url else found.data_dir / "redis"
        reach = Reach(place.db, place, client, Keys(found.redis_prefix), found.data_dir, found.spool_dir, folder)
        try:
            result = erase(reach, namespace, user, actor="cli", owner=this_process(), clock=time.time)
        except LegalHold as error:
            raise CliError(str(error)) from error
        except StoreBusy as error:
            raise AlreadyRunning(str(error)) from error
        finally:
            client.close()
    for name, count in sorted(result.counts.items()):
        if count:
            click.echo(f"{name:<28} {count}")
    for line in result.left:
        click.echo(f"not reached: {line}", err=True)
    for line in result.found:
        click.echo(f"still there: {line}", err=True)
    if not result.complete:
        raise CheckFailed("the erasure is not complete; erase again when what stands above is mended")
    click.echo("erased; nothing of it was found again")
