"""`/v1/events`: events are taken in, and it is told how far each has come."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query

from api.errors import InvalidRequest, NotAvailable, NotFound
from api.services import Services, services
from sidestream.api_models import EventState, PublishRequest, PublishResult
from sidestream.errors import InvalidEvent, PublishError
from sidestream.events import AnyEvent, check_time, parse_event

router = APIRouter(prefix="/v1/events", tags=["events"])

Doors = Annotated[Services, Depends(services)]
_NAMED = 20


@router.post("", status_code=202, summary="Publish events")
async def publish(body: PublishRequest, doors: Doors) -> PublishResult:
    """Takes a batch of events, all or none of a batch that is wrong.

    202 means that every event is durable: in Redis, or, counted in `spooled`, in this server's fsynced spool
    while Redis is away. Events without an `id` get one; give ids of your own to make a retry harmless. 503
    names the events that were and were not accepted.
    """
    events = checked(body.events, datetime.fromtimestamp(doors.clock(), UTC))
    try:
        receipts = await doors.publisher.publish_many(events)
    except InvalidEvent as error:
        raise InvalidRequest(str(error)) from error
    except PublishError as error:
        told = {"accepted": [r.id for r in error.accepted], "not_accepted": list(error.ids)}
        raise NotAvailable(str(error), details=told, headers={"Retry-After": "5"}) from error
    return PublishResult(ids=[r.id for r in receipts], spooled=sum(r.spooled for r in receipts))


@router.get("/{event_id:path}", summary="How far an event has come")
async def state(
    event_id: Annotated[str, Path(min_length=1)],
    doors: Doors,
    namespace: Annotated[str, Query(min_length=1)] = "default",
) -> EventState:
    """accepted, stored, embedded, summarised, or dead with the reason. 404 where nothing knows of it.

    An event that waits in a spool, or that was accepted longer than a day ago and never stored, is not known.
    """
    found = await doors.reader.event_state(namespace, event_id)
    if found is None:
        raise NotFound(f"no event {event_id!r} in namespace {namespace!r}")
    return EventState(
        id=found.id,
        namespace=found.namespace,
        state=found.state,
        type=found.type,
        entry_id=found.entry_id,
        reason=found.reason,
    )


def checked(bodies: Sequence[dict[str, Any]], now: datetime) -> list[AnyEvent]:
    """The events of a request.

    Raises:
        InvalidRequest: names each event that is wrong by its index, its field and what is allowed.
    """
    events: list[AnyEvent] = []
    wrong: list[dict[str, Any]] = []
    for index, body in enumerate(bodies):
        try:
            event = parse_event(body)
            if event.ts is not None:
                check_time(event.ts, now)
        except InvalidEvent as error:
            wrong.append({"index": index, "message": str(error)})
        else:
            events.append(event)
    if wrong:
        named = "; ".join(f"events[{w['index']}]: {w['message']}" for w in wrong[:_NAMED])
        rest = f"; and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        raise InvalidRequest(f"{named}{rest}; nothing was published", details={"events": wrong})
    return events
