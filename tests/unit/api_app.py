"""An app without any server behind it: no Redis, no database. What it still does is tested beside this."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from api.app import create
from config.settings import load

KEY = "a-long-random-string"


@asynccontextmanager
async def served(folder: Path, *, host: str = "127.0.0.1", **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a started app on an empty data folder; `host` is how the client names it."""
    nowhere = f"unix://{folder}/no-redis.sock"
    values = {"data_dir": folder, "redis_url": nowhere, "embed_provider": "none", "chat_provider": "offline"}
    app = create(load(**{**values, **settings}))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client,
    ):
        yield client


def message(content: str = "The kettle is blue.", **fields: Any) -> dict[str, Any]:
    """A message event as a JSON body."""
    return {"type": "message", "session_id": "s", "role": "user", "content": content, **fields}
