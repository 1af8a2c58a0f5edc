"""A year of 50 users in minutes: every day's messages, every night's upkeep, and what is left in the end.

.venv/bin/python -m bench.year --json FILE [--full]

The clock is the bench's own. Each day the users' messages go through the consumer's transaction, a turn's summary is
its first words, and vectors of 64 dimensions are a hash of the words: no model takes part. Facts and checkpoints are
left out. The policies are the default ones, with messages archived after 180 days. There are 200,000 messages,
in the short form 30,000. Each user says one thing a day that is theirs alone, which is asked for later.
"""

import argparse
import asyncio
import hashlib
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np

from bench.ingest_load import contents
from bench.table import Cell, Table, save
from bench.year_figures import Night, Week, nights_table, size_table, truth_table
from memory.compaction.thresholds import CompactionRules
from memory.nights import Night as Due
from memory.retention import DAY, Policy, Rule
from memory.terms import terms
from memory.turns import WindowRules
from memory.types import Scope
from store import embedding_cache, fulltext, jobs, leases, messages, spaces, summaries
from store.archive import Archive, Problem
from store.archive_folder import LocalArchive
from store.archive_restore import Wanted, restore, search
from store.db import Database
from store.nightly import Nightly, Report, Rules
from store.nightly_steps import steps
from store.opening import open_database
from workers.batch import IngestRules
from workers.drain import Drain, DrainRules
from workers.embed import EmbedHandler
from workers.idle import close_idle
from workers.ingest import Ingest
from workers.retry import RetryRules
from workers.stream import Entry

SEED, START = 20_250_101, 1_735_689_600.0
USERS, DIMENSIONS, SIZE = 50, 64, 200
CACHED = 4
"""One embedding of so many messages ever is kept in the cache: 50,000, the setting's default, in the long form."""
INGEST = IngestRules(
    embed_min_chars=10,
    extract_every=5,
    compaction=CompactionRules(window_tokens=32_768),
    subagent_reply_tokens=10_000,
)
DRAIN = DrainRules(600.0, 1e9, 1e9, RetryRules(8, 1.0, 60.0, 1e9))
_ASKED = 200


class Hashed:
    """An embedder that adds up a fixed random direction for each word."""

    model = "bench-year"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._words: dict[str, np.ndarray] = {}

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[bytes]:  # noqa: ARG002 - the port's
        """One unit vector a text."""
        return [self._vector(text) for text in texts]

    async def aclose(self) -> None:
        """Nothing to free."""

    def _vector(self, text: str) -> bytes:
        found = np.sum([self._word(word) for word in text.split()[:60]], axis=0)
        return bytes((found / np.linalg.norm(found)).astype("<f4").tobytes())

    def _word(self, word: str) -> np.ndarray:
        if word not in self._words:
            seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
            self._words[word] = np.random.default_rng(seed).standard_normal(DIMENSIONS)
        return self._words[word]


