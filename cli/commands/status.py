"""`sidestream status`: how everything stands, for a person, a program or a health check."""

import json
import time
from collections.abc import Sequence

import click
from rich.console import Console

from cli import environment
from cli.errors import CheckFailed, Unavailable
from cli.status import ROLES, collect, why_not, why_not_here
from cli.status_view import show
from config.settings import Settings
from sidestream.keys import Keys
from store.redis_client import REDIS_ERRORS, connect


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--worker",
    "roles",
    type=click.Choice(ROLES),
    multiple=True,
    help="Only tell by the exit code whether this one is alive; may be repeated.",
)
@click.option(
    "--here",
    is_flag=True,
    help="With --worker: only processes of this host or container count, and each must be alive.",
)
def status(as_json: bool, roles: tuple[str, ...], here: bool) -> None:
    """Show workers, what is owed, dead letters, Redis, the database and models.

    Exit code 4 if Redis or the database cannot be reached; with --worker 1 if it shows no heartbeat.
    """
    found = environment.settings()
    if here and not roles:
        raise click.UsageError("--here goes with --worker")
    if roles:
        _alive(found, roles, here=here)
        return
    report = collect(found, environment.redis_url(found))
    if as_json:
        click.echo(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        show(report, Console(highlight=False))
    away = [name for name in ("redis", "database") if not report[name]["ok"]]
    if away:
        raise Unavailable(f"cannot be reached: {', '.join(away)}")


def _alive(found: Settings, roles: Sequence[str], *, here: bool) -> None:
    client = connect(environment.redis_url(found))
    look = why_not_here if here else why_not
    try:
        wrong = {
            role: look(client, Keys(found.redis_prefix), role, time.time(), found.heartbeat_every) for role in roles
        }
    except REDIS_ERRORS as error:
        raise Unavailable(f"Redis does not answer: {error}") from error
    finally:
        client.close()
    reasons = [f"{role}: {reason}" for role, reason in wrong.items() if reason is not None]
    if reasons:
        raise CheckFailed("; ".join(reasons))
