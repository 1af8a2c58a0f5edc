"""`sidestream facts`: what is known of a user, why, and what a person decides about it."""

import getpass
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import click

from cli import environment, fact_views
from cli.errors import CliError, Unavailable
from config.settings import Settings
from memory.facts.model import Status
from memory.types import Scope
from recall.explain import explain
from recall.policy import weight_policy
from store import fact_changes, fact_reading, facts, jobs
from store.archive_place import policy as retention
from store.db import Database
from store.errors import LegalHold, StoreError, WrongState
from store.fact_reading import FactFilter, KnownFact
from store.opening import open_database

STATUSES = ("candidate", "active", "superseded", "archived", "deleted")


@dataclass(frozen=True, slots=True)
class _Open:
    """An open database and whose facts are meant."""

    settings: Settings
    db: Database
    scope: Scope

    def known(self, memory_id: str) -> KnownFact:
        """The fact. Raises CliError where the user has none of that id."""
        found = fact_reading.one(self.db, self.scope, memory_id)
        if found is None:
            raise CliError(f"user {self.scope.user_id} has no fact {memory_id}; `sidestream facts list` shows them")
        return found


def _whose(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that name a scope."""
    named = click.option("--namespace", default="default", show_default=True, help="Namespace of the user.")(command)
    return click.option("--user", default="default", show_default=True, help="Whose facts.")(named)


def _told(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that a line of history is made of."""
    named = click.option("--reason", default="asked for", show_default=True, help="Why, for the history.")(command)
    return click.option("--actor", help="Who decides, for the history; default this account.")(named)


@click.group("facts")
def facts_command() -> None:
    """Look at facts, why they are known, and decide about them."""


@facts_command.command("list")
@_whose
@click.option("--status", type=click.Choice(STATUSES), default=("active",), multiple=True, help="May be repeated.")
@click.option("--type", "types", multiple=True, help="Only of this type; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag; may be repeated.")
@click.option("--session", "session_id", help="Only those that come from this session.")
@click.option("--as-of", type=click.DateTime(), help="Those that were held at this moment (UTC).")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="Most facts, the heaviest first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_command(
    user: str,
    namespace: str,
    status: tuple[Status, ...],
    types: tuple[str, ...],
    tags: tuple[str, ...],
    session_id: str | None,
    as_of: datetime | None,
    limit: int,
    as_json: bool,
) -> None:
    """List facts, pinned ones first, then the heaviest."""
    moment = None if as_of is None else as_of.replace(tzinfo=UTC).timestamp()
    with _database(user, namespace, readonly=True) as opened:
        which = FactFilter(status, types, tags, as_of=moment)
        scope = Scope(user, namespace, session_id)
        found, total = fact_reading.page(opened.db, scope, which, limit)
        policy = weight_policy(opened.settings)
    for known in found:
        line = fact_views.plain(known, policy, time.time()) if as_json else fact_views.line(known, policy, time.time())
        click.echo(json.dumps(line, ensure_ascii=False) if as_json else line)
    if total > len(found):
        click.echo(f"{total - len(found)} more", err=True)
    if not found and not as_json:
        click.echo("no facts")


