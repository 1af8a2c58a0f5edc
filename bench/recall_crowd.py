"""Many readers at once while a worker writes: errors, foreign hits and latencies.

    python -m bench.recall_crowd DATABASE QUERIES.npz THREADS SECONDS

is one reading process; `crowd` starts several and writes meanwhile. Each reader asks a few times a second, as people
do: readers that ask without a pause would measure the processor's queue.
"""

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bench.ingest_load import percentiles
from bench.recall_data import USER, Matrix, StandIn, message, put
from bench.table import Cell, Table
from memory.types import Scope
from recall.database import ReadDatabase
from recall.options import RecallOptions
from recall.query_embedding import QueryEmbedder
from recall.reader import Reader
from sidestream.keys import Keys
from store import messages, scopes, sessions, spaces, vectors
from store.opening import open_database
from store.sessions import SessionRow
from store.vector_cache import VectorCache

THREADS, PROCESSES = 8, 4
PER_SECOND = 2.0
OTHER = "other"
_MEMORY = 256_000_000
_ROUND, _EVERY = 10, 0.1
"""Messages that the writer writes, with their vectors, and how often."""
_WARM = 3


def crowd(path: Path, asked: Sequence[str], known: Matrix, seconds: float) -> Table:
    """Eight threads of one process and four processes, each searching as one of two users."""
    queries = path.with_name("queries.npz")
    np.savez(queries, asked=np.array(asked), known=known)
    command = [sys.executable, "-m", "bench.recall_crowd", str(path), str(queries)]
    runs = [(f"{THREADS} threads of one process", THREADS), *((f"process {n + 1}", 1) for n in range(PROCESSES))]
    with open_database(path) as db, db.atomic():
        space = spaces.active_space(db)
        assert space is not None
        now = time.time()
        of_other = sessions.create(db, SessionRow("default", "o-0", scopes.scope_id(db, "default", OTHER), now, now))
        of_user = sessions.create(db, SessionRow("default", "s-new", scopes.scope_id(db, "default", USER), now, now))
    started = [
        subprocess.Popen([*command, str(threads), str(seconds)], stdout=subprocess.PIPE, text=True)
        for _, threads in runs
    ]
    written = _write(path, known, [of_other, of_user], lambda: all(p.poll() is None for p in started))
    found: list[dict[str, Any]] = [json.loads(process.communicate()[0].splitlines()[-1]) for process in started]
    together = [value for one in found for value in one["taken"]]
    parts = [("all readers", found), (runs[0][0], found[:1]), (f"{PROCESSES} processes", found[1:])]
    rows: list[list[Cell]] = [
        [name, sum(len(f["taken"]) for f in some), *_milliseconds(some), _sum(some, "errors"), _sum(some, "foreign")]
        for name, some in parts
    ]
    rate = len(together) / seconds
    note = (
        f"Each of the {THREADS + PROCESSES} readers asks {PER_SECOND:g} times a second ({rate:.0f} searches a second "
        f"in all) as one of two users, while another process wrote {written:,} messages with vectors for both "
        "of them. *foreign* counts hits of the other user."
    )
    return Table(
        "Many readers while a worker writes",
        ["readers", "searches", "p50 ms", "p95", "p99", "errors", "foreign"],
        rows,
        note,
    )


def _milliseconds(found: Sequence[dict[str, Any]]) -> list[float]:
    return [1_000 * value for value in percentiles([t for one in found for t in one["taken"]])]


def _sum(found: Sequence[dict[str, Any]], name: str) -> int:
    return sum(int(one[name]) for one in found)


def _write(path: Path, known: Matrix, whose: Sequence[SessionRow], going: Any) -> int:
    """Writes as workers do until a reader has ended; how many messages."""
    written = 0
    with open_database(path, gate=True) as db:
        space = spaces.active_space(db)
        assert space is not None
        while going():
            row = whose[written // _ROUND % 2]
            with db.atomic():
                first = messages.next_message_id(db)
                new = range(first - 1, first - 1 + _ROUND)
                rows = [message(n, row.id, row.scope_id, f"word{n} said just now", time.time()) for n in new]
                seqs = range(written + 1, written + 1 + _ROUND)
                put(db, [r._replace(seq=seq) for r, seq in zip(rows, seqs, strict=True)])
                vectors.upsert(
                    db, space, [("message", n + 1, row.scope_id, row.id, known[n % len(known)].tobytes()) for n in new]
                )
            written += _ROUND
            time.sleep(_EVERY)
    return written


def read(path: Path, queries: Path, threads: int, seconds: float) -> dict[str, Any]:
    """What one reading process found."""
    loaded = np.load(queries)
    asked = [str(text) for text in loaded["asked"]]
    known = {text: vector.tobytes() for text, vector in zip(asked, loaded["known"], strict=True)}
    cache = VectorCache(_MEMORY)

    def one(number: int) -> dict[str, Any]:
        return asyncio.run(_reader(path, asked, known, cache, seconds, number))

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(one, range(threads)))
    return {
        "taken": [value for part in parts for value in part["taken"]],
        "errors": sum(part["errors"] for part in parts),
        "foreign": sum(part["foreign"] for part in parts),
    }


async def _reader(
    path: Path, asked: Sequence[str], known: dict[str, bytes], cache: VectorCache, seconds: float, number: int
) -> dict[str, Any]:
    keys = Keys()
    embedder = QueryEmbedder(StandIn(known), None, keys, timeout=5.0, cache_size=len(known), cache_ttl=1.0)
    database = ReadDatabase(path, vectors=cache)
    reader = Reader(database, None, embedder, RecallOptions(database=path), keys)
    pick = random.Random(number)
    taken: list[float] = []
    errors = foreign = 0
    for _ in range(_WARM):
        await reader.search(Scope(USER), pick.choice(asked))
    await asyncio.sleep(pick.random() / PER_SECOND)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        user = USER if pick.random() < 0.8 else OTHER
        start = time.perf_counter()
        result = await reader.search(Scope(user), pick.choice(asked))
        taken.append(time.perf_counter() - start)
        errors += sum(note.part in ("store", "vectors") for note in result.degraded)
        prefix = "s-" if user == USER else "o-"
        foreign += sum(not hit.session_id.startswith(prefix) for hit in result.hits)
        await asyncio.sleep(max(0.0, 1 / PER_SECOND - taken[-1]))
    await reader.aclose()
    return {"taken": taken, "errors": errors, "foreign": foreign}


def main() -> None:
    """One reading process."""
    path, queries, threads, seconds = sys.argv[1:]
    found = read(Path(path), Path(queries), int(threads), float(seconds))
    # The last line; what is logged stands above it.
    print(json.dumps(found))


if __name__ == "__main__":
    main()
