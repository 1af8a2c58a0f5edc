"""Checkpoints: the compactions of a session, of which one is active.

A checkpoint stands for all messages since the session's start or last reset up to its boundary: for those of the one
it was built on, and for the messages after that. It is begun as pending, under a lease, and ends as success (and
active) or failed. Any number may be under way; what is written last never has the lower boundary.
"""

from dataclasses import dataclass

from memory.types import Scope, StoredMessage
from store.db import Database
from store.errors import LeaseLost
from store.messages import after_seq
from store.scopes import find_scope


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A summary (JSON text of the ten parts) of the session's messages up to `boundary_seq`.

    `token_count` is the summary's own size, `message_count` and `source_tokens` that of what it stands for.
    """

    id: int
    boundary_seq: int
    summary: str
    token_count: int
    message_count: int
    source_tokens: int


@dataclass(frozen=True, slots=True)
class Compacting:
    """What a compaction works with: the active checkpoint, if there is one, and the messages after it.

    `boundary_seq` is how far is to be compacted.
    """

    namespace: str
    boundary_seq: int
    base: Checkpoint | None
    tail: tuple[StoredMessage, ...]


def active(db: Database, scope: Scope) -> Checkpoint | None:
    """The active checkpoint of the session that `scope` names; None after a reset, or where there is none."""
    row = db.one(
        "checkpoints_active",
        namespace=scope.namespace,
        session_id=scope.session_id,
        scope_id=find_scope(db, scope),
    )
    return None if row is None else Checkpoint(**row)


def material(db: Database, session_pk: int, boundary_seq: int, limit: int) -> Compacting | None:
    """What is to be compacted up to `boundary_seq`, or as far as was asked for since, at most `limit` messages; None
    where the session is gone. For the workers; call it within one snapshot."""
    row = db.one("checkpoints_session", session_pk=session_pk)
    if row is None:
        return None
    found = db.one("checkpoints_active_of_session", session_pk=session_pk)
    base = None if found is None else Checkpoint(**found)
    after = base.boundary_seq if base else row["reset_seq"]
    furthest = max(boundary_seq, row["compact_seq"])
    tail = after_seq(db, session_pk, after, furthest, limit)
    return Compacting(row["namespace"], furthest, base, tuple(tail))


def begin(db: Database, session_pk: int, boundary_seq: int, token: str, now: float, lease: float) -> int | None:
    """Marks a compaction up to `boundary_seq` as pending, held by `token` for `lease` seconds; its id.

    None where one with this boundary has succeeded, or is held by somebody else whose job still runs.
    """
    with db.atomic():
        row = db.one(
            "checkpoints_begin",
            session_pk=session_pk,
            boundary_seq=boundary_seq,
            token=token,
            now=now,
            until=now + lease,
        )
    return None if row is None else int(row["id"])


def succeed(
    db: Database,
    checkpoint_id: int,
    token: str,
    *,
    base: Checkpoint | None,
    summary: str,
    token_count: int,
    message_count: int,
    source_tokens: int,
    method: str,
    now: float,
    keep: int,
) -> bool:
    """Makes the pending checkpoint the active one, in one transaction; inactive ones beyond the newest `keep` go.

    Returns:
        False where it came too late: the session was reset, or one with a later boundary is active. It then failed.

    Raises:
        LeaseLost: somebody else holds it; nothing is written.
    """
    with db.atomic():
        values = {"id": checkpoint_id, "token": token, "now": now}
        held = db.one("checkpoints_held", id=checkpoint_id, token=token)
        if held is None:
            raise LeaseLost(f"checkpoint {checkpoint_id} is held by somebody else now")
        late = _late(held)
        if late:
            db.run("checkpoints_fail", **values, reason=late)
            return False
        db.run("checkpoints_retire", session_pk=held["session_pk"], now=now)
        db.run(
            "checkpoints_succeed",
            **values,
            base_id=None if base is None else base.id,
            summary=summary,
            token_count=token_count,
            message_count=message_count,
            source_tokens=source_tokens,
            method=method,
        )
        db.run("checkpoints_trim", session_pk=held["session_pk"], keep=keep)
        return True


def fail(db: Database, checkpoint_id: int, token: str, reason: str, now: float) -> None:
    """Marks the pending checkpoint as failed; one that somebody else holds is left alone."""
    with db.atomic():
        db.run("checkpoints_fail", id=checkpoint_id, token=token, reason=reason, now=now)


def give_up(db: Database, session_pk: int, now: float) -> None:
    """Marks as failed what a worker that died had begun and what is not needed any more: one with a later boundary is
    active, or the session was reset."""
    with db.atomic():
        db.run("checkpoints_give_up", session_pk=session_pk, now=now)


def _late(held: dict[str, int]) -> str | None:
    if held["boundary_seq"] <= held["reset_seq"]:
        return "the session was reset meanwhile"
    if held["boundary_seq"] <= held["active_seq"]:
        return "a later checkpoint is active"
    return None