@dataclass(slots=True)
class Year:
    """One run: a database, its archive, and what has been measured."""

    folder: Path
    db: Database
    archive: Archive
    keep_days: float
    cached: int
    now: float = START
    rng: random.Random = field(default_factory=lambda: random.Random(SEED))
    number: int = 0
    said: dict[str, str] = field(default_factory=dict)
    known: list[tuple[int, float, str, str]] = field(default_factory=list)
    nights: list[Night] = field(default_factory=list)
    weeks: list[Week] = field(default_factory=list)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0 when all was measured."""
    parser = argparse.ArgumentParser(prog="bench.year", description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args(argv)
    count = 200_000 if options.full else 30_000
    with tempfile.TemporaryDirectory() as folder:
        save(measure(Path(folder), 365, count, 180.0), options.json)
    return 0


def measure(folder: Path, days: int, count: int, keep: float) -> list[Table]:
    """The tables of one year of `days` days."""
    clock = [START]
    with open_database(folder / "sidestream.db", clock=lambda: clock[0]) as db:
        year = Year(folder, db, Archive(db, LocalArchive(folder / "archive")), keep, count // CACHED)
        lease = leases.acquire(db, "consumer", "bench", 1e9, START)
        assert lease is not None
        ingest = Ingest(db, lease, INGEST, lambda: clock[0])
        texts = contents(SEED)
        embedder = Hashed()
        began = time.monotonic()
        for day in range(days):
            clock[0] = year.now = START + day * DAY
            _live(year, ingest, [text[:SIZE] for text in islice(texts, count // days)], day, clock)
            _work(year, embedder, clock)
            clock[0] = year.now = START + (day + 1) * DAY
            _night(year, day, clock)
            if day % 7 == 6 or day == days - 1:
                year.weeks.append(_week(year, day + 1))
                print(f"day {day + 1}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        found = _truth(year, clock[0])
        return [size_table(year.weeks), nights_table(year.nights), truth_table(found)]


def _live(year: Year, ingest: Ingest, texts: list[str], day: int, clock: list[float]) -> None:
    """One day's messages: each user has one session of it, and says one thing of their own in it."""
    entries: list[Entry] = []
    for place, text in enumerate(texts):
        user = place % USERS
        year.number += 1
        clock[0] = year.now + 36_000 + place
        content = text
        if place < USERS:
            token = f"q{hashlib.blake2b(f'{user}/{day}'.encode(), digest_size=6).hexdigest()}"
            content = f"My code for day {day} is {token}. {text}"
            year.known.append((user, clock[0], token, f"e{year.number}"))
        year.said[f"e{year.number}"] = hashlib.sha256(content.encode()).hexdigest()
        fields = {
            "type": "message", "id": f"e{year.number}", "session_id": f"u{user}-d{day}", "user_id": f"u{user}",
            "role": "assistant" if place // USERS % 2 else "user", "content": content,
        }  # fmt: skip
        entries.append(
            Entry(f"{int(clock[0] * 1000)}-{year.number}", {k.encode(): v.encode() for k, v in fields.items()})
        )
    for start in range(0, len(entries), 500):
        ingest.apply(entries[start : start + 500])


def _work(year: Year, embedder: Hashed, clock: list[float]) -> None:
    """What the workers do of it."""

    clock[0] += 3_600
    close_idle(year.db, now=clock[0], before=clock[0] - 600, windows=WindowRules())
    ids = iter(range(10**9))
    embed = EmbedHandler(year.db, embedder, limit=256, min_batch=1, max_wait=0.0, clock=lambda: clock[0])
    _summarise(year, clock[0])
    asyncio.run(Drain(year.db, embed, DRAIN, clock=lambda: clock[0], ids=lambda: f"e{next(ids)}").run())
    for space in spaces.all_spaces(year.db):
        embedding_cache.trim(year.db, space.id, year.cached)
    year.db.script("others", f"UPDATE jobs SET state = 'done', updated_at = {clock[0]} WHERE state <> 'done'")


def _summarise(year: Year, now: float) -> None:
    """A sentence a turn, its first words: telling sentences apart is another benchmark's matter."""
    db = year.db
    while claimed := jobs.claim(db, "summarise", limit=200, lease=600.0, now=now, token="s"):
        with db.atomic():
            for job in claimed:
                said = messages.turn(db, job.payload["session_pk"], job.payload["turn"])
                owner = messages.contents(db, [said[0].id])[said[0].id].scope_id
                text = said[0].content[:80]
                new = summaries.insert(
                    db, session_pk=job.payload["session_pk"], scope_id=owner,
                    turn_first=job.payload["turn"], turn_last=job.payload["turn"], content=text, source_count=len(said),
                    confidence=0.5, method="rules", occurred_at=said[-1].occurred_at, now=now, keep=10,
                    terms=" ".join(terms(text)),
                )  # fmt: skip
                jobs.owe(db, "embed", f"summary:{new}", job.namespace, due_at=now, now=now)
            jobs.finish(db, claimed, now)