@facts_command.command("explain")
@click.argument("memory_id")
@_whose
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain_command(memory_id: str, user: str, namespace: str, as_json: bool) -> None:
    """Show where a fact comes from, why it is alive, and when it will be forgotten."""
    with _database(user, namespace, readonly=True) as opened:
        opened.known(memory_id)
        policy = weight_policy(opened.settings)
        found = explain(opened.db, opened.scope, memory_id, policy, retention(opened.settings), time.time())
    assert found is not None
    if as_json:
        click.echo(json.dumps(fact_views.explained(found, policy, time.time()), ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(fact_views.explained_lines(found, policy, time.time())))


@facts_command.command()
@click.argument("memory_id")
@_whose
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def history(memory_id: str, user: str, namespace: str, as_json: bool) -> None:
    """Show every change of a fact, the oldest first."""
    with _database(user, namespace, readonly=True) as opened:
        changes = facts.history(opened.db, opened.scope, memory_id)
    if not changes:
        raise CliError(f"user {user} has no fact {memory_id}, and never had")
    for change in changes:
        click.echo(
            json.dumps(fact_views.changed(change), ensure_ascii=False) if as_json else fact_views.change_line(change)
        )


@facts_command.command()
@click.argument("memory_ids", nargs=-1, required=True)
@_whose
@_told
@click.option("--off", is_flag=True, help="Let them go again.")
def pin(memory_ids: Sequence[str], user: str, namespace: str, actor: str | None, reason: str, off: bool) -> None:
    """Pin facts: they are core, and neither fade nor are archived."""
    _each(
        memory_ids, user, namespace, actor, reason, "unpinned" if off else "pinned",
        lambda opened, known, told: fact_changes.pin(opened.db, known, not off, **told),
    )  # fmt: skip


@facts_command.command()
@click.argument("memory_id")
@click.argument("weight", type=click.FloatRange(0, 1), required=False)
@_whose
@_told
@click.option("--free", is_flag=True, help="Let use and age move it again.")
def weight(
    memory_id: str, weight: float | None, user: str, namespace: str, actor: str | None, reason: str, free: bool
) -> None:
    """Hold a fact's weight at WEIGHT, 0 to 1, whatever use and age do."""
    if (weight is None) != free:
        raise click.UsageError("give a weight between 0 and 1, or --free")

    def change(opened: _Open, known: KnownFact, told: dict[str, Any]) -> bool:
        if weight is None:
            return fact_changes.free_weight(opened.db, known, **told)
        return fact_changes.hold_weight(opened.db, known, weight, **told)

    _each([memory_id], user, namespace, actor, reason, "freed" if free else f"held at {weight:g}", change)


@facts_command.command()
@click.argument("memory_ids", nargs=-1, required=True)
@_whose
@_told
@click.option("--hard", is_flag=True, help="Destroy them and their history for good.")
def forget(memory_ids: Sequence[str], user: str, namespace: str, actor: str | None, reason: str, hard: bool) -> None:
    """Archive facts: they are no longer recalled, stay readable, and can be released again."""

    def change(opened: _Open, known: KnownFact, told: dict[str, Any]) -> bool:
        if hard:
            facts.destroy(opened.db, known.fact, **told)
            return True
        return fact_changes.archive(opened.db, known.fact, **told)

    _each(memory_ids, user, namespace, actor, reason, "destroyed" if hard else "archived", change)


@facts_command.command()
@click.argument("memory_ids", nargs=-1, required=True)
@_whose
@_told
def release(memory_ids: Sequence[str], user: str, namespace: str, actor: str | None, reason: str) -> None:
    """Let facts in that are held back or archived; one that stands already in other words, or is over, stays out."""

    def change(opened: _Open, known: KnownFact, told: dict[str, Any]) -> bool | str:
        if not fact_changes.release(opened.db, known.fact, **told):
            return "superseded: another fact says the same, or was said later"
        now = told["now"]
        jobs.owe(opened.db, "embed", f"fact:{known.fact.id}:{known.fact.version}", namespace, due_at=now, now=now)
        return True

    _each(memory_ids, user, namespace, actor, reason, "released", change)


@facts_command.command()
@click.argument("memory_ids", nargs=-1, required=True)
@_whose
@_told
def refuse(memory_ids: Sequence[str], user: str, namespace: str, actor: str | None, reason: str) -> None:
    """Delete facts that are held back; they stay readable and never become active."""

    def change(opened: _Open, known: KnownFact, told: dict[str, Any]) -> bool:
        fact_changes.refuse(opened.db, known.fact, **told)
        return True

    _each(memory_ids, user, namespace, actor, reason, "refused", change)


def _each(
    memory_ids: Sequence[str],
    user: str,
    namespace: str,
    actor: str | None,
    reason: str,
    done: str,
    change: Callable[[_Open, KnownFact, dict[str, Any]], bool | str],
) -> None:
    """Changes each fact in a transaction of its own, and says what came of it."""
    told = {"actor": actor or f"operator:{getpass.getuser()}", "reason": reason}
    with _database(user, namespace) as opened:
        for memory_id in memory_ids:
            try:
                with opened.db.atomic():
                    changed = change(opened, opened.known(memory_id), {**told, "now": time.time()})
            except (WrongState, LegalHold) as error:
                raise CliError(str(error)) from error
            said = changed if isinstance(changed, str) else done if changed else f"{done} already"
            click.echo(f"{memory_id}: {said}")


@contextmanager
def _database(user: str, namespace: str, *, readonly: bool = False) -> Iterator[_Open]:
    with opened_database(readonly=readonly) as (found, db):
        yield _Open(found, db, Scope(user, namespace))


@contextmanager
def opened_database(*, readonly: bool = False) -> Iterator[tuple[Settings, Database]]:
    """The database, which writes through the writers' gate. Raises Unavailable where it cannot be opened, read or
    written."""
    found = environment.settings()
    try:
        with open_database(
            found.database, readonly=readonly, gate=not readonly, busy_timeout=found.busy_timeout, clock=time.time
        ) as db:
            yield found, db
    except StoreError as error:
        raise Unavailable(str(error)) from error
