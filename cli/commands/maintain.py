"""`sidestream maintain`: the nightly run, by hand."""

import json
import subprocess
import sys
import time
from typing import Any

import click

from cli import environment
from cli.errors import AlreadyRunning, CheckFailed, Unavailable
from cli.store import opened, shown
from config.settings import Settings
from config.zone import time_zone
from memory.nights import Night, latest_night, parse_time
from store import nightly
from store.archive import Archive
from store.archive_place import archive_folder, policy
from store.nightly import Nightly, Report, Rules
from store.nightly_steps import steps
from store.processes import this_process
from store.vacuum import vacuum

_HELD = 5


@click.group()
def maintain() -> None:
    """Run the nightly upkeep by hand, or see what it did."""


@maintain.command()
@click.option("--dry-run", is_flag=True, help="Only say what each step would have to do.")
def run(dry_run: bool) -> None:
    """Do the upkeep of the night that began last, unless it is done; goes on where it was stopped.

    Exit code 1 if a step failed, 5 if another process is at it.
    """
    found = environment.settings()
    if dry_run:
        for step, count in _statistics(found).items():
            click.echo(f"{step:<22} {count}")
        return
    # The workers' own program, so that there is one way to run a night; siblings do not import each other.
    command = [sys.executable, "-m", "workers.nightly"]
    ended = subprocess.run(command, cwd=environment.ROOT, env=dict(environment.child_environment(found)), check=False)
    if ended.returncode == _HELD:
        raise AlreadyRunning("another process is at the nightly run; `sidestream maintain report` shows how far it is")
    if ended.returncode not in (0, 1):
        raise Unavailable("the nightly run ended before its end; what it said stands above")
    if ended.returncode:
        raise CheckFailed("steps of the night failed; `sidestream maintain report` says why, and they are tried again")
    with opened() as (_, db):
        latest = nightly.report(db)
    if latest is not None:
        _show(latest)


@maintain.command()
@click.option("--nights", type=click.IntRange(1), default=1, show_default=True, help="How many, the newest first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a night.")
def report(nights: int, as_json: bool) -> None:
    """Show what the last nights saw, kept, archived and deleted, how long it took, and what failed."""
    with opened() as (_, db):
        found = nightly.reports(db, nights)
    if not found and not as_json:
        click.echo("no night has been run yet")
    for one in found:
        if as_json:
            click.echo(json.dumps(plain(one), ensure_ascii=False))
        else:
            _show(one)


@maintain.command("vacuum")
def vacuum_command() -> None:
    """Write the database's file anew, as small as it can be; from then on each night gives free pages back.

    A file that an earlier version made needs it once. It takes room for a second copy and holds writers up meanwhile,
    some seconds a gigabyte: choose a quiet hour. Events wait in Redis.
    """
    with opened() as (_, db):
        done = vacuum(db)
    click.echo(f"{done.before} bytes before, {done.after} bytes after")
    if not done.cut:
        click.echo("a reader kept the write-ahead log; it is cut when the next night is done", err=True)


def plain(found: Report) -> dict[str, Any]:
    """A report as JSON values."""
    steps_ = [{name: getattr(step, name) for name in step.__slots__} for step in found.steps]
    return {
        "night": found.night,
        "state": found.state,
        "due": found.due,
        "started_at": shown(found.started_at),
        "finished_at": shown(found.finished_at),
        "steps": steps_,
    }


def _show(found: Report) -> None:
    click.echo(f"night {found.night}: {found.state}, {shown(found.started_at)} to {shown(found.finished_at)}")
    click.echo(f"  {'step':<22} {'seen':>8} {'kept':>8} {'archived':>8} {'deleted':>8} {'seconds':>9}")
    for step in found.steps:
        figures = f"{step.seen:>8} {step.kept:>8} {step.archived:>8} {step.deleted:>8} {step.seconds:>9.3f}"
        click.echo(f"  {step.step:<22} {figures}{f'  failed: {step.reason}' if step.reason else ''}")


def _statistics(found: Settings) -> dict[str, int]:
    with opened() as (_, db):
        runner = Nightly(
            Archive(db, archive_folder(found)), steps(), Rules(policy(found)), owner=this_process(), clock=time.time
        )
        return runner.statistics(_night(found))


def _night(found: Settings) -> Night:
    return latest_night(time.time(), parse_time(found.nightly_at), time_zone(found.nightly_zone))