def _night(year: Year, day: int, clock: list[float]) -> None:
    """The night's run, without its pauses."""
    policy = Policy.of([Rule("message", "archive", year.keep_days)])
    runner = Nightly(
        year.archive, steps(), Rules(policy, pause=0.0), owner="bench", clock=lambda: clock[0], sleep=lambda _: None
    )
    began = time.perf_counter()
    found = runner.run(Due(f"day-{day:04}", clock[0]))
    assert found is not None and found.state == "done", found
    year.nights.append(_figures(found, time.perf_counter() - began))


def _figures(found: Report, seconds: float) -> Night:
    changed = sum(step.archived + step.deleted for step in found.steps if step.step != "free_pages")
    fixed = sum(
        s.seconds for s in found.steps if s.step in ("integrity", "checkpoint", "optimise", "orphaned_index_rows")
    )
    return Night(changed, seconds, fixed)


def _week(year: Year, day: int) -> Week:
    db = year.db
    live = db._execute("bench", "SELECT count(*) FROM main_messages").fetchall()[0][0]
    ledger = db._execute("bench", "SELECT count(*) FROM events").fetchall()[0][0]
    size = db.pragma("page_count") * db.pragma("page_size")
    return Week(
        day, year.number, int(str(live)), int(str(ledger)), int(size), year.archive.totals()["bytes"], _recalled(year)
    )


def _recalled(year: Year) -> float:
    """Share of what users said, of that which is kept, that a search by its own word finds in the first ten."""
    kept = [k for k in year.known if k[1] > year.now - (year.keep_days - 1) * DAY]
    asked = year.rng.sample(kept, min(_ASKED, len(kept)))
    hits = 0
    for user, _, token, event_id in asked:
        scope = Scope(f"u{user}")
        found = fulltext.search(year.db, scope, terms(f"my code {token}"), 10, ("message",))
        hits += any(m.event_id == event_id for m in messages.by_ids(year.db, scope, [c.id for c in found]))
    return hits / len(asked)


def _truth(year: Year, now: float) -> list[tuple[str, Cell]]:
    """Whether every archived message can be found and restored, with its text."""
    db = year.db
    live = {str(e) for (e,) in db._execute("bench", "SELECT event_id FROM main_messages").fetchall()}
    problems: list[Problem] = []
    archived = {
        item["row"]["event_id"]: hashlib.sha256(item["row"]["content"].encode()).hexdigest()
        for item in year.archive.items(year.archive.files(kind="message"), problems)
    }
    began = time.perf_counter()
    found = search(year.archive, Wanted(Scope("u7"), kind="message"), problems, limit=10**9)
    seconds = time.perf_counter() - began
    wrong = sum(year.said[e] != digest for e, digest in archived.items())
    back = restore(year.archive, Wanted(Scope("u7"), kind="message"), [], until=now + DAY, now=now, embed_min_chars=10)
    owed = jobs.stats(db).get("embed", {}).get("pending", 0)
    all_back = db._execute(
        "bench", "SELECT count(*) FROM main_messages AS m JOIN scopes AS c ON c.id = m.scope_id WHERE c.user_id = 'u7'"
    ).fetchall()[0][0]
    return [
        ("messages ever", len(year.said)),
        ("live", len(live)),
        ("archived", len(archived)),
        ("neither live nor archived", len(set(year.said) - live - set(archived))),
        ("both", len(live & set(archived))),
        ("with another text than they had", wrong),
        ("damaged files", len(problems)),
        ("seconds to search one user's archive", seconds),
        ("messages of one user found there", len(found)),
        ("of them restored", back.restored),
        ("of that user in SQLite then", int(str(all_back))),
        ("embeddings owed for them", owed),
    ]


if __name__ == "__main__":
    sys.exit(main())
