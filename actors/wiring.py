"""Opens everything that a process with agents needs, and closes it in the right order."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from actors.host import AgentHost, HostOptions
from config.settings import Settings
from llm.factory import build_chat, build_embedder, describe
from llm.warming import warming
from recall.database import ReadDatabase
from recall.fact_reader import FactReader
from recall.policy import weight_policy
from recall.reader import Reader
from recall.wiring import open_reader
from sidestream.aio import AsyncPublisher
from store.embedded import EmbeddedRedis


@dataclass(frozen=True, slots=True)
class Agents:
    """What is open. `models` is llm.factory.describe's answer."""

    host: AgentHost
    reader: Reader
    publisher: AsyncPublisher
    models: dict[str, dict[str, Any]]


@asynccontextmanager
async def open_agents(
    settings: Settings, *, fault: Callable[[str], None] = lambda _point: None
) -> AsyncIterator[Agents]:
    """Agents for the running event loop. Redis and the database need not be there yet.

    Raises:
        InvalidSettings: a model's settings are wrong.
        SpoolUnavailable: the spool's folder cannot be made or written.
    """
    url = settings.redis_url or EmbeddedRedis(settings.data_dir).url
    async with AsyncExitStack() as stack:
        model = build_chat(settings)
        stack.push_async_callback(model.aclose)
        embedder = build_embedder(settings)
        if embedder is not None:
            stack.push_async_callback(embedder.aclose)
        reader = await stack.enter_async_context(open_reader(settings, redis_url=url, embedder=embedder))
        publisher = AsyncPublisher(
            url,
            prefix=settings.redis_prefix,
            spool_dir=settings.spool_dir,
            spool_max_bytes=settings.spool_max_bytes,
            timeout=settings.publish_timeout,
            tail_ttl=settings.tail_ttl,
            tail_max=settings.tail_max,
            receipt_ttl=settings.receipt_ttl,
            fault=fault,
        )
        await stack.enter_async_context(publisher)
        await stack.enter_async_context(warming(embedder))
        facts = None
        if settings.memory_tools:
            facts = FactReader(ReadDatabase(settings.database), weight_policy(settings))
            stack.callback(facts.close)
        host = AgentHost(publisher, reader, model, HostOptions.from_settings(settings), facts=facts, fault=fault)
        stack.push_async_callback(host.stop)
        yield Agents(host, reader, publisher, describe(settings))
