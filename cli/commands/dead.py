"""`sidestream dead`: what could not be processed, and what becomes of it."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Literal

import click

from cli import environment
from cli.errors import CliError, Unavailable
from cli.publishing import republish
from config.settings import Settings
from store import dead_letters, jobs
from store.db import Database
from store.dead_letters import DeadLetter, Status
from store.errors import NotFound, StoreError
from store.opening import open_database

_WIDTH = 100


@click.group()
def dead() -> None:
    """Look at dead letters, replay them or discard them."""


@dead.command("list")
@click.option(
    "--status",
    type=click.Choice(["dead", "replayed", "discarded", "any"]),
    default="dead",
    show_default=True,
    help="Which ones.",
)
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="Most letters, the newest first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_command(status: Status | Literal["any"], limit: int, as_json: bool) -> None:
    """List dead letters, the newest first."""
    with _database() as (_, db):
        letters = dead_letters.list_dead(db, status=None if status == "any" else status, limit=limit)
    for letter in letters:
        click.echo(json.dumps(_plain(letter), ensure_ascii=False) if as_json else _line(letter))
    if not letters and not as_json:
        click.echo("no dead letters")


@dead.command()
@click.argument("number", type=int)
def show(number: int) -> None:
    """Show one dead letter with its body."""
    with _database() as (_, db):
        click.echo(json.dumps(_plain(_get(db, number)), ensure_ascii=False, indent=2))


@dead.command()
@click.argument("numbers", type=int, nargs=-1, required=True)
def replay(numbers: tuple[int, ...]) -> None:
    """Try again: an event goes back onto the stream, last and with its own time; a job becomes due."""
    with _database() as (found, db):
        for number in numbers:
            letter = _get(db, number)
            if letter.status != "dead":
                raise CliError(f"dead letter {number} is {letter.status} already")
            click.echo(f"{number}: {_replay(found, db, letter)}")


@dead.command()
@click.argument("numbers", type=int, nargs=-1, required=True)
def discard(numbers: tuple[int, ...]) -> None:
    """Say that these need not be processed; they stay listed under --status discarded."""
    with _database() as (_, db):
        for number in numbers:
            letter = _get(db, number)
            if letter.status != "dead":
                raise CliError(f"dead letter {number} is {letter.status} already")
            dead_letters.mark(db, number, "discarded")
            click.echo(f"{number}: discarded")


def _replay(found: Settings, db: Database, letter: DeadLetter) -> str:
    if letter.source == "job":
        jobs.revive(db, int(letter.ref))
        return "due again"
    # Marked after the event stands in the stream: killed in between, it is replayed twice, and stored once.
    entry = republish(found, environment.redis_url(found), letter)
    dead_letters.mark(db, letter.id, "replayed")
    return f"back on the stream as {entry}"


@contextmanager
def _database() -> Iterator[tuple[Settings, Database]]:
    found = environment.settings()
    try:
        with open_database(found.database, busy_timeout=found.busy_timeout, clock=time.time) as db:
            yield found, db
    except StoreError as error:
        raise Unavailable(str(error)) from error


def _get(db: Database, number: int) -> DeadLetter:
    try:
        return dead_letters.get(db, number)
    except NotFound as error:
        raise CliError(str(error)) from error


def _plain(letter: DeadLetter) -> dict[str, object]:
    return {
        "id": letter.id,
        "source": letter.source,
        "ref": letter.ref,
        "namespace": letter.namespace,
        "event_id": letter.event_id,
        "status": letter.status,
        "reason": letter.reason,
        "created_at": _time(letter.created_at),
        "updated_at": _time(letter.updated_at),
        "body": dict(letter.body),
    }


def _line(letter: DeadLetter) -> str:
    what = letter.body.get("type" if letter.source == "event" else "kind", "?")
    text = f"{letter.id}  {_time(letter.created_at)}  {letter.source} {what}  {letter.reason}"
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
