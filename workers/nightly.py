"""The nightly run in a task: beat ticks, rows say whether there is something to do, and each task does a share.

`python -m workers.nightly` runs the whole night in this process, for `sidestream maintain run`.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from config.logging import configure, get_logger
from config.prompt_files import load_prompt
from config.settings import Settings, load
from config.zone import time_zone
from llm.factory import build_summariser
from llm.ports import ChatModel
from memory.nights import Night, latest_night, parse_time
from recall.policy import weight_policy
from store import nightly
from store.archive import Archive
from store.archive_place import archive_folder, policy
from store.db import Database
from store.nightly import Nightly, Report, Rules
from store.nightly_steps import steps
from store.opening import open_database
from store.processes import this_process
from workers import faults
from workers.nightly_facts import FactUpkeep
from workers.nightly_rollups import RollUps
from workers.process import Process
from workers.rollups import Shortener, timeline_rules

log = get_logger("nightly")

Runner: TypeAlias = Callable[[Coroutine[Any, Any, int]], int]


def night_of(settings: Settings, now: float) -> Night:
    """The night that began last, in the configured zone."""
    return latest_night(now, parse_time(settings.nightly_at), time_zone(settings.nightly_zone))


def build(settings: Settings, db: Database, model: ChatModel | None, run: Runner) -> Nightly:
    """The runner over this database. `model` shortens the timeline, rules do without one; `run` runs a coroutine."""
    shortener = Shortener(model, load_prompt("timeline", settings.prompts_dir))
    rollups = RollUps(shortener, timeline_rules(settings), time_zone(settings.nightly_zone), run)
    return Nightly(
        Archive(db, archive_folder(settings)),
        steps(rollups, FactUpkeep(weight_policy(settings))),
        Rules(policy(settings), settings.nightly_batch, settings.nightly_pause),
        owner=this_process(),
        clock=db.clock,
        reach=faults.reach_night,
    )


def run_due(
    settings: Settings, db: Database, *, budget: float, model: Callable[[], ChatModel | None], run: Runner
) -> Report | None:
    """Works on the night that is due, for up to `budget` seconds; None where none is, or another process does.
    `model` makes the model that shortens, when there is something to do.

    Raises:
        StoreError: SQLite refused; the next tick goes on.
    """
    night = night_of(settings, db.clock())
    if not nightly.due(db, night, db.clock()):
        return None
    found = build(settings, db, model(), run).run(night, budget)
    if found is not None:
        tell(found)
    return found


def nightly_share(process: Process, budget: float) -> None:
    """A task's share of the night, if it is due; `budget` is seconds.

    Raises:
        StoreError: as `run_due`.
    """
    run_due(process.settings, process.db, budget=budget, model=lambda: process.summariser, run=process.run)


def tell(found: Report) -> None:
    """Logs how the night stands."""
    if found.state == "done":
        log.info(
            "nightly_done",
            night=found.night,
            archived=sum(step.archived for step in found.steps),
            deleted=sum(step.deleted for step in found.steps),
            seconds=round(sum(step.seconds for step in found.steps), 3),
        )
    elif found.failed:
        log.error("nightly_failed", night=found.night, steps=sorted(found.failed))


def main() -> int:
    """Exit code 0 when the night is done, 1 when steps failed, 5 when another process works on it."""
    settings = load()
    configure(settings)
    with open_database(settings.database, busy_timeout=settings.busy_timeout, gate=True, clock=time.time) as db:
        night = night_of(settings, time.time())
        found = _whole_night(settings, db, night)
        if found is None:
            return 5
        tell(found)
        return 0 if found.state == "done" else 1


def _whole_night(settings: Settings, db: Database, night: Night) -> Report | None:
    model = build_summariser(settings)
    with asyncio.Runner() as runner:
        try:
            return build(settings, db, model, runner.run).run(night)
        finally:
            if model is not None:
                runner.run(model.aclose())


if __name__ == "__main__":
    sys.exit(main())
