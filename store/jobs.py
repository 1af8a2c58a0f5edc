"""The job ledger: what follow-up work is owed for what, and how it stands. (kind, subject) is unique for
good.

States: pending → running → done, or dead after the last failure; `deferred` waits for a handler that does
not exist yet and is never claimed. A running job whose lease lapsed counts as due again. Every write by a
worker names the lease token it got with the claim; where the token no longer holds it raises LeaseLost,
and `atomic()` undoes the rest.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from store import dead_letters
from store.db import Database
from store.errors import LeaseLost, NotFound

STEP_BACK = 1.0
"""A row that was written longer ahead of the clock than this, in seconds, was written before the clock was set back."""
_RELEASE_BATCH = 1_000

JobState: TypeAlias = Literal["pending", "running", "done", "dead", "deferred"]


class JobRow(NamedTuple):
    """One job to owe. `payload` is JSON text; times are unix seconds."""

    kind: str
    subject: str
    namespace: str
    due_at: float
    now: float
    payload: str = "{}"
    state: str = "pending"


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed job. `attempts` counts this one, also when an earlier worker died with it; `reason` is
    that of the last failure that a worker lived to report."""

    id: int
    kind: str
    subject: str
    namespace: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 1
    lease_token: str = ""
    created_at: float = 0.0
    reason: str | None = None


def owe(
    db: Database,
    kind: str,
    subject: str,
    namespace: str,
    *,
    due_at: float,
    now: float,
    payload: Mapping[str, Any] | None = None,
    state: JobState = "pending",
) -> bool:
    """Writes a job; False where one of that kind and subject stands already, in whatever state."""
    text = json.dumps(payload or {}, ensure_ascii=False)
    return owe_many(db, [JobRow(kind, subject, namespace, due_at, now, text, state)]) == 1


def owe_many(db: Database, rows: Sequence[JobRow]) -> int:
    """Writes jobs; how many are new."""
    # `now` is twice in it: created and updated.
    return db.insert("jobs_owe", [(*row[:5], *row[4:]) for row in rows])


def owe_embeddings(db: Database, kind: str, first_message: int, now: float) -> int:
    """Writes a job of `kind` for each message from `first_message` on that has none and owes its embedding; how many.

    In the transaction that stores these messages.
    """
    db.run("jobs_owe_embeddings", kind=kind, first=first_message, now=now)
    return db.changes


def claim(
    db: Database,
    kind: str,
    *,
    limit: int,
    lease: float,
    now: float,
    token: str,
    min_batch: int = 1,
    max_wait: float = 0.0,
    in_order: Sequence[str] = (),
) -> list[Job]:
    """Takes up to `limit` due jobs, the longest due first, under `token` for `lease` seconds.

    Fewer than `min_batch` are taken only once the oldest of them was created `max_wait` seconds ago.
    `token` must be new for each claim. An empty answer takes no lock. With `in_order` only the oldest job of each
    scope is taken, counting the jobs of all these kinds (of extract, remember and forget).
    """
    if not _worth_it(db, kind, now, limit, min_batch, max_wait):
        return []
    with db.atomic():
        # Asked again: another worker may have been quicker.
        if not _worth_it(db, kind, now, limit, min_batch, max_wait):
            return []
        params = {"kind": kind, "now": now, "limit": limit, "until": now + lease, "token": token}
        if in_order:
            rows = db.run("jobs_claim_heads", **params, in_order=json.dumps(list(in_order)))
        else:
            rows = db.run("jobs_claim", **params)
    rows.sort(key=lambda row: (row["due_at"], row["id"]))
    return [
        Job(
            id=row["id"],
            kind=kind,
            subject=row["subject"],
            namespace=row["namespace"],
            payload=json.loads(row["payload"]),
            attempts=row["attempts"],
            lease_token=token,
            created_at=row["created_at"],
            reason=row["reason"],
        )
        for row in rows
    ]


def renew(db: Database, jobs: Sequence[Job], lease: float, now: float) -> None:
    """Extends the leases to `lease` seconds from now.

    Raises:
        LeaseLost: one of them is somebody else's; none is extended.
    """
    _fenced(db, "jobs_renew", [(now + lease, now, job.id, job.lease_token) for job in jobs])


def finish(db: Database, jobs: Sequence[Job], now: float) -> None:
    """Marks the jobs done; in the transaction that writes their result.

    Raises:
        LeaseLost: one of them is somebody else's; none is marked.
    """
    _fenced(db, "jobs_finish", [(now, job.id, job.lease_token) for job in jobs])


