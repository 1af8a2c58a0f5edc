"""Finishes sessions that have been idle: the open turn closes, and what is left is given to extraction."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memory.turns import WindowRules, settled
from store import jobs, sessions
from store.db import Database
from store.jobs import JobRow
from store.sessions import SessionRow
from workers.apply_turn import close_all, extract
from workers.counting import count_triggered
from workers.session_book import turn_state

_BATCH = 50


@dataclass(slots=True)
class _Ledger:
    windows: WindowRules
    now: float
    rows: list[JobRow] = field(default_factory=list)

    def owe(self, kind: str, subject: str, namespace: str, payload: dict[str, Any]) -> None:
        self.rows.append(JobRow(kind, subject, namespace, self.now, self.now, json.dumps(payload)))

    def defer(self, kind: str, subject: str, namespace: str, payload: dict[str, Any]) -> None:
        self.rows.append(JobRow(kind, subject, namespace, self.now, self.now, json.dumps(payload), "deferred"))


def close_idle(db: Database, *, now: float, before: float, windows: WindowRules) -> tuple[int, Counter[str]]:
    """Closes what has been idle since `before`, and fixes the windows that only waited for their session to rest; in
    short transactions. How many sessions, and jobs owed by kind.

    Raises:
        StoreError: SQLite refused; the rest is found again by the next tick.
    """
    idle, owed = _each(db, lambda limit: sessions.idle_open(db, before, limit), close_all, now, windows)
    rested_at = now - windows.gap

    def rested(limit: int) -> list[SessionRow]:
        return sessions.waiting(db, windows.every, rested_at, now, limit)

    late, more = _each(db, rested, _fix, now, windows)
    return idle + late, owed + more


def _fix(ledger: _Ledger, session: SessionRow) -> None:
    extract(ledger, session, settled(turn_state(session)), final=False)


def _each(
    db: Database,
    find: Callable[[int], list[SessionRow]],
    change: Callable[[_Ledger, SessionRow], None],
    now: float,
    windows: WindowRules,
) -> tuple[int, Counter[str]]:
    finished, owed = 0, Counter[str]()
    while find(1):
        ledger = _Ledger(windows, now)
        with db.atomic():
            # Asked again under the lock: an event may have come meanwhile.
            rows = find(_BATCH)
            for row in rows:
                change(ledger, row)
            jobs.owe_many(db, ledger.rows)
            count_triggered(db, ledger.rows)
            sessions.save_many(db, rows)
        if not rows:
            break
        finished += len(rows)
        owed.update(row.kind for row in ledger.rows if row.state == "pending")
    return finished, owed
