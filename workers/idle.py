"""Finishes sessions that have been idle: the open turn closes, and what is left is given to extraction."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from store import jobs, sessions
from store.db import Database
from store.jobs import JobRow
from workers.apply_turn import close_all
from workers.counting import count_triggered

_BATCH = 50


@dataclass(slots=True)
class _Ledger:
    extract_every: int
    now: float
    rows: list[JobRow] = field(default_factory=list)

    def owe(self, kind: str, subject: str, namespace: str, payload: dict[str, Any]) -> None:
        self.rows.append(JobRow(kind, subject, namespace, self.now, self.now, json.dumps(payload)))

    def defer(self, kind: str, subject: str, namespace: str, payload: dict[str, Any]) -> None:
        self.rows.append(JobRow(kind, subject, namespace, self.now, self.now, json.dumps(payload), "deferred"))


def close_idle(db: Database, *, now: float, before: float, extract_every: int) -> tuple[int, Counter[str]]:
    """Closes what has been idle since `before`, in short transactions; sessions finished, and jobs owed by kind.

    Raises:
        StoreError: SQLite refused; the rest is found again by the next tick.
    """
    finished, owed = 0, Counter[str]()
    while sessions.idle_open(db, before, 1):
        ledger = _Ledger(extract_every, now)
        with db.atomic():
            # Asked again under the lock: an event may have come meanwhile.
            rows = sessions.idle_open(db, before, _BATCH)
            for row in rows:
                close_all(ledger, row)
            jobs.owe_many(db, ledger.rows)
            count_triggered(db, ledger.rows)
            sessions.save_many(db, rows)
        if not rows:
            break
        finished += len(rows)
        owed.update(row.kind for row in ledger.rows if row.state == "pending")
    return finished, owed
