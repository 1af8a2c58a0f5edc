"""Puts a reader together for a composition root."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from config.prompt_files import load_prompt
from config.settings import Settings
from llm.factory import build_earlier_embedder
from llm.ports import ChatModel, Embedder, Reranker
from recall.database import ReadDatabase
from recall.options import RecallOptions
from recall.query_embedding import QueryEmbedder
from recall.query_spaces import SpaceEmbedder
from recall.reader import Reader
from recall.stages import Helpers
from sidestream.keys import Keys
from store.redis_client import AsyncRedis, connect_async
from store.vector_cache import shared_cache


@asynccontextmanager
async def open_reader(
    settings: Settings,
    *,
    redis_url: str | None,
    embedder: Embedder | None,
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[Reader]:
    """A reader for the running event loop.

    Args:
        redis_url: None to do without the tail and the shared cache of query embeddings.
        embedder: None to search by words alone; stays open, for whoever made it closes it.
    """
    options = RecallOptions.from_settings(settings)
    keys = Keys(options.redis_prefix)
    client = connect_async(redis_url, timeout=settings.publish_timeout) if redis_url is not None else None
    database = ReadDatabase(options.database, vectors=shared_cache(options.vector_cache_bytes), clock=clock)
    queries = query_embedder(settings, embedder, client, database)
    reader = Reader(database, client, queries, options, keys, clock=clock)
    try:
        yield reader
    finally:
        await reader.aclose()
        if client is not None:
            await client.aclose()


def query_embedder(
    settings: Settings, embedder: Embedder | None, client: AsyncRedis | None, database: ReadDatabase
) -> SpaceEmbedder | None:
    """What embeds queries with `embedder`, or with the model before while memories are embedded anew; None without."""
    if embedder is None:
        return None
    current = QueryEmbedder(
        embedder,
        client,
        Keys(settings.redis_prefix),
        timeout=settings.query_embed_timeout,
        cache_size=settings.query_cache_size,
        cache_ttl=settings.query_cache_ttl,
    )
    return SpaceEmbedder(current, database, partial(build_earlier_embedder, settings))


def stage_helpers(settings: Settings, chat: ChatModel | None, reranker: Reranker | None) -> Helpers:
    """What the optional stages of a search work with."""
    prompts = {name: load_prompt(name, settings.prompts_dir) for name in ("queries", "sentences")}
    return Helpers(chat, reranker, prompts, settings.search_stage_timeout)
