"""Leases with a fence: one process at a time does a thing, and one that lost it cannot commit.

The fence grows with every holder. `hold` checks it inside the write transaction, so that a holder that was
stopped, lost the lease and woke up again is refused at the one place where it matters.
"""

from collections.abc import Callable
from dataclasses import dataclass

from store.db import Database
from store.errors import LeaseLost, StoreError
from store.processes import process_alive


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease that was held when it was given. `ttl` is seconds; `expires_at` unix seconds, of the last
    extension."""

    name: str
    owner: str
    fence: int
    ttl: float
    expires_at: float


def acquire(
    db: Database,
    name: str,
    owner: str,
    ttl: float,
    now: float,
    alive: Callable[[str], bool] = process_alive,
) -> Lease | None:
    """The lease, or None while somebody else holds it.

    A holder that `alive` knows to be dead is replaced at once, as is one whose lease ends more than `2 *
    ttl` from
    now: the clock was set back since. The same owner gets it anew, with a new fence.
    """
    if _held_by_other(db, name, owner, ttl, now, alive):
        return None
    with db.atomic():
        if _held_by_other(db, name, owner, ttl, now, alive):
            return None
        fence = db.value("leases_take", name=name, owner=owner, expires_at=now + ttl)
    return Lease(name, owner, int(fence), ttl, now + ttl)


def hold(db: Database, lease: Lease, now: float) -> None:
    """Checks the fence and extends the lease by its ttl; inside the transaction that it protects.

    Raises:
        LeaseLost: somebody else took it.
        StoreError: no write transaction is open.
    """
    if not db.in_transaction:
        raise StoreError("hold() protects a transaction: call it inside atomic()")
    expires_at = now + lease.ttl
    if not db.tuples("leases_hold", {"name": lease.name, "fence": lease.fence, "expires_at": expires_at}):
        raise LeaseLost(f"lease {lease.name} with fence {lease.fence} was taken by somebody else")


def release(db: Database, lease: Lease) -> None:
    """Ends the lease, so that the next need not wait; one that was lost already is left alone."""
    with db.atomic():
        db.run("leases_release", name=lease.name, fence=lease.fence)


def holder(db: Database, name: str, now: float) -> str | None:
    """The owner who holds the lease by the clock, or None; for health."""
    row = db.one("leases_get", name=name)
    return row["owner"] if row is not None and row["expires_at"] > now else None


def _held_by_other(db: Database, name: str, owner: str, ttl: float, now: float, alive: Callable[[str], bool]) -> bool:
    row = db.one("leases_get", name=name)
    if row is None or row["owner"] == owner:
        return False
    return bool(now < row["expires_at"] <= now + 2 * ttl) and alive(row["owner"])
