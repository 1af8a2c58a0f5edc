"""The query's embedding on the reply path: cached, shared by equal queries in flight, under a deadline."""

import asyncio
import hashlib
from collections import OrderedDict
from dataclasses import dataclass

from config.logging import get_logger
from llm.errors import LlmError
from llm.ports import Embedder
from memory.types import Degraded
from sidestream.keys import Keys
from store.redis_client import REDIS_ERRORS, AsyncRedis

MAX_QUERY_CHARS = 2_000
"""What stands behind is not embedded; embedding models read about as much."""

_log = get_logger("recall")


@dataclass(frozen=True, slots=True)
class QueryVector:
    """`vector` is float32, little-endian, unit length; None together with the reason why there is none. `model` and
    `dimensions` name its space."""

    vector: bytes | None
    degraded: Degraded | None = None
    model: str = ""
    dimensions: int = 0


class QueryEmbedder:
    """Embeds queries for one event loop. Caches: this process's memory, then Redis, which all share."""

    def __init__(
        self,
        embedder: Embedder,
        client: AsyncRedis | None,
        keys: Keys,
        *,
        timeout: float,
        cache_size: int,
        cache_ttl: float,
    ) -> None:
        """
        Args:
            timeout: seconds after which a query goes on without; a late answer still fills the caches.
            cache_size: embeddings kept in memory.
            cache_ttl: seconds for which one lives in Redis.
        """
        self._embedder = embedder
        self._client = client
        self._keys = keys
        self._timeout = timeout
        self._cache_size = cache_size
        self._cache_ttl = cache_ttl
        self._cache: OrderedDict[str, bytes] = OrderedDict()
        self._flights: dict[str, asyncio.Task[QueryVector]] = {}
        self._writes: set[asyncio.Task[None]] = set()
        self.requests = 0
        """How many queries the model itself was asked to embed."""

    @property
    def model(self) -> str:
        """Name of the model; with `dimensions` the embedding space."""
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._embedder.dimensions

    def of(self, embedder: Embedder) -> "QueryEmbedder":
        """The same for another model; its caches are apart."""
        return QueryEmbedder(
            embedder,
            self._client,
            self._keys,
            timeout=self._timeout,
            cache_size=self._cache_size,
            cache_ttl=self._cache_ttl,
        )

    async def embed(self, query: str) -> QueryVector:
        """The query's vector, or within `timeout` seconds the reason why there is none."""
        text, digest = _named(query)
        if not text:
            return QueryVector(None)
        cached = self._cache.get(digest)
        if cached is not None:
            self._cache.move_to_end(digest)
            return self._found(cached)
        flight = self._flights.get(digest)
        if flight is None:
            flight = asyncio.create_task(self._fetch(text, digest))
            self._flights[digest] = flight
            flight.add_done_callback(lambda _: self._flights.pop(digest, None))
        # Not wait_for: the flight goes on when this caller has waited long enough.
        done, _ = await asyncio.wait({flight}, timeout=self._timeout)
        if done and not flight.cancelled():
            return flight.result()
        _log.warning("query_not_embedded", model=self.model, error=f"late: not there within {self._timeout:g} s")
        return QueryVector(None, Degraded("query_embedding", f"not there within {self._timeout:g} s"))

    async def known(self, query: str) -> QueryVector:
        """The query's vector, if it was embedded before; the model is not asked."""
        text, digest = _named(query)
        vector = self._cache.get(digest)
        if text and vector is None:
            vector = await self._from_redis(self._key(digest))
        return self._found(vector)

    async def aclose(self) -> None:
        """Ends what is still in flight. The embedder is closed by whoever made it."""
        tasks = [*self._flights.values(), *self._writes]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetch(self, text: str, digest: str) -> QueryVector:
        key = self._key(digest)
        vector = await self._from_redis(key)
        if vector is not None:
            self._remember(digest, vector)
            return self._found(vector)
        self.requests += 1
        try:
            [vector] = await self._embedder.embed([text], "query")
        except LlmError as error:
            _log.warning("query_not_embedded", model=self.model, error=repr(error))
            return QueryVector(None, Degraded("query_embedding", f"{type(error).__name__}: {error}"))
        self._remember(digest, vector)
        # Apart from the flight, so that nobody waits for it.
        write = asyncio.create_task(self._to_redis(key, vector))
        self._writes.add(write)
        write.add_done_callback(self._writes.discard)
        return self._found(vector)

    def _found(self, vector: bytes | None) -> QueryVector:
        return QueryVector(vector, model=self.model, dimensions=self.dimensions)

    def _key(self, digest: str) -> str:
        return self._keys.query_embedding(f"{self.model}:{self.dimensions}", digest)

    def _remember(self, digest: str, vector: bytes) -> None:
        self._cache[digest] = vector
        while len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)

    async def _from_redis(self, key: str) -> bytes | None:
        if self._client is None:
            return None
        try:
            # A slow Redis must not eat the time that the model needs.
            async with asyncio.timeout(self._timeout / 4):
                found = await self._client.get(key)
        except REDIS_ERRORS as error:
            _log.debug("query_cache_away", error=repr(error))
            return None
        return found if isinstance(found, bytes) and len(found) == 4 * self.dimensions else None

    async def _to_redis(self, key: str, vector: bytes) -> None:
        if self._client is None:
            return
        try:
            async with asyncio.timeout(self._timeout):
                await self._client.set(key, vector, px=max(1, int(self._cache_ttl * 1000)))
        except REDIS_ERRORS as error:
            _log.debug("query_cache_away", error=repr(error))


def _named(query: str) -> tuple[str, str]:
    """What of the query is embedded, and the name of that in the caches."""
    text = " ".join(query.split())[:MAX_QUERY_CHARS]
    return text, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
