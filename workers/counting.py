"""Counts of extraction that outlive every process, in the transactions of what they count. Those of compaction are kept
where it is known what a job came to."""

from collections.abc import Sequence
from typing import Literal

from store import counters
from store.db import Database
from store.jobs import JobRow
from workers.kinds import EXTRACT


def count_triggered(db: Database, rows: Sequence[JobRow]) -> None:
    """Of jobs that are written, the extractions; a window is fixed once, so that none is counted twice."""
    count = sum(row.kind == EXTRACT for row in rows)
    if count:
        counters.bump(db, "extraction_triggered", count)


def count_ended(db: Database, kind: str, how: Literal["succeeded", "failed"], count: int) -> None:
    """Of jobs whose outcome is written, the extractions; each attempt that failed counts."""
    if kind == EXTRACT:
        counters.bump(db, f"extraction_{how}", count)
