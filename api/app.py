"""The HTTP door: settings to an app. `uvicorn api.app:create --factory` or `sidestream serve` runs it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.security import HTTPBearer

from api import answers, events, facts, health, memory
from api.access import Access
from api.door import Door
from api.services import open_services
from config.logging import configure, get_logger
from config.settings import Settings, load
from sidestream import __version__
from sidestream.api_models import ErrorResult

log = get_logger("api")

_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorResult, "description": text}
    for code, text in {
        401: "No bearer key, or a wrong one",
        413: "The body is too large",
        422: "A field breaks the contract",
        503: "Something that the request needs is away",
    }.items()
}
_bearer = HTTPBearer(auto_error=False, description="SIDESTREAM_API_KEY; not needed where none is configured.")


def create(settings: Settings | None = None) -> FastAPI:
    """The app of this process; without `settings` it reads them, and sets up logging by them.

    Raises:
        InvalidSettings: a setting is wrong.
        ExposedWithoutKey: it would listen beyond loopback without a key.
    """
    found = _loaded() if settings is None else settings
    access = Access(found)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_services(found, access) as doors:
            app.state.services = doors
            log.info("api_started", host=found.api_host, port=found.api_port, key=not access.open)
            yield
        log.info("api_stopped")

    app = FastAPI(
        title="Sidestream",
        summary="Agent memory that stays off the reply path",
        version=__version__,
        lifespan=lifespan,
        openapi_tags=[
            {"name": "events", "description": "What happened goes in"},
            {"name": "sessions", "description": "What a model should see comes out"},
            {"name": "memories", "description": "Search, and facts one by one"},
            {"name": "health", "description": "Whether it works"},
        ],
    )

    async def guard(request: Request) -> None:
        access.require(request)

    answers.install(app)
    for part in (events, memory, facts):
        app.include_router(part.router, dependencies=[Depends(_bearer), Depends(guard)], responses=_ERRORS)
    app.include_router(health.router)
    app.add_middleware(Door, access=access, limit=found.api_max_body)
    return app


def _loaded() -> Settings:
    found = load()
    configure(found)
    return found
