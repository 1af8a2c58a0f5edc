"""`sidestream hold`: legal holds."""

import time

import click

from cli.errors import CliError
from cli.store import opened, shown
from store import holds
from store.errors import NotFound


@click.group()
def hold() -> None:
    """Keep a user's or a namespace's memories from being archived, deleted by age, or erased."""


@hold.command()
@click.option("--user", help="The user; without one the hold is on the whole namespace.")
@click.option("--namespace", default="default", show_default=True, help="The namespace.")
@click.option("--reason", required=True, help="Why; shown where something is refused for it.")
def add(user: str | None, namespace: str, reason: str) -> None:
    """Put a hold on a user or a namespace."""
    with opened() as (_, db):
        holds.put(db, namespace, user, reason, time.time())
    click.echo("held")


@hold.command()
@click.option("--user", help="The user; without one the namespace's own hold is meant.")
@click.option("--namespace", default="default", show_default=True, help="The namespace.")
def release(user: str | None, namespace: str) -> None:
    """End a hold."""
    with opened() as (_, db):
        try:
            holds.release(db, namespace, user)
        except NotFound as error:
            raise CliError(str(error)) from error
    click.echo("released")


@hold.command("list")
def list_command() -> None:
    """List all holds."""
    with opened() as (_, db):
        found = holds.all_holds(db)
    for one in found:
        click.echo(f"{one.namespace}  {one.user_id or '(all users)'}  since {shown(one.created_at)}  {one.reason}")
    if not found:
        click.echo("no holds")
