"""Legal holds: while one stands, nothing of what it is on is archived, deleted by age, or erased."""

from dataclasses import dataclass

from store.db import Database
from store.errors import LegalHold, NotFound
from store.scopes import by_id


@dataclass(frozen=True, slots=True)
class Hold:
    """One hold. `user_id` None is on the whole namespace; `created_at` is unix seconds."""

    namespace: str
    user_id: str | None
    reason: str
    created_at: float


def put(db: Database, namespace: str, user_id: str | None, reason: str, now: float) -> None:
    """Puts a hold on a user, or with None on all of a namespace; one that stands gets the new reason."""
    with db.atomic():
        db.run("holds_put", namespace=namespace, user_id=user_id or "", reason=reason, now=now)


def release(db: Database, namespace: str, user_id: str | None) -> None:
    """Ends a hold.

    Raises:
        NotFound: there is none on exactly this.
    """
    with db.atomic():
        if not db.tuples("holds_release", {"namespace": namespace, "user_id": user_id or ""}):
            raise NotFound(f"no hold on {_named(namespace, user_id)}")


def all_holds(db: Database) -> list[Hold]:
    """Every hold."""
    return [Hold(r["namespace"], r["user_id"] or None, r["reason"], r["created_at"]) for r in db.run("holds_list")]


def refuse_held(db: Database, namespace: str, user_id: str) -> None:
    """Lets pass what is under no hold.

    Raises:
        LegalHold: a hold stands on the user or on the namespace.
    """
    reason = db.value("holds_on", namespace=namespace, user_id=user_id)
    if reason is not None:
        raise LegalHold(f"{_named(namespace, user_id)} is under a legal hold: {reason}; release it first")


def refuse_held_scope(db: Database, scope_id: int) -> None:
    """As `refuse_held`, for who has the scope's number from a row."""
    found = by_id(db, scope_id)
    if found is not None:
        refuse_held(db, *found)


def refuse_erasure(db: Database, namespace: str, user_id: str) -> None:
    """Lets pass whom no hold keeps from being erased.

    Raises:
        LegalHold: a hold stands on the user, on the namespace, or on somebody in whose sessions the user spoke.
    """
    refuse_held(db, namespace, user_id)
    reason = db.value("erase_held_hosts", namespace=namespace, user_id=user_id)
    if reason is not None:
        raise LegalHold(
            f"{_named(namespace, user_id)} spoke in a session that is under a legal hold: {reason}; release it first"
        )


def _named(namespace: str, user_id: str | None) -> str:
    return f"namespace {namespace!r}" if user_id is None else f"user {user_id!r} of namespace {namespace!r}"
