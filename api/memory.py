"""`/v1/sessions/{id}/context` and `/v1/memories/search`: the read side over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from api import views
from api.services import Services, services
from memory.types import Scope
from recall.search import SEARCHED
from sidestream.api_models import MAX_QUERY_CHARS, ContextResult, EventProgress, SearchRequest, SearchResult

router = APIRouter(prefix="/v1")

Doors = Annotated[Services, Depends(services)]
Name = Annotated[str, Query(min_length=1, max_length=256)]
MAX_WAIT = 30.0


@router.get("/sessions/{session_id:path}/context", tags=["sessions"], summary="A context ready to send")
async def context(
    session_id: Annotated[str, Path(min_length=1, max_length=256)],
    doors: Doors,
    query: Annotated[
        str, Query(max_length=MAX_QUERY_CHARS, description="What is asked; empty: nothing is recalled.")
    ] = "",
    tokens: Annotated[
        int | None,
        Query(ge=1, le=10_000_000, description="Size of the context; absent: a share of the model's window."),
    ] = None,
    timeline: Annotated[
        int, Query(ge=0, le=100, description="Most entries of the timeline from before the window, if there is room.")
    ] = 0,
    user_id: Name = "default",
    namespace: Name = "default",
    wait_for: Annotated[
        str | None, Query(min_length=1, description="An event id to wait for, until it is stored.")
    ] = None,
    wait_timeout: Annotated[float, Query(gt=0, le=MAX_WAIT, description="Longest wait, in seconds.")] = 2.0,
) -> ContextResult:
    """Messages for a chat API with their provenance, what they cost, and how far behind the workers are.

    A session of another user is empty here, unless it was opened as shared. A slash in a
    session id may stand as it is.
    """
    waited = await _waited(doors, namespace, wait_for, wait_timeout)
    scope = Scope(user_id, namespace, session_id)
    found = await doors.reader.build_context(scope, query, tokens=tokens, timeline=timeline)
    return views.context(found, waited)


@router.post("/memories/search", tags=["memories"], summary="Search one user's memory")
async def search(body: SearchRequest, doors: Doors) -> SearchResult:
    """The best memories for a query, with scores in 0..1 and what these are made of; of this user alone."""
    scope = Scope(body.user_id, body.namespace, body.session_id, body.agent_id)
    kinds = SEARCHED if body.kinds is None else tuple(body.kinds)
    by = views.filter_of(body)
    waited = await _waited(doors, body.namespace, body.wait_for, body.wait_timeout)
    found = await doors.staged.search(
        scope, body.query, body.limit, body.stages, kinds=kinds, by=by, explain=body.explain
    )
    return views.search(found, waited)


async def _waited(doors: Services, namespace: str, event_id: str | None, longest: float) -> EventProgress | None:
    """The event's state once it is stored, or after `longest` seconds; None where none is waited for or known."""
    if event_id is None:
        return None
    status = await doors.reader.wait_for(namespace, event_id, longest)
    return None if status is None else status.state
