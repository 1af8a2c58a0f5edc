"""What the routes work with, opened when the app starts and closed when it stops, on its one event loop."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.requests import Request

from api.access import Access
from config.settings import Settings
from llm.factory import build_embedder, build_reranker, build_summariser
from llm.warming import warming
from recall.database import ReadDatabase
from recall.fact_reader import FactReader
from recall.options import RecallOptions
from recall.policy import weight_policy
from recall.reader import Reader
from recall.stages import StagedSearch
from recall.wiring import query_embedder, stage_helpers
from sidestream.aio import AsyncPublisher
from sidestream.keys import Keys
from store.archive_place import policy
from store.embedded import EmbeddedRedis
from store.redis_client import AsyncRedis, connect_async
from store.vector_cache import shared_cache


@dataclass(frozen=True, slots=True)
class Services:
    """The process's own things. `database` is for health; routes read through `reader`."""

    settings: Settings
    access: Access
    keys: Keys
    redis: AsyncRedis
    database: ReadDatabase
    reader: Reader
    staged: StagedSearch
    facts: FactReader
    publisher: AsyncPublisher
    clock: Callable[[], float]


def services(request: Request) -> Services:
    """The services of the app that the request came to."""
    found = request.app.state.services
    assert isinstance(found, Services)
    return found


@asynccontextmanager
async def open_services(
    settings: Settings, access: Access, *, clock: Callable[[], float] = time.time
) -> AsyncIterator[Services]:
    """Opens everything. Nothing has to be there yet: each part connects when first used, and when lost."""
    url = settings.redis_url or EmbeddedRedis(settings.data_dir).url
    keys = Keys(settings.redis_prefix)
    redis = connect_async(url)
    embedder = build_embedder(settings)
    database = ReadDatabase(settings.database)
    options = RecallOptions.from_settings(settings)
    searched = ReadDatabase(settings.database, vectors=shared_cache(options.vector_cache_bytes))
    queries = query_embedder(settings, embedder, redis, searched)
    reader = Reader(searched, redis, queries, options, keys, clock=clock)
    chat, reranker = build_summariser(settings), build_reranker(settings)
    staged = StagedSearch(reader, stage_helpers(settings, chat, reranker))
    facts = FactReader(
        ReadDatabase(settings.database), weight_policy(settings), retention=policy(settings), clock=clock
    )
    publisher = AsyncPublisher(
        url,
        prefix=settings.redis_prefix,
        spool_dir=settings.spool_dir,
        spool_max_bytes=settings.spool_max_bytes,
        timeout=settings.publish_timeout,
        tail_ttl=settings.tail_ttl,
        tail_max=settings.tail_max,
        receipt_ttl=settings.receipt_ttl,
        clock=clock,
    )
    try:
        async with warming(embedder):
            yield Services(settings, access, keys, redis, database, reader, staged, facts, publisher, clock)
    finally:
        await publisher.close()
        await reader.aclose()
        facts.close()
        database.close()
        for model in (embedder, chat, reranker):
            if model is not None:
                await model.aclose()
        await redis.aclose()
