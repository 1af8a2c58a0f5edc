"""Checkpoints: the one active compaction of a session."""

from dataclasses import dataclass

from memory.types import Scope
from store.db import Database
from store.scopes import find_scope


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A summary of the session's messages up to `boundary_seq`; `token_count` is the summary's own size."""

    boundary_seq: int
    summary: str
    token_count: int


def active(db: Database, scope: Scope) -> Checkpoint | None:
    """The active checkpoint of the session that `scope` names; None after a reset, or where there is none."""
    row = db.one(
        "checkpoints_active",
        namespace=scope.namespace,
        session_id=scope.session_id,
        scope_id=find_scope(db, scope),
    )
    return None if row is None else Checkpoint(**row)
