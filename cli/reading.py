"""The read side for one command."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from config.settings import Settings
from llm.factory import build_embedder
from recall.database import ReadDatabase
from recall.options import RecallOptions
from recall.query_embedding import QueryEmbedder
from recall.reader import Reader
from sidestream.keys import Keys

PATIENT = 60.0
"""Seconds for a query's embedding: a measurement waits for the model where a reply would go on without it."""


@asynccontextmanager
async def patient_reader(found: Settings) -> AsyncIterator[Reader]:
    """A reader of what is stored, that needs no Redis and waits for the embedder."""
    keys = Keys(found.redis_prefix)
    embedder = build_embedder(found)
    queries = None
    if embedder is not None:
        queries = QueryEmbedder(embedder, None, keys, timeout=PATIENT, cache_size=0, cache_ttl=1.0)
    reader = Reader(ReadDatabase(found.database), None, queries, RecallOptions.from_settings(found), keys)
    try:
        yield reader
    finally:
        await reader.aclose()
        if embedder is not None:
            await embedder.aclose()
