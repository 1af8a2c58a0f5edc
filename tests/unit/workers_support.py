"""A consumer's transaction without Redis or Celery: entries in, rows out."""

from pathlib import Path
from typing import Any

from memory.compaction.thresholds import CompactionRules
from store import leases
from store.db import Database
from store.opening import open_database
from workers.batch import IngestRules
from workers.ingest import Applied, Ingest
from workers.stream import Entry

RULES = IngestRules(
    embed_min_chars=10,
    extract_every=2,
    compaction=CompactionRules(window_tokens=200, window_messages=12, keep=2),
    subagent_reply_tokens=100,
)
NOW = 1_800_000_000.0


class Bench:
    """An ingest over a database in `folder`, with a clock that stands at `now`."""

    def __init__(self, folder: Path, rules: IngestRules = RULES) -> None:
        self.now = NOW
        self.db: Database = open_database(folder / "test.db", clock=lambda: self.now)
        lease = leases.acquire(self.db, "consumer", "test", 10.0, self.now)
        assert lease is not None
        self.ingest = Ingest(self.db, lease, rules, lambda: self.now)
        self._number = 0

    def entry(self, fields: dict[str, Any], entry_id: str | None = None) -> Entry:
        """A stream entry; its id is that of the clock."""
        self._number += 1
        raw = {k.encode(): v if isinstance(v, bytes) else str(v).encode() for k, v in fields.items()}
        return Entry(entry_id or f"{int(self.now * 1000)}-{self._number}", raw)

    def apply(self, *events: dict[str, Any]) -> Applied:
        """Stores events in one batch."""
        return self.ingest.apply([self.entry(event) for event in events])

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of any SQL."""
        return self.db._execute("test", sql).fetchall()

    def reasons(self) -> list[str]:
        """Reasons of the dead letters, in order."""
        return [row[0] for row in self.rows("SELECT reason FROM dead_letters ORDER BY id")]

    def jobs(self, kind: str) -> list[tuple[str, str]]:
        """Subject and state of the jobs of a kind."""
        return [
            (subject, state)
            for k, subject, state in self.rows("SELECT kind, subject, state FROM jobs ORDER BY id")
            if k == kind
        ]


def message(
    session: str = "s1", role: str = "user", content: str | bytes = "what is the weather", **more: Any
) -> dict[str, Any]:
    """The fields of a message."""
    return {"type": "message", "session_id": session, "role": role, "content": content, **more}
