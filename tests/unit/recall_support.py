"""A memory with rows in a real SQLite file, a tail in fakeredis and embeddings from a local server."""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fakeredis

from config.settings import load
from llm.factory import build_embedder
from llm.ports import Embedder
from memory.terms import searchable, terms
from memory.tokens import estimate
from memory.types import Scope
from recall.database import ReadDatabase
from recall.options import RecallOptions
from recall.query_embedding import QueryEmbedder
from recall.reader import Reader
from sidestream.aio import AsyncPublisher
from sidestream.events import Message
from sidestream.keys import Keys
from store import events, fulltext, messages, scopes, sessions, spaces, summaries, vectors
from store.db import Database
from store.opening import open_database
from tests.fake_openai import FakeOpenAI

ANN = Scope("ann", session_id="s1")
NOW = 1_800_000_000.0
KEYS = Keys()


@dataclass
class Memory:
    """Rows as the workers would write them, and the reader under test."""

    reader: Reader
    db: Database
    redis: Any
    redis_server: fakeredis.FakeServer
    publisher: AsyncPublisher
    embedder: Embedder | None
    server: FakeOpenAI
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def store(
        self,
        content: str,
        scope: Scope = ANN,
        *,
        role: str = "user",
        event_id: str | None = None,
        at: float = NOW,
        meta: str = "{}",
        shared: bool = False,
    ) -> str:
        """Stores a message, indexed and embedded; its event id."""
        event_id = event_id or f"stored-{next(self.numbers)}"
        vector = (await self.embedder.embed([content], "passage"))[0] if self.embedder else None
        with self.db.atomic():
            session = self._session(scope, shared)
            session.last_seq += 1
            number = messages.next_message_id(self.db)
            row = messages.MessageRow(
                number, session.id, session.scope_id, event_id, session.last_seq, 1, None, role, content,
                "normal", None, None, None, None, estimate(content), 1, at, at, meta,
            )  # fmt: skip
            messages.insert_many(self.db, [row])
            events.record(self.db, [events.EventRow(scope.namespace, event_id, "message", "d", f"{number}-0", at)])
            index = " ".join(terms(searchable(None, content)))
            fulltext.index(self.db, [("message", number, session.scope_id, index)])
            if vector is not None and self.embedder is not None:
                space = spaces.ensure_space(self.db, self.embedder.model, self.embedder.dimensions, at)
                vectors.upsert(self.db, space, [("message", number, session.scope_id, session.id, vector)])
            sessions.save_many(self.db, [session])
        return event_id

    def summarise(self, content: str, scope: Scope = ANN, *, turn: int = 1) -> None:
        """Stores a summary of one turn, indexed."""
        with self.db.atomic():
            session = self._session(scope, False)
            summaries.insert(
                self.db, session_pk=session.id, scope_id=session.scope_id, turn_first=turn, turn_last=turn,
                content=content, source_count=2, confidence=0.9, method="rules", occurred_at=NOW, now=NOW,
                keep=10, terms=" ".join(terms(content)),
            )  # fmt: skip

    async def publish(
        self, content: str, scope: Scope = ANN, *, role: Any = "user", event_id: str | None = None
    ) -> str:
        """Publishes a message, which then stands in the tail alone; its event id."""
        assert scope.session_id is not None
        event = Message(id=event_id, session_id=scope.session_id, user_id=scope.user_id, role=role, content=content)
        return (await self.publisher.publish(event)).id

    def _session(self, scope: Scope, shared: bool) -> sessions.SessionRow:
        assert scope.session_id is not None
        key = (scope.namespace, scope.session_id)
        found = sessions.load_many(self.db, [key]).get(key)
        if found is not None:
            return found
        owner = scopes.scope_id(self.db, scope.namespace, scope.user_id)
        return sessions.create(
            self.db,
            sessions.SessionRow(*key, scope_id=owner, started_at=NOW, last_activity=NOW, shared=shared),
        )


@asynccontextmanager
async def memory(folder: Path, *, embed: bool = True, **options: Any) -> AsyncIterator[Memory]:
    """A memory with an empty database; without `embed` nothing is embedded, neither rows nor queries."""
    with FakeOpenAI() as server, open_database(folder / "m.db") as db:
        settings = load(embed_base_url=server.url, embed_model="words", embed_dimensions=64, llm_retries=0)
        embedder = build_embedder(settings) if embed else None
        redis_server = fakeredis.FakeServer()
        redis = fakeredis.FakeAsyncRedis(server=redis_server)
        found = RecallOptions(folder / "m.db", **options)
        queries = None
        if embedder is not None:
            queries = QueryEmbedder(
                embedder, redis, KEYS, timeout=found.query_embed_timeout, cache_size=10, cache_ttl=60
            )
        reader = Reader(ReadDatabase(found.database), redis, queries, found, KEYS, clock=lambda: NOW)
        publisher = AsyncPublisher(redis)
        try:
            yield Memory(reader, db, redis, redis_server, publisher, embedder, server)
        finally:
            await reader.aclose()
            await publisher.close()
            if embedder is not None:
                await embedder.aclose()
            await redis.aclose()
