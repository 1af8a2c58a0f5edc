"""The checkpoint that stands in for a session's older messages, read for a context."""

from dataclasses import dataclass, field
from functools import lru_cache

from pydantic import ValidationError

from memory.compaction.parts import ActiveCheckpoint, Parts
from memory.compaction.thresholds import CompactionRules
from memory.types import Degraded, Scope
from store import checkpoints
from store.db import Database
from store.sessions import SessionRow

_MOST_PARSED = 256


@dataclass(frozen=True, slots=True)
class Reused:
    """Whether the session is so long that a checkpoint is to stand in for older messages (`due`), and the one that
    does."""

    due: bool = False
    checkpoint: ActiveCheckpoint | None = None
    degraded: list[Degraded] = field(default_factory=list)


def read_checkpoint(
    db: Database, scope: Scope, session: SessionRow | None, rules: CompactionRules, model_window: int
) -> Reused:
    """For a model with a window of so many tokens; call it within the snapshot in which the window is read.

    A checkpoint that cannot be read is a note, and the messages stand for themselves.
    """
    if session is None:
        return Reused()
    tokens, count = session.token_count - session.reset_tokens, session.last_seq - session.reset_seq
    if not rules.reuse(tokens, count, model_window):
        return Reused()
    found = checkpoints.active(db, scope)
    if found is None:
        return Reused(due=True)
    try:
        parts = _parsed(found.summary)
    except ValidationError:
        return Reused(due=True, degraded=[Degraded("checkpoint", f"checkpoint {found.id} cannot be read")])
    return Reused(True, ActiveCheckpoint(found.id, found.boundary_seq, parts))


@lru_cache(maxsize=_MOST_PARSED)
def _parsed(summary: str) -> Parts:
    """The same text for many replies, until the next compaction."""
    return Parts.model_validate_json(summary)
