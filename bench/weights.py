"""What it takes to move the weights of the facts that an answer was given, and to read facts for a context.

.venv/bin/python -m bench.weights --json FILE [--full]

Facts of many users stand in one database, with their words indexed. An answer was given ten of its user's facts, and
holds the words of three. Measured is what the worker does with it: reading answer and facts, telling use from disuse,
and the transaction that writes weights, counts and the usage log, through the writers' gate.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.ingest_load import percentiles
from bench.table import Cell, Table, save
from memory.facts.model import Draft, Origin
from memory.retention import Policy
from memory.types import Scope
from memory.weights import WeightPolicy
from recall.explain import explain
from recall.facts import RELEVANT_FROM, FactQuery, context_facts
from store import facts, fulltext, jobs, messages, scopes, sessions
from store.db import Database
from store.messages import NEEDS_NONE, MessageRow
from store.opening import open_database
from store.sessions import SessionRow
from workers.feedback import FeedbackHandler
from workers.kinds import FEEDBACK
from workers.outcomes import Done
from workers.upkeep import keep_up

SEED = 20_240_701
GIVEN, USED = 10, 3
A_USER = 1_000
POLICY = WeightPolicy()
RETENTION = Policy()
WORDS = 4_000


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0 when all was measured."""
    parser = argparse.ArgumentParser(prog="bench.weights", description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args(argv)
    total, answers = (50_000, 2_000) if options.full else (10_000, 300)
    with tempfile.TemporaryDirectory() as folder, open_database(Path(folder) / "bench.db", gate=True) as db:
        rng = random.Random(SEED)
        print(f"    {total:,} facts", file=sys.stderr, flush=True)
        users = fill(db, rng, total)
        rows = [*feedback(db, rng, users, answers), *reads(db, rng, users, answers), upkeep(db)]
    note = f"{total:,} active facts of {len(users)} users; {answers:,} of each, upkeep once."
    save([Table("Facts: weights and reads", ["what", "p50 ms", "p95", "p99"], rows, note)], options.json)
    return 0


def fill(db: Database, rng: random.Random, total: int) -> list[Scope]:
    """Users with facts, each in a session of its own."""
    words = [f"w{rng.randrange(36**5):x}" for _ in range(WORDS)]
    now = db.clock()
    users = [Scope(f"user-{number}", session_id=f"s-{number}") for number in range(total // A_USER)]
    for user in users:
        with db.atomic():
            scope_id = scopes.scope_id(db, user.namespace, user.user_id)
            row = SessionRow(user.namespace, user.session_id or "", scope_id, now, now)
            session = sessions.create(db, row)
            for number in range(A_USER):
                draft = Draft(" ".join(rng.choices(words, k=9)), importance=rng.uniform(0.3, 0.95), said_at=now)
                origin = Origin(scope_id, "auto_consolidation", "bench", session.id)
                memory_id = f"{user.user_id}:{number}"
                new = facts.insert(db, memory_id, draft, origin, actor="bench", reason="bench", now=now)
                found = None if new is None else facts.row(db, new)
                assert found is not None
                facts.activate(db, found, actor="bench", reason="bench", now=now)
    return users


def feedback(db: Database, rng: random.Random, users: Sequence[Scope], answers: int) -> list[list[Cell]]:
    """Time of one answer's feedback, from the claimed job to the commit: by the clock, and of the processor alone."""
    handler = FeedbackHandler(db, POLICY, clock=db.clock)
    taken, worked = [], []
    for number in range(answers):
        user = rng.choice(users)
        memory_ids = [f"{user.user_id}:{n}" for n in rng.sample(range(A_USER), GIVEN)]
        said = [fact.content for m in memory_ids[:USED] if (fact := facts.get(db, user, m)) is not None]
        event = answer(db, user, f"a-{number}", " and ".join(said))
        payload = {"session_id": user.session_id, "occurred_at": db.clock(), "memory_ids": memory_ids}
        now = db.clock()
        jobs.owe(
            db,
            FEEDBACK,
            f"event:{number}",
            user.namespace,
            due_at=now,
            now=now,
            payload={**payload, "parent_id": event},
        )
        (job,) = jobs.claim(db, FEEDBACK, limit=1, lease=60.0, now=db.clock(), token=f"t-{number}")
        begun, busy = time.perf_counter(), time.process_time()
        (outcome,) = asyncio.run(handler.work([job]))
        assert isinstance(outcome, Done)
        with db.atomic():
            handler.write([outcome])
            jobs.finish(db, [job], db.clock())
        taken.append(time.perf_counter() - begun)
        worked.append(time.process_time() - busy)
    what = "weights of 10 facts moved by one answer"
    return [
        [name, *(1_000 * p for p in percentiles(times))]
        for name, times in ((what, taken), (f"{what}, processor time", worked))
    ]


def answer(db: Database, user: Scope, event_id: str, content: str) -> str:
    """Stores an answer; its event."""
    row = sessions.load_many(db, [(user.namespace, user.session_id or "")])[user.namespace, user.session_id or ""]
    with db.atomic():
        row.last_seq += 1
        number, now = messages.next_message_id(db), db.clock()
        stored = MessageRow(
            number, row.id, row.scope_id, event_id, row.last_seq, 1, None, "assistant", content, "normal", None,
            None, None, None, 1, NEEDS_NONE, now, now,
        )  # fmt: skip
        messages.insert_many(db, [stored])
        fulltext.index(db, [("message", number, row.scope_id, content)])
        sessions.save_many(db, [row])
    return event_id


def reads(db: Database, rng: random.Random, users: Sequence[Scope], count: int) -> list[list[Cell]]:
    """Time of what a context reads of facts, by words, and of one explanation."""
    contexts, explanations = [], []
    for _ in range(count):
        user = rng.choice(users)
        memory_id = f"{user.user_id}:{rng.randrange(A_USER)}"
        wanted = facts.get(db, user, memory_id)
        assert wanted is not None
        query = FactQuery(" ".join(wanted.content.split()[:4]), 10, relevant_from=RELEVANT_FROM)
        begun = time.perf_counter()
        with db.snapshot():
            found, _ = context_facts(db, Scope(user.user_id), query, POLICY, db.clock())
        contexts.append(time.perf_counter() - begun)
        assert found
        begun = time.perf_counter()
        with db.snapshot():
            assert explain(db, user, memory_id, POLICY, RETENTION, db.clock()) is not None
        explanations.append(time.perf_counter() - begun)
    return [
        [name, *(1_000 * p for p in percentiles(taken))]
        for name, taken in (("facts for a context, by words", contexts), ("one explanation", explanations))
    ]


def upkeep(db: Database) -> list[Cell]:
    """Time of one pass over all facts that finds nothing to archive."""
    begun = time.perf_counter()
    assert keep_up(db, POLICY, db.clock(), 600.0) == 0
    took = 1_000 * (time.perf_counter() - begun)
    return ["one upkeep of all facts", took, took, took]


if __name__ == "__main__":
    sys.exit(main())
