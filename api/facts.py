"""`/v1/memories` and `/v1/timeline`: facts one by one, their history and reasons, and what a person decides of them."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from pydantic import AwareDatetime

from api import fact_views
from api.errors import InvalidRequest, NotAvailable, NotFound
from api.services import Services, services
from memory.types import Scope
from sidestream.api_models import MAX_QUERY_CHARS
from sidestream.errors import InvalidEvent, PublishError
from sidestream.events import parse_event
from sidestream.fact_models import (
    Accepted,
    Fact,
    FactExplanation,
    FactHistory,
    FactList,
    FactPatch,
    FactStatus,
    TimelineResult,
)
from sidestream.fieldtypes import MAX_ID_LENGTH, MAX_REASON_CHARS
from sidestream.memory_tools import Level
from store.fact_reading import FactFilter, KnownFact

router = APIRouter(prefix="/v1", tags=["memories"])

Doors = Annotated[Services, Depends(services)]
Name = Annotated[str, Query(min_length=1, max_length=MAX_ID_LENGTH)]
MemoryId = Annotated[str, Path(min_length=1, max_length=MAX_ID_LENGTH)]
Moment = Annotated[AwareDatetime | None, Query(description="As held at this moment, RFC 3339.")]
MAX_PAGE = 500


@router.get("/memories", summary="One user's facts")
async def listed(
    doors: Doors,
    user_id: Name = "default",
    namespace: Name = "default",
    session_id: Annotated[str | None, Query(min_length=1, description="Only facts that come from it.")] = None,
    status: Annotated[list[FactStatus], Query(description="May be repeated.")] = ["active"],  # noqa: B006 - FastAPI copies it
    type: Annotated[list[str], Query(description="May be repeated; absent: any.")] = [],  # noqa: B006
    tag: Annotated[list[str], Query(description="May be repeated; facts with all of them.")] = [],  # noqa: B006
    min_confidence: Annotated[float, Query(ge=0, le=1)] = 0.0,
    data_source: Annotated[str | None, Query(description="Facts that hold for it, or for all.")] = None,
    as_of: Moment = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> FactList:
    """Pinned ones first, then the heaviest. With `as_of` those held at that moment, whatever became of them."""
    which = FactFilter(
        tuple(status),
        tuple(type),
        tuple(tag),
        min_confidence,
        data_source,
        None if as_of is None else as_of.timestamp(),
    )
    found, total = await doors.facts.page(Scope(user_id, namespace, session_id), which, limit, offset)
    return FactList(facts=[fact_views.fact(k, doors.facts.policy, doors.clock()) for k in found], total=total)


@router.get("/memories/{memory_id}", summary="One fact")
async def one(memory_id: MemoryId, doors: Doors, user_id: Name = "default", namespace: Name = "default") -> Fact:
    """A fact of this user, whatever its status."""
    known = await _known(doors, Scope(user_id, namespace), memory_id)
    return fact_views.fact(known, doors.facts.policy, doors.clock())


@router.get("/memories/{memory_id}/history", summary="Every change of a fact")
async def history(
    memory_id: MemoryId, doors: Doors, user_id: Name = "default", namespace: Name = "default"
) -> FactHistory:
    """The oldest first, each with who made it and why. Of a fact that was destroyed only that is left."""
    changes = await doors.facts.history(Scope(user_id, namespace), memory_id)
    if not changes:
        raise NotFound(f"no fact {memory_id!r} of this user")
    return FactHistory(memory_id=memory_id, changes=[fact_views.change(c) for c in changes])


@router.get("/memories/{memory_id}/explain", summary="Where from, why alive, when forgotten")
async def explain(
    memory_id: MemoryId, doors: Doors, user_id: Name = "default", namespace: Name = "default"
) -> FactExplanation:
    """The three answers, with the messages that the fact stands on."""
    found = await doors.facts.explain(Scope(user_id, namespace), memory_id)
    if found is None:
        raise NotFound(f"no fact {memory_id!r} of this user")
    return fact_views.explanation(found, doors.facts.policy, doors.clock())


@router.patch("/memories/{memory_id}", status_code=202, summary="Pin, weigh, release or refuse a fact")
async def patch(
    memory_id: MemoryId, body: FactPatch, doors: Doors, user_id: Name = "default", namespace: Name = "default"
) -> Accepted:
    """Publishes what a person decides as an event; `GET /v1/events/{event_id}` tells how far it has come."""
    known = await _known(doors, Scope(user_id, namespace), memory_id)
    wish = body.model_dump(exclude_none=True, exclude_defaults=True)
    return await _publish(doors, known, user_id, namespace, {"type": "memory.adjust", "memory_id": memory_id, **wish})


@router.delete("/memories/{memory_id}", status_code=202, summary="Forget a fact")
async def forget(
    memory_id: MemoryId,
    doors: Doors,
    user_id: Name = "default",
    namespace: Name = "default",
    hard: Annotated[bool, Query(description="Destroy it and its history instead of archiving it.")] = False,
    actor: Annotated[str | None, Query(min_length=1, max_length=MAX_ID_LENGTH)] = None,
    reason: Annotated[str | None, Query(min_length=1, max_length=MAX_REASON_CHARS)] = None,
) -> Accepted:
    """Publishes the wish as an event. Archived unless `hard`, which cannot be undone."""
    known = await _known(doors, Scope(user_id, namespace), memory_id)
    told = {name: value for name, value in (("actor", actor), ("reason", reason)) if value is not None}
    wish = {"type": "memory.forget", "memory_id": memory_id, "hard": hard, **told}
    return await _publish(doors, known, user_id, namespace, wish)


@router.get("/timeline", summary="What happened in a span of time")
async def timeline(
    doors: Doors,
    user_id: Name = "default",
    namespace: Name = "default",
    session_id: Annotated[str | None, Query(min_length=1)] = None,
    since: Annotated[AwareDatetime | None, Query(description="RFC 3339.")] = None,
    until: Annotated[AwareDatetime | None, Query(description="RFC 3339.")] = None,
    level: Annotated[Level | None, Query(description="Absent: each moment once, as coarse as it stands.")] = None,
    topic: Annotated[
        str | None,
        Query(min_length=1, max_length=MAX_QUERY_CHARS, description="What it is about; with it `level` is session."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 20,
) -> TimelineResult:
    """Entries that touch the span, newest first. With a topic the newest of the session come first, then what tells of
    it in any of the user's sessions, best first."""
    entries = await doors.facts.timeline(
        Scope(user_id, namespace, session_id),
        since=None if since is None else since.timestamp(),
        until=None if until is None else until.timestamp(),
        level=level,
        topic=topic,
        limit=limit,
    )
    return TimelineResult(entries=[fact_views.entry(e) for e in entries])


async def _known(doors: Services, scope: Scope, memory_id: str) -> KnownFact:
    found = await doors.facts.one(scope, memory_id)
    if found is None:
        raise NotFound(f"no fact {memory_id!r} of this user")
    return found


async def _publish(
    doors: Services, known: KnownFact, user_id: str, namespace: str, wish: Mapping[str, Any]
) -> Accepted:
    session_id = known.fact.session_id or own_session(user_id)
    try:
        event = parse_event({**wish, "session_id": session_id, "user_id": user_id, "namespace": namespace})
        receipt = await doors.publisher.publish(event)
    except InvalidEvent as error:
        raise InvalidRequest(str(error)) from error
    except PublishError as error:
        raise NotAvailable(str(error), headers={"Retry-After": "5"}) from error
    return Accepted(event_id=receipt.id)


def own_session(user_id: str) -> str:
    """The session of what a person decides about facts whose own session is not known any more."""
    name = f"memory/{user_id}"
    return name if len(name) <= MAX_ID_LENGTH else f"memory/{hashlib.sha256(user_id.encode()).hexdigest()}"
