"""`sidestream archive`: what lies in cold storage, and the way back from there."""

import json
import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

from cli.errors import CheckFailed
from cli.store import Moment, archive, shown
from config.settings import Settings
from memory.retention import ARCHIVED, DAY, Type
from memory.types import Scope
from store import archive_restore
from store.archive import Archive, Problem, text_of
from store.archive_file import Item
from store.archive_restore import Wanted

_WIDTH = 100
F = TypeVar("F", bound=Callable[..., Any])


@click.group("archive")
def archive_command() -> None:
    """Look into the archive, and bring memories back from it."""


@archive_command.command("list")
@click.option("--namespace", help="Only this namespace.")
@click.option("--kind", type=click.Choice(ARCHIVED), help="Only this kind.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_command(namespace: str | None, kind: Type | None, as_json: bool) -> None:
    """List the archive's files, oldest first."""
    with archive() as (_, found):
        rows = found.files(namespace=namespace, kind=kind)
    for row in rows:
        if as_json:
            click.echo(json.dumps({name: getattr(row, name) for name in row.__slots__}, ensure_ascii=False))
        else:
            span = f"{shown(row.starts_at)} to {shown(row.ends_at)}"
            click.echo(f"{row.location}  {row.row_count} items  {row.byte_count} bytes  {span}")
    if not rows and not as_json:
        click.echo("the archive is empty")


@archive_command.command()
def verify() -> None:
    """Read every file of the archive; exit code 1 if one is missing or damaged."""
    with archive() as (_, found):
        problems, files = found.verify(), found.totals()["files"]
    _tell(problems)
    if problems:
        raise CheckFailed(f"{len({p.location for p in problems})} of {files} files are missing or damaged")
    click.echo(f"{files} files, all whole")


def _which(command: F) -> F:
    """The options that say which items are meant."""
    for option in (
        click.option("--until", type=Moment(), help="Only what began before this time."),
        click.option("--since", type=Moment(), help="Only what ended after this time."),
        click.option("--kind", type=click.Choice(ARCHIVED), help="Only this kind."),
        click.option("--text", default="", help="Only items that hold all these words."),
        click.option("--id", "ids", multiple=True, help="Only this item, such as message:17; can be given again."),
        click.option("--session", help="Only this session."),
        click.option("--namespace", default="default", show_default=True, help="The user's namespace."),
        click.option("--user", required=True, help="Whose memories; nobody else's are shown."),
    ):
        command = option(command)
    return command


@archive_command.command()
@_which
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="Most items, the newest first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def search(limit: int, as_json: bool, **which: Any) -> None:
    """Search a user's archived memories. Exit code 1 if a file could not be read.

    What is found is warm again for SIDESTREAM_ARCHIVE_WARM_DAYS, as after `restore`, if it is no more than
    SIDESTREAM_ARCHIVE_WARM_ON_SEARCH items: who finds so few reads them.
    """
    problems: list[Problem] = []
    warmed = 0
    with archive() as (settings, found):
        items = archive_restore.search(found, _wanted(**which), problems, limit)
        if len(items) <= settings.archive_warm_on_search:
            warmed = _warm(found, settings, items)
    for item in items:
        if as_json:
            click.echo(json.dumps(item, ensure_ascii=False))
        else:
            text = f"{item['id']}  {shown(item['starts_at'])}  {' '.join(text_of(item).split())}"
            click.echo(text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…")
    _tell(problems)
    if problems:
        raise CheckFailed("a part of the archive could not be read")
    if not items and not as_json:
        click.echo("nothing found")
    if warmed:
        click.echo(f"{warmed} brought back for {settings.archive_warm_days:g} days", err=True)


@archive_command.command()
@_which
@click.option("--days", type=float, help="Stays for so many days, at least; default as SIDESTREAM_ARCHIVE_WARM_DAYS.")
def restore(days: float | None, **which: Any) -> None:
    """Bring a user's archived memories back, with their own ids and times.

    Exit code 1 if a file could not be read or an item could not come back.
    """
    problems: list[Problem] = []
    with archive() as (settings, found):
        now = time.time()
        until = now + (settings.archive_warm_days if days is None else days) * DAY
        result = archive_restore.restore(
            found,
            _wanted(**which),
            problems,
            until=until,
            now=now,
            embed_min_chars=settings.embed_min_chars,
        )
    click.echo(f"{result.restored} restored until {shown(until)}, {result.present} were there already")
    _tell([*problems, *result.refused])
    if problems or result.refused:
        raise CheckFailed("not everything came back")


def _warm(found: Archive, settings: Settings, items: list[Item]) -> int:
    """Brings back what was read; what cannot come back stays where it is."""
    if not items:
        return 0
    scope = Scope(items[0]["user_id"], items[0]["namespace"])
    now = time.time()
    result = archive_restore.restore(
        found,
        Wanted(scope, frozenset(item["id"] for item in items)),
        [],
        until=now + settings.archive_warm_days * DAY,
        now=now,
        embed_min_chars=settings.embed_min_chars,
    )
    return result.restored


def _wanted(
    *,
    user: str,
    namespace: str,
    session: str | None,
    ids: tuple[str, ...],
    text: str,
    kind: Type | None,
    since: float | None,
    until: float | None,
) -> Wanted:
    return Wanted(Scope(user, namespace, session_id=session), frozenset(ids), text, kind, since, until)


def _tell(problems: list[Problem]) -> None:
    for problem in problems:
        click.echo(f"{problem.location}: {problem.reason}", err=True)
