"""`sidestream reextract`: read chosen sessions again by another model, prompt or version of the rules."""

import asyncio
import getpass
import json
import time
from pathlib import Path
from typing import Any

import click

from cli import fact_views, signals
from cli.commands.facts import opened_database
from cli.errors import CheckFailed, CliError, Unavailable
from memory.generations import Difference, difference
from memory.types import Scope
from store import generations, jobs
from store.db import Database
from store.errors import NotFound, StoreError, WrongState
from store.generations import Generation

READ, SWITCH = "reextract", "switch_generation"
"""Kinds of job, as the workers know them."""
RULES = "rules"
_POLL = 0.3


@click.group()
def reextract() -> None:
    """Read sessions again by another extractor, look at the difference, and switch to it or drop it."""


@reextract.command()
@click.option("--user", default="default", show_default=True, help="Whose sessions.")
@click.option("--namespace", default="default", show_default=True, help="Namespace of the user.")
@click.option("--session", "named", multiple=True, help="Only this session; may be repeated. Default: all.")
@click.option("--model", default=RULES, show_default=True, help="A chat model of the configured service, or rules.")
@click.option(
    "--prompt",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A Markdown file in place of the configured prompt.",
)
@click.option("--reason", default="asked for", show_default=True, help="Why, for the history.")
@click.option("--wait", is_flag=True, help="Wait until it is read, and show the difference.")
def start(
    user: str, namespace: str, named: tuple[str, ...], model: str, prompt: Path | None, reason: str, wait: bool
) -> None:
    """Have the workers read sessions again; what they find is kept beside the facts that stand."""
    if prompt is not None and model == RULES:
        raise click.UsageError("rules have no prompt; name a --model too")
    text = None if prompt is None else prompt.read_text(encoding="utf-8")
    actor = f"operator:{getpass.getuser()}"
    scope = Scope(user, namespace)
    with opened_database() as (_, db), db.atomic():
        try:
            sessions = generations.sessions_of(db, scope, named or None)
        except NotFound as error:
            raise CliError(str(error)) from error
        chosen, now = None if model == RULES else model, time.time()
        number = generations.begin(
            db, scope, list(sessions), model=chosen, prompt=text, actor=actor, reason=reason, now=now
        )
        for pk in sessions:
            payload = {"generation": number, "session_pk": pk}
            subject = f"generation:{number}:session:{pk}"
            jobs.owe(db, READ, subject, namespace, due_at=now, now=now, payload=payload)
    click.echo(f"generation {number}: {len(sessions)} sessions are to be read by {model}")
    if wait:
        _wait(number, "building")
        _show(number, as_json=False)


@reextract.command("list")
@click.option("--user", help="Only of this user.")
@click.option("--namespace", default="default", show_default=True, help="Namespace of the users.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Most, the newest first.")
def list_command(user: str | None, namespace: str, limit: int) -> None:
    """List generations, the newest first."""
    with opened_database(readonly=True) as (_, db):
        found = generations.listed(db, namespace, user, limit)
    for generation in found:
        click.echo(_line(generation))
    if not found:
        click.echo("no generations")


@reextract.command()
@click.argument("number", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(number: int, as_json: bool) -> None:
    """Show what a generation would change: facts that go, facts that come, facts that both have."""
    _show(number, as_json=as_json)


@reextract.command()
@click.argument("number", type=int)
@click.option("--wait", is_flag=True, help="Wait until it is done.")
def switch(number: int, wait: bool) -> None:
    """Put a generation in the place of the facts that were read out of its sessions before.

    Those are archived, and can be released again. What a person wrote, pinned or weighed stays, and so does what stands
    on other sessions too.
    """
    with opened_database() as (_, db), db.atomic():
        generation, now = _get(db, number), time.time()
        try:
            generations.move(db, number, "switching", now, from_states=("ready",))
        except WrongState as error:
            raise CliError(str(error)) from error
        subject, payload = f"generation:{number}", {"generation": number}
        jobs.owe(db, SWITCH, subject, generation.namespace, due_at=now, now=now, payload=payload)
    click.echo(f"generation {number}: is being switched to")
    if wait:
        _wait(number, "switching")
        click.echo(f"generation {number}: active")


@reextract.command()
@click.argument("number", type=int)
def drop(number: int) -> None:
    """Drop a generation that is not switched to; the facts that stand stay as they are."""
    with opened_database() as (_, db), db.atomic():
        _get(db, number)
        try:
            generations.move(db, number, "dropped", time.time(), from_states=("building", "ready"))
        except WrongState as error:
            raise CliError(str(error)) from error
        generations.forget_drafts(db, number)
    click.echo(f"generation {number}: dropped")


def _show(number: int, *, as_json: bool) -> None:
    with opened_database(readonly=True) as (_, db):
        generation = _get(db, number)
        if generation.state not in ("building", "ready"):
            raise CliError(f"generation {number} is {generation.state}; there is no difference to show any more")
        found = difference(
            generations.replaced(db, generation), [drafted.draft for drafted in generations.drafts(db, number)]
        )
    if as_json:
        click.echo(json.dumps(_plain(generation, found), ensure_ascii=False, indent=2))
        return
    click.echo(_line(generation))
    for mark, contents in (
        ("-", [fact.content for fact in found.gone]),
        ("+", [draft.content for draft in found.new]),
        ("=", [fact.content for fact, _ in found.same]),
    ):
        for content in contents:
            click.echo(f"{mark} {' '.join(content.split())}")
    click.echo(f"{len(found.gone)} go, {len(found.new)} come, {len(found.same)} are the same")


def _plain(generation: Generation, found: Difference) -> dict[str, Any]:
    return {
        "generation": generation.id,
        "state": generation.state,
        "sessions": len(generation.sessions),
        "sessions_left": generation.sessions_left,
        "gone": [{"memory_id": fact.memory_id, "content": fact.content} for fact in found.gone],
        "new": [{"content": draft.content, "type": draft.memory_type} for draft in found.new],
        "same": [{"memory_id": fact.memory_id, "content": fact.content} for fact, _ in found.same],
    }


def _line(generation: Generation) -> str:
    left = f", {generation.sessions_left} left" if generation.state in ("building", "switching") else ""
    what = f"{len(generation.sessions)} sessions of {generation.user_id}{left}, by {generation.model or RULES}"
    return f"{generation.id}  {fact_views.moment(generation.created_at)}  {generation.state}: {what}"


def _get(db: Database, number: int) -> Generation:
    try:
        return generations.get(db, number)
    except NotFound as error:
        raise CliError(f"{error}; `sidestream reextract list` shows them") from error


def _wait(number: int, while_in: str) -> None:
    """Until the workers have moved the generation on; Ctrl-C leaves it to them."""
    if signals.run(_moved_on(number, while_in)) is None:
        raise click.exceptions.Exit(signals.INTERRUPTED)


async def _moved_on(number: int, while_in: str) -> bool:
    with opened_database(readonly=True) as (_, db):
        try:
            while _get(db, number).state == while_in:
                if any(states.get("dead") for kind, states in jobs.stats(db).items() if kind in (READ, SWITCH)):
                    raise CheckFailed("some of its work is dead; `sidestream dead list` says why")
                await asyncio.sleep(_POLL)
        except StoreError as error:
            raise Unavailable(str(error)) from error
    return True
