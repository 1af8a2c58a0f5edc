"""How long a search and a context take over many memories of one user, beside a bare matrix product.

.venv/bin/python -m bench.recall --json FILE [--full]

Vectors are drawn around a few hundred centres, since real ones are not spread evenly either. The query's
embedding itself is not measured: a stand-in looks it up, so that only recall's own work counts.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench.ingest_load import contents, percentiles
from bench.table import Cell, Table, save
from memory.terms import terms
from memory.types import Scope
from recall.database import ReadDatabase
from recall.options import RecallOptions
from recall.query_embedding import QueryEmbedder
from recall.reader import Reader
from sidestream.keys import Keys
from store import fulltext, messages, scopes, sessions, spaces, vectors
from store.db import Database
from store.messages import NEEDS_NONE, MessageRow
from store.opening import open_database
from store.sessions import SessionRow

SEED = 20_240_601
DIMENSIONS = 1_024
CENTRES = 300
BATCH = 500
A_SESSION = 200
USER = "bench"
Matrix = NDArray[np.float32]


class StandIn:
    """Knows the vectors of its queries already."""

    model = "stand-in"
    dimensions = DIMENSIONS

    def __init__(self, known: dict[str, bytes]) -> None:
        self._known = known

    async def embed(
        self,
        texts: Sequence[str],
        kind: Literal["query", "passage"],
    ) -> list[bytes]:
        """Looks them up."""
        del kind
        return [self._known[text] for text in texts]

    async def aclose(self) -> None:
        """Holds nothing."""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0 when all was measured."""
    parser = argparse.ArgumentParser(prog="bench.recall", description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args(argv)
    sizes, queries = ((10_000, 100_000), 300) if options.full else ((10_000,), 100)
    save([measure(size, queries) for size in sizes], options.json)
    return 0


def measure(size: int, queries: int) -> Table:
    """One table: `size` memories of one user, `queries` different questions."""
    rng = np.random.default_rng(SEED)
    centres = rng.standard_normal((CENTRES, DIMENSIONS), dtype=np.float32)
    matrix = near(rng, centres, size)
    texts = list(islice(contents(SEED), size))
    asked = [" ".join(texts[i].split()[:12]) for i in rng.integers(0, size, queries)]
    known = dict(zip(asked, (v.tobytes() for v in near(rng, centres, len(asked))), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recall.db"
        fill(path, texts, matrix)
        rows = asyncio.run(read(path, known))
        megabytes = path.stat().st_size / 1e6
    rows.append(["matrix product and sort, numpy", *plain(matrix, known)])
    note = (
        f"{size:,} messages of one user in {size // A_SESSION} sessions, {DIMENSIONS} dimensions, a file of "
        f"{megabytes:,.0f} MB; {queries} different queries, one after the other, no two alike; no Redis."
    )
    return Table(f"{size:,} memories", ["operation", "p50 ms", "p95", "p99"], rows, note)


def near(rng: np.random.Generator, centres: Matrix, count: int) -> Matrix:
    """Unit vectors, each near one of the centres."""
    chosen = centres[rng.integers(0, len(centres), count)]
    made = chosen + 0.7 * rng.standard_normal((count, DIMENSIONS), dtype=np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype=np.float32)


def fill(path: Path, texts: Sequence[str], matrix: Matrix) -> None:
    """Writes the memories as the workers do, without the workers."""
    now = time.time()
    with open_database(path) as db:
        with db.atomic():
            scope = scopes.scope_id(db, "default", USER)
            count = (len(texts) + A_SESSION - 1) // A_SESSION
            made = [sessions.create(db, SessionRow("default", f"s-{n}", scope, now, now)) for n in range(count)]
            space = spaces.ensure_space(db, StandIn.model, DIMENSIONS, now)
        for first in range(0, len(texts), BATCH):
            some = range(first, min(first + BATCH, len(texts)))
            with db.atomic():
                put(db, [message(i, made[i // A_SESSION].id, scope, texts[i], now) for i in some])
                rows: list[vectors.VectorRow] = [
                    ("message", i + 1, scope, made[i // A_SESSION].id, matrix[i].tobytes()) for i in some
                ]
                vectors.upsert(db, space, rows)
            if first % 10_000 == 0:
                print(f"    {first:,} of {len(texts):,} written", file=sys.stderr, flush=True)


def put(db: Database, rows: Sequence[MessageRow]) -> None:
    """Messages with their full text."""
    messages.insert_many(db, rows)
    fulltext.index(db, [("message", r.id, r.scope_id, " ".join(terms(r.content))) for r in rows])


def message(number: int, session: int, scope: int, text: str, now: float) -> MessageRow:
    """The `number`th message, an hour after the one before it."""
    seq = number % A_SESSION + 1
    at = now - 3_600.0 * number
    return MessageRow(
        number + 1, session, scope, f"e-{number}", seq, (seq + 1) // 2, None, "user", text, "normal",
        None, None, None, None, 125, NEEDS_NONE, at, now,
    )  # fmt: skip


async def read(path: Path, known: dict[str, bytes]) -> list[list[Cell]]:
    """Rows of the table for what a reader does."""
    options = RecallOptions(database=path, query_embed_timeout=5.0)
    keys = Keys()
    embedder = QueryEmbedder(StandIn(known), None, keys, timeout=5.0, cache_size=0, cache_ttl=1.0)
    hybrid = Reader(ReadDatabase(path), None, embedder, options, keys)
    words = Reader(ReadDatabase(path), None, None, options, keys)
    scope, session = Scope(USER), Scope(USER, session_id="s-0")
    try:
        return [
            ["search, words and vectors", *await timed(known, lambda q: hybrid.search(scope, q))],
            ["search, words alone", *await timed(known, lambda q: words.search(scope, q))],
            ["context", *await timed(known, lambda q: hybrid.build_context(session, q))],
        ]
    finally:
        await hybrid.aclose()
        await words.aclose()


async def timed(queries: Sequence[str] | dict[str, bytes], work: Callable[[str], Awaitable[object]]) -> list[Cell]:
    """p50, p95 and p99 in milliseconds; the first five warm the caches of the file and do not count."""
    taken = []
    for query in queries:
        start = time.perf_counter()
        await work(query)
        taken.append(time.perf_counter() - start)
    return [1_000 * value for value in percentiles(taken[5:])]


def plain(matrix: Matrix, known: dict[str, bytes]) -> list[Cell]:
    """The least that an exact vector search over the same rows can do in memory."""
    taken = []
    for vector in known.values():
        start = time.perf_counter()
        scores = matrix @ np.frombuffer(vector, dtype=np.float32)
        np.argpartition(scores, -10)[-10:]
        taken.append(time.perf_counter() - start)
    return [1_000 * value for value in percentiles(taken[5:])]


if __name__ == "__main__":
    sys.exit(main())
