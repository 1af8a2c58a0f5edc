"""What the consumer's commits take while task workers write as fast as they can, and how fast rows go in alone.

.venv/bin/python -m bench.writers --json FILE [--full]

The consumer writes 20 messages every 20 ms (event, message, full text and embed job each) with synchronous=FULL; each
writer is a process that claims 64 embed jobs and writes their vectors of 1,024 dimensions and finishes them, 16 a
transaction. There is no model, so that the writers do nothing but write.
"""

import argparse
import multiprocessing
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np

from bench.ingest_load import contents, percentiles
from bench.table import Cell, Table, save
from memory.terms import terms
from store import events, fulltext, jobs, messages, scopes, sessions, spaces, vectors
from store.db import Database
from store.events import EventRow
from store.jobs import JobRow
from store.messages import OWED, MessageRow
from store.opening import open_database
from store.sessions import SessionRow

SEED = 20_240_601
MODEL, DIMENSIONS = "bench", 1_024
SESSIONS = 50
LIVE, EVERY = 20, 0.02
BATCH = 500
CLAIM, A_WRITE = 64, 16
CHECKPOINT_EVERY = 0.5


@dataclass(frozen=True, slots=True)
class Load:
    """How one run is set up. `gate`: the writers pass the writers' gate, and the consumer polls for the lock."""

    writers: int
    gate: bool


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0 when all was measured."""
    parser = argparse.ArgumentParser(prog="bench.writers", description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args(argv)
    seconds, rows = (30.0, 40_000) if options.full else (6.0, 10_000)
    loads = [Load(0, True), Load(2, True), Load(4, True), Load(4, False)]
    beside = Table(
        "The consumer's commits beside bulk writers",
        ["writers", "p50 ms", "p95", "p99", "longest", "waiting p99", "vectors/s"],
        [measure(load, seconds) for load in loads],
        f"{LIVE} messages of 500 characters every {EVERY * 1000:.0f} ms for {seconds:.0f} s. Waiting is for the"
        " write lock alone.",
    )
    save([beside, insertion(rows)], options.json)
    return 0


def measure(load: Load, seconds: float) -> list[Cell]:
    """One row of the table."""
    print(f"    {load.writers} writers, {'gate' if load.gate else 'no gate'}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        prepare(path, backlog=5_000)
        context = multiprocessing.get_context("spawn")
        stop = context.Event()
        ready = context.Barrier(load.writers + 1)
        workers = [
            context.Process(target=write_vectors, args=(path, load.gate, ready, stop)) for _ in range(load.writers)
        ]
        for worker in workers:
            worker.start()
        ready.wait(60)
        waits, commits = consume(path, seconds, poll=load.gate)
        stop.set()
        for worker in workers:
            worker.join(30)
        with open_database(path) as db:
            written = vectors.count(db, spaces.ensure_space(db, MODEL, DIMENSIONS, 0.0))
    name = f"{load.writers}" if load.gate else f"{load.writers}, no gate, SQLite's own back-off"
    figures = [1_000 * value for value in (*percentiles(commits), max(commits), percentiles(waits)[2])]
    return [name, *figures, round(written / seconds)]


def consume(path: Path, seconds: float, *, poll: bool) -> tuple[list[float], list[float]]:
    """Seconds waited for the lock, and for the whole transaction, of each live batch."""
    waits, commits = [], []
    stop = threading.Event()
    checkpointer = threading.Thread(target=checkpoint, args=(path, stop))
    checkpointer.start()
    with open_database(path, synchronous="FULL", poll_busy=poll) as db:
        db.script("autocheckpoint", "PRAGMA wal_autocheckpoint = 16000")
        source = Source(db)
        end = time.perf_counter() + seconds
        while (begun := time.perf_counter()) < end:
            batch = source.batch(LIVE)
            start = time.perf_counter()
            with db.atomic():
                waits.append(time.perf_counter() - start)
                source.write(batch)
            commits.append(time.perf_counter() - start)
            time.sleep(max(0.0, begun + EVERY - time.perf_counter()))
    stop.set()
    checkpointer.join()
    return waits, commits


def checkpoint(path: Path, stop: threading.Event) -> None:
    """Keeps the log short from a thread of its own, as the ingest worker does."""
    with open_database(path) as db:
        while not stop.wait(CHECKPOINT_EVERY):
            db.script("checkpoint", "PRAGMA wal_checkpoint(PASSIVE)")


def write_vectors(path: Path, gate: bool, ready: "multiprocessing.synchronize.Barrier", stop: Event) -> None:
    """One writer process: claim, write, finish, again."""
    rng = np.random.default_rng()
    vector = rng.standard_normal((256, DIMENSIONS)).astype("<f4")
    pool = [(row / np.linalg.norm(row)).tobytes() for row in vector]
    with open_database(path, gate=gate, busy_timeout=30.0) as db:
        space = spaces.ensure_space(db, MODEL, DIMENSIONS, 0.0)
        ready.wait(60)
        while not stop.is_set():
            now = time.time()
            claimed = jobs.claim(db, "embed", limit=CLAIM, lease=60.0, now=now, token=uuid.uuid4().hex)
            texts = messages.contents(db, [int(job.subject) for job in claimed])
            for first in range(0, len(claimed), A_WRITE):
                some = claimed[first : first + A_WRITE]
                rows: list[vectors.VectorRow] = []
                for job in some:
                    text = texts[int(job.subject)]
                    rows.append(("message", text.id, text.scope_id, text.session_pk, pool[text.id % len(pool)]))
                with db.atomic():
                    vectors.upsert(db, space, rows)
                    messages.mark_embedded(db, [row[1] for row in rows])
                    jobs.finish(db, some, now)
            if not claimed:
                time.sleep(0.005)


class Source:
    """Makes rows and writes them as the consumer does; full-text terms are made before the clock starts."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._texts: Iterator[str] = contents(SEED)
        with db.atomic():
            self._scope = scopes.scope_id(db, "default", "bench")
            now = time.time()
            self._sessions = [
                sessions.create(db, SessionRow("default", uuid.uuid4().hex, self._scope, now, now))
                for _ in range(SESSIONS)
            ]

    def batch(self, count: int) -> list[tuple[str, str]]:
        """Texts with their terms."""
        return [(text, " ".join(terms(text))) for text in islice(self._texts, count)]

    def write(self, batch: Sequence[tuple[str, str]]) -> None:
        """Everything that the consumer writes for messages; inside a transaction."""
        db, scope, now = self._db, self._scope, time.time()
        first = messages.next_message_id(db)
        touched: dict[int, SessionRow] = {}
        ledger, stored, words, owed = [], [], list[fulltext.IndexRow](), []
        for number, (text, found) in enumerate(batch, first):
            session = touched.setdefault(number % SESSIONS, self._sessions[number % SESSIONS])
            session.last_seq += 1
            event_id = f"01J8ZQ4V6M{number:016d}"
            ledger.append(EventRow("default", event_id, "message", f"{number:064x}", f"1725000000000-{number}", now))
            stored.append(
                MessageRow(
                    number, session.id, scope, event_id, session.last_seq, 1, None, "user", text, "normal", None,
                    None, None, None, 125, OWED, now, now,
                )
            )  # fmt: skip
            words.append(("message", number, scope, found))
            owed.append(JobRow("embed", str(number), "default", now, now))
        events.record(db, ledger)
        messages.insert_many(db, stored)
        fulltext.index(db, words)
        jobs.owe_many(db, owed)
        sessions.save_many(db, list(touched.values()))


