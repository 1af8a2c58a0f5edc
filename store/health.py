"""How far behind the workers are, for readers, health and metrics."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memory.types import Scope
from store.db import Database

COUNTED = 1_000
"""Counting stops here for each kind: a reply must not pay for a long backlog."""


@dataclass(frozen=True, slots=True)
class Lag:
    """`owed`: jobs pending or running, by kind, at most `COUNTED` a kind. `oldest`: age in seconds of the
    oldest of them, 0.0 where nothing is owed."""

    owed: Mapping[str, int] = field(default_factory=dict)
    oldest: float = 0.0


def lag(db: Database, scope: Scope | None, now: float) -> Lag:
    """What is still owed, in the scope's namespace or (None) in all of them; jobs that are deferred do not
    count."""
    namespace = None if scope is None else scope.namespace
    rows = db.tuples("health_lag", {"namespace": namespace, "counted": COUNTED})
    oldest = min((created for _, _, created in rows), default=now)
    return Lag({kind: count for kind, count, _ in rows}, max(0.0, now - oldest))
