"""The query's embedding: caches, queries in flight together, the deadline, and every way to do without."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import fakeredis
import pytest

from config.settings import load
from llm.factory import build_embedder
from recall.query_embedding import QueryEmbedder
from sidestream.keys import Keys
from tests.fake_openai import FakeOpenAI, Held, Status
from tests.unit.actors_support import until

DIMENSIONS = 64


@pytest.fixture
async def server() -> AsyncIterator[FakeOpenAI]:
    with FakeOpenAI(dimensions=DIMENSIONS) as running:
        yield running


def make(server: FakeOpenAI, redis: Any, *, timeout: float = 5.0, size: int = 10, ttl: float = 60) -> QueryEmbedder:
    settings = load(embed_base_url=server.url, embed_model="words", embed_dimensions=DIMENSIONS, llm_retries=0)
    embedder = build_embedder(settings)
    assert embedder is not None
    return QueryEmbedder(embedder, redis, Keys(), timeout=timeout, cache_size=size, cache_ttl=ttl)


def asked(server: FakeOpenAI) -> int:
    return len(server.requests("embeddings"))


async def test_a_query_is_embedded_once_and_then_remembered(server: FakeOpenAI) -> None:
    embedder = make(server, None)
    first, second = await embedder.embed("which kettle?"), await embedder.embed("  which   kettle? ")
    assert first.vector == second.vector and first.vector is not None
    assert len(first.vector) == 4 * DIMENSIONS
    assert asked(server) == embedder.requests == 1


async def test_processes_share_the_cache_in_redis(server: FakeOpenAI) -> None:
    redis = fakeredis.FakeAsyncRedis()
    first = make(server, redis)
    vector = (await first.embed("which kettle?")).vector
    [key] = [k async for k in redis.scan_iter("sidestream:qe:*")]
    assert 0 < await redis.pttl(key) <= 60_000
    assert (await make(server, redis).embed("which kettle?")).vector == vector
    assert asked(server) == 1


async def test_a_cached_value_of_another_length_is_no_vector(server: FakeOpenAI) -> None:
    redis = fakeredis.FakeAsyncRedis()
    await make(server, redis).embed("which kettle?")
    [key] = [k async for k in redis.scan_iter("sidestream:qe:*")]
    await redis.set(key, b"short")
    found = await make(server, redis).embed("which kettle?")
    assert found.vector is not None and asked(server) == 2


async def test_equal_queries_in_flight_are_asked_once(server: FakeOpenAI) -> None:
    server.script(Held(), path="embeddings")
    embedder = make(server, None)
    waiting = [asyncio.create_task(embedder.embed("which kettle?")) for _ in range(5)]
    await until(lambda: asked(server) == 1)
    server.release()
    vectors = {(await task).vector for task in waiting}
    assert len(vectors) == 1 and None not in vectors and asked(server) == 1


async def test_one_waiter_that_leaves_takes_nothing_from_the_others(server: FakeOpenAI) -> None:
    server.script(Held(), path="embeddings")
    embedder = make(server, None)
    leaving, staying = (asyncio.create_task(embedder.embed("which kettle?")) for _ in range(2))
    await until(lambda: asked(server) == 1)
    leaving.cancel()
    server.release()
    assert (await staying).vector is not None


async def test_after_the_deadline_the_query_goes_on_and_the_late_answer_is_kept(server: FakeOpenAI) -> None:
    server.script(Held(), path="embeddings")
    embedder = make(server, None, timeout=0.05)
    late = await embedder.embed("which kettle?")
    assert late.vector is None and late.degraded is not None and "0.05 s" in late.degraded.reason
    server.release()
    async with asyncio.timeout(5):
        while (await embedder.embed("which kettle?")).vector is None:
            pass
    assert asked(server) == 1


async def test_a_failing_provider_is_a_note_and_is_asked_again(server: FakeOpenAI) -> None:
    server.script(Status(500), path="embeddings")
    embedder = make(server, None)
    failed = await embedder.embed("which kettle?")
    assert failed.vector is None and failed.degraded is not None
    assert failed.degraded.part == "query_embedding" and "ServerError" in failed.degraded.reason
    assert (await embedder.embed("which kettle?")).vector is not None


async def test_redis_away_costs_nothing_but_the_cache(server: FakeOpenAI) -> None:
    gone = fakeredis.FakeServer()
    gone.connected = False
    embedder = make(server, fakeredis.FakeAsyncRedis(server=gone))
    found = await embedder.embed("which kettle?")
    assert found.vector is not None and found.degraded is None
    await embedder.aclose()


async def test_a_silent_redis_leaves_time_for_the_model(server: FakeOpenAI) -> None:
    class Silent:
        async def get(self, _: str) -> bytes:
            await asyncio.Event().wait()
            return b""

        async def set(self, *_: object, **__: object) -> None:
            await asyncio.Event().wait()

    embedder = make(server, Silent(), timeout=2.0)
    assert (await embedder.embed("which kettle?")).vector is not None
    await embedder.aclose()


async def test_the_memory_is_bounded_and_keeps_what_is_used(server: FakeOpenAI) -> None:
    embedder = make(server, None, size=2)
    for query in ("one", "two", "one", "three", "one"):
        await embedder.embed(query)
    assert asked(server) == 3
    await embedder.embed("two")
    assert asked(server) == 4


async def test_without_a_memory_every_query_is_asked(server: FakeOpenAI) -> None:
    embedder = make(server, None, size=0)
    await embedder.embed("one")
    await embedder.embed("one")
    assert asked(server) == 2


@pytest.mark.parametrize("query", ["", "  \n\t "])
async def test_nothing_said_is_nothing_asked(server: FakeOpenAI, query: str) -> None:
    found = await make(server, None).embed(query)
    assert (found.vector, found.degraded, asked(server)) == (None, None, 0)


async def test_a_long_query_is_cut(server: FakeOpenAI) -> None:
    await make(server, None).embed("word " * 10_000)
    [request] = server.requests("embeddings")
    sent = request.body["input"]
    assert len(sent if isinstance(sent, str) else sent[0]) <= 2_000


async def test_closing_ends_what_is_in_flight(server: FakeOpenAI) -> None:
    server.script(Held(), path="embeddings")
    embedder = make(server, None)
    waiting = asyncio.create_task(embedder.embed("which kettle?"))
    await until(lambda: asked(server) == 1)
    await embedder.aclose()
    assert (await waiting).vector is None


async def test_the_key_names_the_space(server: FakeOpenAI, tmp_path: Path) -> None:
    redis = fakeredis.FakeAsyncRedis()
    await make(server, redis).embed("which kettle?")
    [key] = [k async for k in redis.scan_iter("*")]
    assert key.startswith(f"sidestream:qe:words:{DIMENSIONS}:".encode())
