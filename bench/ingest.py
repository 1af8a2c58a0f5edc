"""Publishing and ingestion: backlog, live latency, and the plain parts beside them in the same run.

.venv/bin/python -m bench.ingest --json FILE [--full]
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import redis

from bench.cpu import children, cpu_seconds
from bench.ingest_live import live, raw_rows
from bench.ingest_load import SESSIONS, events
from bench.ingest_setup import SEED, say, stack
from bench.table import Table, save
from sidestream.publisher import Publisher
from store import counters
from store.db import Database
from store.opening import open_database
from tests.stack import Stack

BATCH = 500
BURST = 20_000


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0 when all was measured."""
    parser = argparse.ArgumentParser(prog="bench.ingest", description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args(argv)
    save([backlog(BURST), live(60 if options.full else 8)], options.json)
    return 0


def backlog(count: int) -> Table:
    """How fast a waiting backlog is stored, beside the plain parts of the same work."""
    rows: list[tuple[str, int, float, str]] = []
    with tempfile.TemporaryDirectory() as folder, stack(folder, embed_provider="none") as own:
        rows.append(("raw XADD, one by one", n := count // 10, raw_xadd(own.redis, n, 1), ""))
        rows.append((f"raw XADD, pipelines of {BATCH}", count, raw_xadd(own.redis, count, BATCH), ""))
        rows.append(("publish, one by one", n, publish(own, n, 1, SEED + 1), ""))
        own.redis.flushall()
        published = publish(own, count, BATCH, SEED)
        rows.append((f"publish, batches of {BATCH}", count, published, "validated; tail and receipt"))
        raw, cost = raw_inserts(Path(folder) / "raw.db", count)
        with_it = f"message rows alone; CPU a row: {cost:.0f} µs"
        rows.append((f"raw SQLite inserts, batches of {BATCH}", count, raw, with_it))
        stored, used = ingest(own, count)
        rows.append(("ingest, the worker on a backlog", count, stored, f"the full write; {used}"))
    note = (
        f"{count:,} messages of 500 characters in {SESSIONS} sessions, seed {SEED}; appendfsync always, "
        "synchronous=FULL. The full write is events, messages with seq and turn, sessions, jobs and full-text: "
        f"{stored / raw:.2f} of the raw rate of the message rows alone."
    )
    return Table("A backlog", ("what", "events", "a second", "with"), rows, note)


def raw_xadd(client: "redis.Redis", count: int, batch: int) -> float:
    """Entries a second of the same fields, without any script."""
    prepared: list[dict[Any, Any]] = [dict(event.to_fields()) for event in events(SEED, count)]
    start = time.perf_counter()
    for first in range(0, count, batch):
        pipe = client.pipeline(transaction=False)
        for fields in prepared[first : first + batch]:
            pipe.xadd("raw", fields)
        pipe.execute()
    return count / (time.perf_counter() - start)


def publish(own: Stack, count: int, batch: int, seed: int) -> float:
    """Events a second through the publisher."""
    prepared = list(events(seed, count))
    with Publisher(own.server.url, prefix=own.settings.redis_prefix, spool_dir=None) as publisher:
        start = time.perf_counter()
        for first in range(0, count, batch):
            publisher.publish_many(prepared[first : first + batch])
        return count / (time.perf_counter() - start)


def raw_inserts(path: Path, count: int) -> tuple[float, float]:
    """Rows a second of the message rows alone, with their indexes, one statement a row; and what a row costs, in µs."""
    with open_database(path, synchronous="FULL") as db:
        rows = raw_rows(db, count)
        start, before = time.perf_counter(), time.process_time()
        for first in range(0, count, BATCH):
            db.many("messages_insert", rows[first : first + BATCH])
        return count / (time.perf_counter() - start), 1e6 * (time.process_time() - before) / count


def ingest(own: Stack, count: int) -> tuple[float, str]:
    """Events a second from the consumer's first commit to its last, in a real worker, and what an event costs."""
    worker = own.start_ingest().pid
    server = int(own.redis.info("server")["process_id"])
    say(f"the worker stores {count:,} events")
    with own.database() as db:
        own.wait(lambda: _stored(db) and children(worker), "the analyst is there")
        begun, before = _stored(db), _cpu(worker, server)
        # One look in a while, by a connection that stays: what watches must not take the cores away.
        own.wait(lambda: _stored(db) >= count, "the backlog is stored", 600)
        took = [after - then for then, after in zip(before, _cpu(worker, server), strict=True)]
    first, last = own.rows("SELECT min(stored_at), max(stored_at) FROM events")[0]
    (in_first,) = own.rows("SELECT count(*) FROM events WHERE stored_at = ?", first)[0]
    consumer, analyst, redis_server = (1e6 * seconds / max(1, count - begun) for seconds in took)
    used = f"CPU an event: consumer {consumer:.0f} µs, analyst {analyst:.0f}, Redis {redis_server:.0f}"
    return float((count - in_first) / (last - first)), used


def _cpu(worker: int, server: int) -> tuple[float, float, float]:
    return cpu_seconds(worker), sum(map(cpu_seconds, children(worker))), cpu_seconds(server)


def _stored(db: Database) -> int:
    time.sleep(0.1)
    return counters.all_counters(db).get("events_stored", 0)


if __name__ == "__main__":
    sys.exit(main())
