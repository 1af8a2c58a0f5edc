"""Weights of facts: what answers made of them, and which have faded, expired or are too many."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory.weights import Standing
from store.db import Database, Row


@dataclass(frozen=True, slots=True)
class Weighed:
    """A fact that an answer was given, as it stands."""

    id: int
    memory_id: str
    content: str
    source_session: int | None
    standing: Standing


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, and what it answers."""

    id: int
    content: str
    question: str


class Moved(NamedTuple):
    """What became of one fact's weight; `score` is the share of its words that the answer holds."""

    id: int
    memory_id: str
    weight: float
    used: bool
    score: float


@dataclass(frozen=True, slots=True)
class Living:
    """An active fact, for the upkeep."""

    id: int
    memory_id: str
    scope_id: int
    expires_at: float | None
    standing: Standing


def weighed(db: Database, scope_id: int, memory_ids: Sequence[str]) -> list[Weighed]:
    """Those of `memory_ids` that are active in the scope."""
    rows = db.run("fact_weights_of", scope_id=scope_id, memory_ids=json.dumps(list(memory_ids)))
    return [Weighed(r["id"], r["memory_id"], r["content"], r["source_session"], standing(r)) for r in rows]


def answer(db: Database, session_pk: int, event_id: str | None) -> Answer | None:
    """The answer published as `event_id`, or without one the session's newest; None where it is not stored."""
    name = "fact_weights_last_answer" if event_id is None else "fact_weights_answer"
    found = db.run_on("", name, {"session_pk": session_pk, "event_id": event_id})
    if not found:
        return None
    asked = db.tuples("fact_weights_asked", {"session_pk": session_pk, "turn": found[0]["turn"]})
    return Answer(found[0]["id"], found[0]["content"], "\n".join(text for (text,) in asked))


def move(
    db: Database,
    moved: Sequence[Moved],
    *,
    scope_id: int,
    session_pk: int | None,
    event_id: str,
    answer_id: int,
    at: float,
    now: float,
) -> int:
    """Writes weights, counts of use and the usage log; how many facts were not logged for this event before.

    In a transaction that has read the weights: a fact whose use is logged already is left as it is. `at` is when the
    answer was given, `now` the moment that the weights are of.
    """
    fresh = 0
    for fact in moved:
        line = (fact.memory_id, scope_id, session_pk, int(fact.used), at, event_id, answer_id, fact.score, fact.weight)
        if db.many("fact_weights_log", [line]):
            db.many("fact_weights_move", [(fact.weight, now, int(fact.used), at, fact.id)])
            fresh += 1
    return fresh


def living(db: Database, scope_id: int) -> list[Living]:
    """All active facts of a scope."""
    rows = db.run("fact_weights_active", scope_id=scope_id)
    return [Living(r["id"], r["memory_id"], r["scope_id"], r["expires_at"], standing(r)) for r in rows]


def scopes_with_facts(db: Database, after: int, limit: int) -> list[int]:
    """Scopes that have active facts, with numbers above `after`."""
    return [scope for (scope,) in db.tuples("fact_weights_scopes", {"after": after, "limit": limit})]


def standing(row: Row) -> Standing:
    """What decides how long the fact of a row lives."""
    return Standing(row["weight"], row["weighed_at"], row["importance"], bool(row["pinned"]), bool(row["held"]))
