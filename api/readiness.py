"""Whether the system can do its work, part by part, for `/health/ready` and for whoever is woken by it."""

import asyncio
from collections.abc import Awaitable
from typing import Any, Literal, TypeAlias

from api.services import Services
from config.errors import InvalidSettings
from config.settings import Settings
from llm.factory import describe, embeds
from sidestream.api_models import HealthCheck, ReadyResult
from store import dead_letters, jobs, nightly, space_change
from store.db import Database
from store.errors import StoreError
from store.heartbeats import best, heartbeats
from store.redis_client import REDIS_ERRORS
from store.redis_safety import redis_safety_async

Status: TypeAlias = Literal["ok", "degraded", "failed"]
TIMEOUT = 3.0
_HEARTBEATS_MISSED = 3


async def ready(doors: Services) -> ReadyResult:
    """Looks at everything at once, none of it for longer than three seconds."""
    checks = await asyncio.gather(
        _within("redis", redis(doors)),
        _within("database", database(doors)),
        _within("jobs", owed(doors)),
        _within("upkeep", upkeep(doors)),
        _within("consumer", consumer(doors)),
        _within("models", models(doors)),
        _within("reads", reads(doors)),
    )
    found = dict(checks)
    statuses = {check.status for check in found.values()}
    worst: Status = "failed" if "failed" in statuses else "degraded" if "degraded" in statuses else "ok"
    warnings = [f"{name}: {check.detail}" for name, check in found.items() if check.status == "degraded"]
    return ReadyResult(status=worst, checks=found, warnings=warnings)


async def _within(name: str, check: Awaitable[HealthCheck]) -> tuple[str, HealthCheck]:
    try:
        async with asyncio.timeout(TIMEOUT):
            return name, await check
    except TimeoutError:
        return name, _failed(f"no answer within {TIMEOUT:.0f} s")
    except REDIS_ERRORS as error:
        return name, _failed(f"Redis does not answer: {error}")
    except StoreError as error:
        return name, _failed(f"{type(error).__name__}: {error}")


async def redis(doors: Services) -> HealthCheck:
    """It answers and loses nothing that it has accepted."""
    await doors.redis.ping()
    unsafe = await redis_safety_async(doors.redis)
    return HealthCheck(status="degraded", detail="; ".join(unsafe)) if unsafe else _ok()


async def database(doors: Services) -> HealthCheck:
    """It opens and can be read; dead letters are a reason to look, not to stop."""
    dead, has_vec = await doors.database.read(lambda db: (dead_letters.count(db), db.has_vec))
    notes = [f"{dead} dead letters; see `sidestream dead list`"] if dead else []
    if not has_vec:
        notes.append("sqlite-vec is not loaded, so search goes by words alone")
    if notes:
        return HealthCheck(status="degraded", detail="; ".join(notes))
    return _ok(await _reembedding(doors))


async def _reembedding(doors: Services) -> str:
    found = await doors.database.read(space_change.filling)
    if found is None:
        return ""
    return f"{found.done} of {found.total} memories are embedded by {found.new}; until then {found.old} serves"


async def owed(doors: Services) -> HealthCheck:
    """No job has been due for longer than `ready_job_age`; without an embedder, embedding is not held to that."""
    now = doors.clock()
    age = await doors.database.read(lambda db: jobs.oldest_due(db, now, without=_waiting(doors.settings, db)))
    if age is not None and age > doors.settings.ready_job_age:
        return _failed(f"the oldest due job has waited for {age:.0f} s; are the task workers running?")
    return _ok("nothing is due" if age is None else f"the oldest due job has waited for {age:.0f} s")


async def upkeep(doors: Services) -> HealthCheck:
    """The last night's run has failed at nothing."""
    last = await doors.database.read(nightly.report)
    if last is None:
        return _ok("no night has been run yet")
    if last.failed:
        return _failed("; ".join(f"night {last.night}, {step}: {reason}" for step, reason in last.failed.items()))
    return _ok(f"night {last.night} is {last.state}")


async def consumer(doors: Services) -> HealthCheck:
    """A consumer has shown in the last heartbeats that it can write."""
    found: Any = await doors.redis.hgetall(doors.keys.alive("consumer"))
    every = doors.settings.heartbeat_every
    beats = heartbeats(found, doors.clock(), every)
    first = best(beats)
    if first is None:
        return _failed("no ingest worker shows that it lives; events wait in Redis until one does")
    if first.trouble is not None and first.fresh:
        return _failed(f"the ingest worker cannot work: {first.trouble}")
    if first.age > _HEARTBEATS_MISSED * every or not first.fresh:
        return _failed(f"the ingest worker was last heard of {first.age:.0f} s ago")
    troubled = [beat for beat in beats if beat.fresh and beat.trouble is not None]
    if troubled:
        others = "; ".join(f"{beat.process}: {beat.trouble}" for beat in troubled)
        return HealthCheck(status="degraded", detail=f"one ingest worker works, another cannot: {others}")
    return _ok()


async def models(doors: Services) -> HealthCheck:
    """Which models answer, summarise and embed; a search by words alone is degraded."""
    try:
        found = describe(doors.settings)
    except InvalidSettings as error:
        return _failed(str(error))
    named = ", ".join(f"{use} {m['provider']}:{m['model']}" for use, m in found.items())
    if found["embed"]["provider"] == "none":
        return HealthCheck(status="degraded", detail=f"no embedder, so search goes by words alone; {named}")
    refusing = [use for use, m in found.items() if m.get("circuit") == "open"]
    if refusing:
        return HealthCheck(status="degraded", detail=f"{', '.join(refusing)}: the service failed too often; {named}")
    return _ok(named)


async def reads(doors: Services) -> HealthCheck:
    """What the latest reads of this process had to do without, such as a query's embedding that was late."""
    lacking = [f"{part}: {reason}" for part, reason in doors.reader.troubles.standing.items()]
    return HealthCheck(status="degraded", detail="; ".join(lacking)) if lacking else _ok()


def _waiting(settings: Settings, db: Database) -> tuple[str, ...]:
    """Kinds of job that wait for something which is not configured; what is missing is told by another check."""
    return () if embeds(settings) and db.has_vec else ("embed", "reembed")


def _ok(detail: str = "") -> HealthCheck:
    return HealthCheck(status="ok", detail=detail)


def _failed(detail: str) -> HealthCheck:
    return HealthCheck(status="failed", detail=detail)
