"""`/health/live` and `/health/ready`, for whoever starts this process and routes to it. No key is needed."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.readiness import ready as look
from api.services import Services, services
from sidestream import __version__
from sidestream.api_models import HealthCheck, LiveResult, ReadyResult

router = APIRouter(prefix="/health", tags=["health"])


@router.get("/live", summary="The process answers")
async def live() -> LiveResult:
    """Looks at nothing: a process that answers this must not be restarted because something else is away."""
    return LiveResult(version=__version__)


@router.get("/ready", summary="The system does its work", responses={503: {"model": ReadyResult}})
async def ready(request: Request, response: Response, doors: Annotated[Services, Depends(services)]) -> ReadyResult:
    """Redis, database, age of the oldest job, consumer, models; 503 with the reasons when one of them failed.

    Where a key is configured, only callers that have it are told the reasons.
    """
    found = await look(doors)
    response.status_code = 503 if found.status == "failed" else 200
    if doors.access.open or doors.access.knows(request):
        return found
    bare = {name: HealthCheck(status=check.status) for name, check in found.checks.items()}
    return ReadyResult(status=found.status, checks=bare)
