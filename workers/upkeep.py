"""The upkeep of facts: what has faded, expired, or is too much leaves recall, a user at a time."""

import time
from collections.abc import Callable

from memory.upkeep import Candidate, leaving
from memory.weights import WeightPolicy
from store import fact_changes, fact_weights, facts
from store.db import Database

ACTOR = "upkeep"
_SCOPES = 100
_CHUNK = 64


def keep_up(
    db: Database,
    policy: WeightPolicy,
    now: float,
    budget: float,
    *,
    monotonic: Callable[[], float] = time.monotonic,
) -> int:
    """Archives what leaves recall, in short transactions, for about `budget` seconds; how many facts. What is left
    over is found again next time.

    Raises:
        StoreError: SQLite refused.
    """
    end = monotonic() + budget
    archived = after = 0
    while scopes := fact_weights.scopes_with_facts(db, after, _SCOPES):
        for after in scopes:
            archived += keep_up_scope(db, after, policy, now, now)[1]
            if monotonic() >= end:
                return archived
    return archived


def keep_up_scope(db: Database, scope_id: int, policy: WeightPolicy, moment: float, now: float) -> tuple[int, int]:
    """Archives what leaves one scope's recall by `moment`, written as of `now`; how many facts there were, and how
    many left.

    Raises:
        StoreError: SQLite refused.
    """
    living = {fact.id: fact for fact in fact_weights.living(db, scope_id)}
    found = leaving((Candidate(f.id, f.standing, f.expires_at) for f in living.values()), moment, policy)
    archived = 0
    for start in range(0, len(found), _CHUNK):
        with db.atomic():
            for item in found[start : start + _CHUNK]:
                fact = facts.row(db, item.id)
                # Used or changed since it was read: looked at again next time.
                if fact is None or fact.status != "active" or fact.weight != living[item.id].standing.weight:
                    continue
                fact_changes.archive(db, fact, actor=ACTOR, reason=item.reason, now=now)
                archived += 1
    return len(living), archived
