"""`sidestream status`: how everything stands, for a person, a program or a health check."""

import json
import time

import click
from rich.console import Console

from cli import environment
from cli.errors import CheckFailed, Unavailable
from cli.status import ROLES, collect, worker
from cli.status_view import show
from config.settings import Settings
from sidestream.keys import Keys
from store.redis_client import REDIS_ERRORS, connect


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--worker", "role", type=click.Choice(ROLES), help="Only tell by the exit code whether this one is alive."
)
def status(as_json: bool, role: str | None) -> None:
    """Show workers, what is owed, dead letters, Redis, the database and models.

    Exit code 4 if Redis or the database cannot be reached; with --worker 1 if it shows no heartbeat.
    """
    found = environment.settings()
    if role is not None:
        _alive(found, role)
        return
    report = collect(found, environment.redis_url(found))
    if as_json:
        click.echo(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        show(report, Console(highlight=False))
    away = [name for name in ("redis", "database") if not report[name]["ok"]]
    if away:
        raise Unavailable(f"cannot be reached: {', '.join(away)}")


def _alive(found: Settings, role: str) -> None:
    client = connect(environment.redis_url(found))
    try:
        state = worker(client, Keys(found.redis_prefix), role, time.time())
    except REDIS_ERRORS as error:
        raise Unavailable(f"Redis does not answer: {error}") from error
    finally:
        client.close()
    if not state["alive"]:
        raise CheckFailed(f"{role}: {state['trouble'] or 'no heartbeat'}")
