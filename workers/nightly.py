"""The nightly run in a task: beat ticks, rows say whether there is something to do, and each task does a share.

`python -m workers.nightly` runs the whole night in this process, for `sidestream maintain run`.
"""

import sys
import time

from config.logging import configure, get_logger
from config.settings import Settings, load
from config.zone import time_zone
from memory.nights import Night, latest_night, parse_time
from store import nightly
from store.archive import Archive
from store.archive_place import archive_folder, policy
from store.db import Database
from store.nightly import Nightly, Report, Rules
from store.nightly_steps import steps
from store.opening import open_database
from store.processes import this_process
from workers import faults

log = get_logger("nightly")


def night_of(settings: Settings, now: float) -> Night:
    """The night that began last, in the configured zone."""
    return latest_night(now, parse_time(settings.nightly_at), time_zone(settings.nightly_zone))


def build(settings: Settings, db: Database) -> Nightly:
    """The runner over this database."""
    return Nightly(
        Archive(db, archive_folder(settings)),
        steps(),
        Rules(policy(settings), settings.nightly_batch, settings.nightly_pause),
        owner=this_process(),
        clock=db.clock,
        reach=faults.reach_night,
    )


def run_due(settings: Settings, db: Database, *, budget: float) -> Report | None:
    """Works on the night that is due, for up to `budget` seconds; None where none is, or another process does.

    Raises:
        StoreError: SQLite refused; the next tick goes on.
    """
    night = night_of(settings, db.clock())
    if not nightly.due(db, night, db.clock()):
        return None
    found = build(settings, db).run(night, budget)
    if found is not None:
        tell(found)
    return found


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
        found = build(settings, db).run(night)
        if found is None:
            return 5
        tell(found)
        return 0 if found.state == "done" else 1


if __name__ == "__main__":
    sys.exit(main())
