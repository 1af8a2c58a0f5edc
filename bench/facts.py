"""Measures the gate of one fact against many, and extraction by rules end to end.

.venv/bin/python -m bench.facts [--full] [--json FILE]
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.table import Table, save
from memory.facts.model import Origin
from memory.facts.reading import Said, read
from store import facts, scopes
from store.db import Database
from store.opening import open_database
from tests.facts_score import drain
from tests.unit.workers_support import Bench
from workers.gatekeeper import Gatekeeper, memory_id

_THINGS = ("tea", "chess", "jazz", "bikes", "maps", "kites", "stamps", "ponds", "cacti", "boats", "trains", "clocks")
_ENDS = ("an", "el", "or", "is", "um", "ax", "ey", "od")
_FORMS = (
    "I like {a} {b}.",
    "I live in {A}.",
    "I work at {A}.",
    "My {a} is {A}.",
    "I have two {b} named {A}.",
    "I play {b} every Sunday with {A}.",
    "I went to {A} with my sister last year.",
    "I'm allergic to {a} {b}.",
    "We decided to use {A} for {b}.",
    "I'm going to {A} in May.",
)
_ONE_A_USER = ("I live in", "I work at")
"""Of these a user has one at a time, so that nobody has thousands of them."""
_BATCH = 500


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0 when it ran."""
    parser = argparse.ArgumentParser(prog="bench.facts", description=__doc__)
    parser.add_argument("--full", action="store_true", help="50,000 facts")
    parser.add_argument("--json", type=Path, help="where to write the tables")
    options = parser.parse_args(argv)
    count, windows = (50_000, 400) if options.full else (5_000, 60)
    with tempfile.TemporaryDirectory() as folder:
        tables = [_gate(Path(folder), count), _end_to_end(Path(folder), windows)]
    if options.json is not None:
        save(tables, options.json)
    else:
        print("\n\n".join(table.markdown() for table in tables))
    return 0


def _statements(rng: random.Random) -> Iterator[str]:
    while True:
        name = "".join(rng.choice("bcdfghklmnprstvw") + rng.choice(_ENDS) for _ in range(4))
        yield rng.choice(_FORMS).format(a=name, A=name.capitalize(), b=rng.choice(_THINGS))


def _gate(folder: Path, count: int) -> Table:
    rng = random.Random(7)
    with open_database(folder / "gate.db", gate=True) as db:
        with db.atomic():
            origin = Origin(scopes.scope_id(db, "default", "ann"), "auto_consolidation", "bench")
        said = _statements(rng)
        stored = 0
        while facts.counts(db, origin.scope_id).get("active", 0) < count:
            stored = _fill(db, origin, said, stored)
        spent = [_one(db, origin, said, stored + n) for n in range(500)]
        active = facts.counts(db, origin.scope_id)["active"]
    return Table(
        "Gate of one fact",
        ("against", "what", "p50 ms", "p95", "p99"),
        [
            (active, what, *(1_000 * sorted(times)[int(len(times) * share)] for share in (0.5, 0.95, 0.99)))
            for what, times in zip(("time", "processor time"), zip(*spent, strict=True), strict=True)
        ],
        "All of one user. A transaction a fact: neighbours looked up, judged, written, indexed, its embedding owed.",
    )


def _fill(db: Database, origin: Origin, said: Iterator[str], number: int) -> int:
    """Facts as they stand after a gate that let them all pass; the gate itself is measured afterwards."""
    with db.atomic():
        for _ in range(_BATCH):
            number += 1
            text = next(text for text in said if not text.startswith(_ONE_A_USER))
            for draft in read([Said(number, text, float(number))]):
                row = facts.insert(
                    db, memory_id(str(number), draft.content), draft, origin, actor="b", reason="b", now=0.0
                )
                fact = None if row is None else facts.row(db, row)
                if fact is not None:
                    facts.activate(db, fact, actor="b", reason="b", now=0.0)
    return number


def _one(db: Database, origin: Origin, said: Iterator[str], number: int) -> tuple[float, float]:
    draft = next(draft for text in said for draft in read([Said(number, text, float(number))]))
    began, worked = time.perf_counter(), time.process_time()
    with db.atomic():
        Gatekeeper(db, "default", actor="b", now=0.0).admit(memory_id("x", str(number)), draft, origin)
    return time.perf_counter() - began, time.process_time() - worked


def _end_to_end(folder: Path, windows: int) -> Table:
    """Windows of five turns of 40 users, from job rows to active facts."""
    rng = random.Random(3)
    bench = Bench(folder)
    said = _statements(rng)
    try:
        for number in range(windows):
            common = {"user_id": f"u{number % 40}", "session_id": f"s{number}"}
            turns = [
                {"type": "message", "id": f"{number}-{turn}-{role}", "role": role, "content": text, **common}
                for turn in range(5)
                for role, text in (("user", f"{next(said)} {next(said)}"), ("assistant", "ok"))
            ]
            bench.apply(*turns, {"type": "session.ended", **common})
        began, worked = time.perf_counter(), time.process_time()
        drain(bench)
        spent, work = time.perf_counter() - began, time.process_time() - worked
        made = bench.rows("SELECT count(*) FROM long_term_memories")[0][0]
    finally:
        bench.db.close()
    return Table(
        "Extraction by rules, end to end",
        ("windows", "facts", "facts/s", "facts a second of processor time"),
        [(windows, made, made / spent, made / work)],
        "One process; from due jobs to active facts, full text and owed embeddings.",
    )


if __name__ == "__main__":
    sys.exit(main())
