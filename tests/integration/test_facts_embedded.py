"""Facts that change while a model embeds them."""

from pathlib import Path

from store import facts, jobs, spaces, vectors
from tests.fake_openai import FakeOpenAI
from tests.integration.llm_support import Kit
from tests.unit.facts_support import fact
from tests.unit.workers_support import NOW, Bench
from workers.embed import EmbedHandler
from workers.kinds import EMBED
from workers.outcomes import Done


async def test_a_fact_that_is_destroyed_while_it_is_embedded_leaves_no_vector(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with FakeOpenAI(dimensions=32) as server:
        embedder = Kit(server).embedder()
        gone, stays = fact(bench.db, "m1", "Ann has a boat", now=NOW), fact(bench.db, "m2", "Ann has a horse", now=NOW)
        handler = EmbedHandler(bench.db, embedder, limit=9, min_batch=1, max_wait=0.0, clock=lambda: NOW)
        for stored in (gone, stays):
            jobs.owe(bench.db, EMBED, f"fact:{stored.id}", "default", due_at=NOW, now=NOW)
        done = await handler.work(jobs.claim(bench.db, EMBED, limit=9, lease=9.0, token="t", now=NOW))
        with bench.db.atomic():
            facts.destroy(bench.db, gone, actor="ann", reason="asked", now=NOW)
        with bench.db.atomic():
            handler.write([item for item in done if isinstance(item, Done)])
        await embedder.aclose()
    space = spaces.active_space(bench.db)
    assert space is not None
    assert set(vectors.fetch(bench.db, space, "fact", [gone.id, stays.id])) == {stays.id}
    bench.db.close()
