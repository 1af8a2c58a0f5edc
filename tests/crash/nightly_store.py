"""A database with something for every step of a night, and what is compared afterwards."""

import json
from pathlib import Path
from typing import Any

from memory.retention import DAY, Rule
from memory.types import Scope
from store import dead_letters, fulltext, jobs, spaces, vectors
from store.db import Database
from store.opening import open_database
from tests.unit.store_support import NOW, Clock, say, session, summarise, vector

RULES = (Rule("message", "archive", 180), Rule("run", "archive", 90), Rule("fact", "delete", 180))
NIGHT_AT = NOW + 400 * DAY
_SKIPPED = {"leases", "nightly_runs", "schema_migrations", "counters"}


RETENTION = json.dumps([{"type": r.type, "action": r.action, "days": r.days} for r in RULES])
"""The same rules for a worker's environment."""


def fill(folder: Path) -> None:
    """Two users with something of every kind, and orphans in the indexes."""
    with open_database(folder / "sidestream.db", clock=Clock()) as db:
        space = spaces.ensure_space(db, "m", 8, NOW)
        for user in ("ada", "bob"):
            scope = Scope(user, session_id=f"of-{user}")
            ids = say(db, scope, *[f"{user} had tea number {i}" for i in range(25)])
            pk, owner = session(db, scope).scope_id, session(db, scope).id
            vectors.upsert(db, space, [("message", i, pk, owner, vector(1.0, i)) for i in ids])
            for turn in range(1, 16):
                summarise(db, scope, turn, f"{user} in turn {turn}")
            with db.atomic():
                _rows(db, pk, owner, user)
        with db.atomic():
            fulltext.index(db, [("message", 9_999, 1, "orphan")])
            vectors.upsert(db, space, [("fact", 9_999, 1, 1, vector(1.0))])
            letter = dead_letters.bury(db, "event", "1-1", "default", "why", {"content": "x"}, NOW)
            dead_letters.mark(db, letter, "discarded", NOW)
            dead_letters.bury(db, "event", "1-2", "default", "still dead", {"content": "y"}, NOW)
            jobs.owe(db, "embed", "message:1", "default", due_at=NOW, now=NOW)
            (job,) = jobs.claim(db, "embed", limit=1, lease=60.0, now=NOW, token="t")
            jobs.finish(db, [job], NOW)


def _rows(db: Database, scope_id: int, session_pk: int, user: str) -> None:
    for number in range(8):
        status = ("active", "superseded", "archived", "candidate")[number % 4]
        db.script(
            "fact",
            "INSERT INTO long_term_memories (memory_id, scope_id, content, memory_type, status, importance,"
            " source_type, valid_from, created_at, updated_at) VALUES"
            f" ('{user}-{number}', {scope_id}, 'fact {number}', 'fact',"
            f" '{status}', {0.9 if number < 4 else 0.5}, 'manual', {NOW}, {NOW}, {NOW})",
        )
        db.script(
            "history",
            "INSERT INTO memory_history (memory_id, scope_id, version, change, actor, reason, at)"
            f" VALUES ('{user}-{number}', {scope_id}, 1, 'created', 'test', 'why', {NOW})",
        )
        db.script(
            "timeline",
            "INSERT INTO timeline (scope_id, session_pk, level, period, content, starts_at, ends_at, created_at)"
            f" VALUES ({scope_id}, {session_pk}, 'day', 'd{number}', 'day {number}', {NOW}, {NOW + number}, {NOW})",
        )
        db.script(
            "usage",
            "INSERT INTO memory_usage_log (memory_id, scope_id, used, at)"
            f" VALUES ('{user}-{number}', {scope_id}, 1, {NOW})",
        )
    db.script(
        "run",
        "INSERT INTO subagent_runs (session_pk, scope_id, run_id, agent_id, brief, report, status, started_at,"
        f" finished_at) VALUES ({session_pk}, {scope_id}, 'r', 'a', 'look', 'found', 'completed', {NOW}, {NOW})",
    )
    db.script(
        "said",
        "INSERT INTO subagent_messages (run_pk, event_id, seq, role, content, token_count, occurred_at)"
        f" VALUES (last_insert_rowid(), 'e', 1, 'user', 'inside', 1, {NOW})",
    )


def state(folder: Path) -> dict[str, Any]:
    """All rows of all tables, and all archive files, as far as two runs of one night must agree on them."""
    with open_database(folder / "sidestream.db", clock=Clock(NIGHT_AT)) as db:
        names = [n for (n,) in _all(db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
        found: dict[str, Any] = {}
        for name in names:
            if name in _SKIPPED or name.startswith(("memory_fts", "sqlite_", "vec_1_", "vec_1")):
                continue
            found[name] = sorted(map(str, _all(db, f"SELECT * FROM {name}")))
        found["nightly_steps"] = _all(
            db,
            "SELECT step, state, seen, kept, archived, deleted FROM nightly_steps"
            " WHERE step NOT IN ('integrity', 'free_pages', 'checkpoint', 'stray_archive_files') ORDER BY step",
        )
        found["nightly_runs"] = _all(db, "SELECT night, state FROM nightly_runs")
        found["full text"] = _all(db, "SELECT rowid FROM memory_fts ORDER BY rowid")
        found["vectors"] = _all(db, "SELECT key FROM vec_1_floats ORDER BY key")
        found["bits"] = _all(db, "SELECT key FROM vec_1 ORDER BY key")
    archive = folder / "archive"
    found["files"] = {str(p.relative_to(archive)): p.read_bytes() for p in sorted(archive.rglob("*")) if p.is_file()}
    return found


def _all(db: Database, sql: str) -> list[tuple[Any, ...]]:
    return db._execute("test", sql).fetchall()


def shown(found: dict[str, Any]) -> str:
    """The state in words, for a failed comparison."""
    return json.dumps({k: v for k, v in found.items() if k != "files"}, indent=1, default=str)[:2_000]