def fail(db: Database, job: Job, reason: str, now: float, retry_at: float | None) -> None:
    """Gives a job back with its reason: due again at `retry_at`, or dead with a dead letter where that is
    None.

    Raises:
        LeaseLost: it is somebody else's; nothing is written.
    """
    with db.atomic():
        if retry_at is None:
            _fenced(db, "jobs_bury", [(reason, now, job.id, job.lease_token)])
            body = {
                "kind": job.kind,
                "subject": job.subject,
                "payload": dict(job.payload),
                "attempts": job.attempts,
            }
            dead_letters.bury(db, "job", str(job.id), job.namespace, reason, body, now)
        else:
            _fenced(db, "jobs_retry", [(retry_at, reason, now, job.id, job.lease_token)])


def release(db: Database, jobs: Sequence[Job], now: float) -> None:
    """Gives claimed jobs back untouched and due at once, the attempt not counted (a worker that is told to
    stop).

    Raises:
        LeaseLost: one of them is somebody else's; none is given back.
    """
    _fenced(db, "jobs_release", [(now, job.id, job.lease_token) for job in jobs])


def release_deferred(db: Database, kind: str, now: float) -> int:
    """Makes the deferred jobs of a kind due, for when its handler comes; in small transactions. How many
    there were."""
    total = 0
    while True:
        with db.atomic():
            count = len(db.tuples("jobs_release_deferred", {"kind": kind, "now": now, "limit": _RELEASE_BATCH}))
        total += count
        if count < _RELEASE_BATCH:
            return total


def revive(db: Database, job_id: int, now: float | None = None) -> None:
    """Makes a dead job due again with its attempts forgotten, and its dead letter replayed.

    Raises:
        NotFound: there is no such dead job.
    """
    now = db.clock() if now is None else now
    with db.atomic():
        if not db.tuples("jobs_revive", {"id": job_id, "now": now}):
            raise NotFound(f"no dead job {job_id}")
        db.run("dead_letters_mark_job", ref=str(job_id), status="replayed", now=now)


def heal_clock(db: Database, now: float) -> int:
    """Repairs what a clock that was set back left behind: jobs that were written ahead of the clock are moved to
    now, with what is left of their wait and of their lease. How many; part of the sweep."""
    if not db.value("jobs_from_the_future", horizon=now + STEP_BACK):
        return 0
    with db.atomic():
        return len(db.tuples("jobs_heal_clock", {"now": now, "horizon": now + STEP_BACK}))


def owed(db: Database, now: float) -> dict[str, int]:
    """Jobs that are due, or whose lease lapsed, by kind; kinds with none are absent."""
    return {row["kind"]: row["count"] for row in db.run("jobs_owed", now=now)}


def oldest_due(db: Database, now: float, *, without: Collection[str] = ()) -> float | None:
    """Seconds for which the oldest due or lapsed job has been waiting; None where none is. Kinds of
    `without` do not count: those that wait for something which is not configured."""
    due_at = db.value("jobs_oldest_due", now=now, without=json.dumps(list(without)))
    return None if due_at is None else max(0.0, now - due_at)


def next_due(db: Database, kind: str, now: float) -> float | None:
    """Seconds until the kind's next job is due (0 where one is); None where none is pending or running."""
    at = db.value("jobs_next_due", kind=kind)
    return None if at is None else max(0.0, at - now)


def wait_for_company(db: Database, kind: str, now: float, *, min_batch: int, max_wait: float) -> float | None:
    """Seconds until jobs that are due, but too few for a claim yet, may be claimed all the same; None where none is."""
    count, oldest = _due(db, kind, now, min_batch)
    return min(max_wait, max(0.0, oldest + max_wait - now)) if count else None


def stats(db: Database) -> dict[str, dict[str, int]]:
    """Count by kind and state, of all that is not done."""
    result: dict[str, dict[str, int]] = {}
    for row in db.run("jobs_stats"):
        result.setdefault(row["kind"], {})[row["state"]] = row["count"]
    return result


def _worth_it(db: Database, kind: str, now: float, limit: int, min_batch: int, max_wait: float) -> bool:
    count, oldest = _due(db, kind, now, min(limit, min_batch))
    if not count:
        return False
    # An oldest one in the future means that the clock was set back: its wait cannot be told, so it is over.
    return count >= min(limit, min_batch) or not 0 <= now - oldest < max_wait


def _due(db: Database, kind: str, now: float, enough: int) -> tuple[int, float]:
    """How many are due, counted up to `enough`, and when the oldest of these was created."""
    count, oldest = db.tuples("jobs_due", {"kind": kind, "now": now, "limit": max(enough, 1)})[0]
    return count, oldest


def _fenced(db: Database, statement: str, rows: Sequence[Sequence[object]]) -> None:
    with db.atomic():
        held = db.many(statement, rows)
        if held != len(rows):
            raise LeaseLost(f"{statement}: {len(rows) - held} of {len(rows)} jobs are held by somebody else now")