def prepare(path: Path, backlog: int) -> None:
    """A file with `backlog` messages that wait for their vectors."""
    with open_database(path) as db:
        spaces.ensure_space(db, MODEL, DIMENSIONS, 0.0)
        source = Source(db)
        for _ in range(0, backlog, BATCH):
            with db.atomic():
                source.write(source.batch(BATCH))


def insertion(count: int) -> Table:
    """Rows a second of the store alone, one writer, batches of 500, everything that a message owes."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_database(Path(folder) / "bench.db", synchronous="FULL", poll_busy=True) as db,
    ):
        source, taken, processor = Source(db), [], 0.0
        for _ in range(0, count, BATCH):
            batch = source.batch(BATCH)
            start, used = time.perf_counter(), time.process_time()
            with db.atomic():
                source.write(batch)
            taken.append(time.perf_counter() - start)
            processor += time.process_time() - used
    row: list[Cell] = [count / sum(taken), count / processor, *(1_000 * value for value in percentiles(taken))]
    note = f"{count:,} messages of 500 characters, {BATCH} a transaction, synchronous=FULL, terms made beforehand."
    return Table(
        "Insertion alone", ["messages/s", "messages/s of processor time", "p50 ms a batch", "p95", "p99"], [row], note
    )


if __name__ == "__main__":
    sys.exit(main())
