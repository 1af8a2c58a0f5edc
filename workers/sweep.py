"""Makes good what was lost: a task for every kind of work that is due and has none on its way."""

from config.logging import get_logger
from store import embedding_cache, jobs, sessions, spaces
from store.db import Database
from workers.kinds import HANDLED
from workers.nudge import Nudger

log = get_logger("sweep")


def sweep(db: Database, nudger: Nudger, *, now: float, cache_size: int) -> dict[str, int]:
    """Sends one task for each handled kind with due or lapsed jobs; how many of these there are, by kind.

    Raises:
        StoreError, redis.RedisError: the next tick tries again.
    """
    healed = jobs.heal_clock(db, now)
    sessions_healed = sessions.heal_clock(db, now, jobs.STEP_BACK)
    if healed or sessions_healed:
        log.warning("clock_went_back", jobs=healed, sessions=sessions_healed)
    # Work that an older program wrote down before there was a handler for it.
    for kind in (kind for kind, states in jobs.stats(db).items() if kind in HANDLED and states.get("deferred")):
        log.info("deferred_work_released", kind=kind, jobs=jobs.release_deferred(db, kind, now))
    owed = jobs.owed(db, now)
    for kind in HANDLED:
        if owed.get(kind):
            nudger.renew(kind)
    for space in spaces.all_spaces(db):
        embedding_cache.trim(db, space.id, cache_size)
    return owed
