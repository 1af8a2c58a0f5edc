"""What `sidestream status` finds: each part by itself, so that one that is away does not hide the others."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeAlias

from config.errors import InvalidSettings
from config.settings import Settings
from llm.factory import describe
from sidestream.keys import GROUP, Keys
from store import counters, dead_letters, jobs, space_change, tiers
from store.db import Database
from store.errors import StoreError
from store.heartbeats import Heartbeat, best, heartbeats
from store.migrate import schema_version
from store.processes import host_of, this_host
from store.redis_client import REDIS_ERRORS, connect
from store.redis_safety import redis_safety

Report: TypeAlias = dict[str, Any]

ROLES = ("consumer", "ingest", "embed", "summarise", "extract", "compact", "maintain", "beat")
"""Who shows a heartbeat: the consumer's thread, each queue's worker, and beat."""


def collect(found: Settings, url: str, *, clock: Callable[[], float] = time.time) -> Report:
    """Everything that is known, as JSON values; a part that cannot be asked has an `error` in its place."""
    return {
        **redis_part(found, url, clock()),
        "database": database_part(found, clock()),
        "spool": spool_part(found),
        "models": models_part(found),
    }


def redis_part(found: Settings, url: str, now: float) -> Report:
    """`redis`, `stream` and `workers`."""
    keys = Keys(found.redis_prefix)
    client = connect(url)
    try:
        client.ping()
        return {
            "redis": {"ok": True, "warnings": redis_safety(client)},
            "hot": tiers.hot(client, keys.events, keys.tail("", "").removesuffix("0::")),
            "stream": {"length": client.xlen(keys.events), "pending": _pending(client, keys)},
            "workers": {role: worker(client, keys, role, now, found.heartbeat_every) for role in ROLES},
        }
    except REDIS_ERRORS as error:
        away = {"error": f"Redis does not answer: {error}"}
        return {"redis": {"ok": False, **away}, "hot": away, "stream": away, "workers": away}
    finally:
        client.close()


def worker(client: Any, keys: Keys, role: str, now: float, every: float) -> Report:
    """How the role stands by its best process (`alive`, seconds since the last heartbeat as `age`, and the
    `trouble` that it reports), and all of them in `processes`."""
    beats = heartbeats(client.hgetall(keys.alive(role)), now, every)
    first = best(beats)
    shown = {"alive": False, "age": None, "trouble": None} if first is None else _shown(first)
    return {**shown, "processes": [{"process": beat.process, **_shown(beat)} for beat in beats]}


def why_not(client: Any, keys: Keys, role: str, now: float, every: float) -> str | None:
    """What is wrong with the role; None where one process at least is alive."""
    state = worker(client, keys, role, now, every)
    return None if state["alive"] else state["trouble"] or "no heartbeat"


def why_not_here(client: Any, keys: Keys, role: str, now: float, every: float) -> str | None:
    """What is wrong with the role's processes on this host or in this container: each must be alive. None
    where nothing is."""
    here = [b for b in heartbeats(client.hgetall(keys.alive(role)), now, every) if host_of(b.process) == this_host()]
    wrong = [beat for beat in here if not beat.alive]
    if not here:
        return "no heartbeat from here"
    return None if not wrong else "; ".join(f"{b.process}: {b.trouble or f'silent for {b.age:.0f} s'}" for b in wrong)


def _shown(beat: Heartbeat) -> Report:
    return {"alive": beat.alive, "age": beat.age, "trouble": beat.trouble}


def database_part(found: Settings, now: float) -> Report:
    """Schema, jobs, dead letters and counters."""
    if not found.database.exists():
        return {"ok": False, "error": f"{found.database} is not there yet"}
    try:
        db = Database.open(found.database, readonly=True)
    except StoreError as error:
        return {"ok": False, "error": str(error)}
    try:
        return {
            "ok": True,
            "path": str(found.database),
            "bytes": found.database.stat().st_size,
            "schema": schema_version(db),
            "vectors": db.has_vec,
            "reembedding": reembedding(db),
            "warm": tiers.warm(db),
            "cold": tiers.cold(db),
            "jobs": jobs.stats(db),
            "oldest_due_seconds": jobs.oldest_due(db, now),
            "dead_letters": dead_letters.count(db),
            "counters": counters.all_counters(db),
        }
    except StoreError as error:
        return {"ok": False, "error": str(error)}
    finally:
        db.close()


def reembedding(db: Database) -> Report | None:
    """A change of embedding model under way; None where none is."""
    found = space_change.filling(db)
    return None if found is None else asdict(found)


def spool_part(found: Settings) -> Report:
    """Files in which publishers keep events while Redis is away."""
    files = [path for path in found.spool_dir.glob("spool-*") if path.stat().st_size]
    return {"files": len(files), "bytes": sum(path.stat().st_size for path in files)}


def models_part(found: Settings) -> Report:
    """What answers, summarises and embeds."""
    try:
        return describe(found)
    except InvalidSettings as error:
        return {"error": str(error)}


def _pending(client: Any, keys: Keys) -> int:
    if not client.exists(keys.events) or not client.xinfo_groups(keys.events):
        return 0
    return int(client.xpending(keys.events, GROUP)["pending"])
