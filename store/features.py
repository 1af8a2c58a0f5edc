"""What ranking needs to know of candidates before any of them is read: where each stands, how long it is, whether it
asks."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memory.types import Kind
from store import kinds as kind_codes
from store.db import Database

_STATEMENTS: dict[Kind, str] = {
    "message": "features_messages",
    "summary": "features_summaries",
    "fact": "features_facts",
    "timeline": "features_timeline",
}


class Features(NamedTuple):
    """One row.

    `before` and `after` are the keys of the messages beside it in its session, None for none. `size` is in tokens;
    `prior` is the mean of confidence, importance and weight, 0 for messages.
    """

    key: int
    session_pk: int | None
    before: int | None
    after: int | None
    size: float
    at: float
    name: str | None
    asks: int
    prior: float
    confidence: float


class SessionSize(NamedTuple):
    """A session's messages and their tokens."""

    messages: int
    tokens: int


class ScopeSize(NamedTuple):
    """Sessions of a scope, their messages, and the tokens of these."""

    sessions: int
    messages: int
    tokens: float


def of_keys(db: Database, scope_id: int, keys: Iterable[int]) -> list[Features]:
    """Of those keys whose rows are in the scope."""
    wanted: dict[Kind, list[int]] = {}
    for key in keys:
        kind, row_id = kind_codes.split(key)
        wanted.setdefault(kind, []).append(row_id)
    found: list[Features] = []
    for kind, ids in wanted.items():
        rows = db.tuples(_STATEMENTS[kind], {"ids": json.dumps(ids), "scope_id": scope_id})
        found += map(Features._make, rows)
    return found


def session_sizes(db: Database, session_pks: Sequence[int]) -> dict[int, SessionSize]:
    """Sizes of sessions, which come from rows of a scope."""
    rows = db.tuples("features_sessions", {"ids": json.dumps(list(session_pks))})
    return {pk: SessionSize(messages, tokens) for pk, messages, tokens in rows}


def scope_size(db: Database, scope_id: int) -> ScopeSize:
    """How much there is in a scope."""
    return ScopeSize(*db.tuples("features_scope", {"scope_id": scope_id})[0])


def newest(db: Database, scope_id: int, limit: int) -> list[int]:
    """Keys of the scope's newest messages by when they were stored."""
    return [key for (key,) in db.tuples("features_newest", {"scope_id": scope_id, "limit": limit})]


def within(db: Database, scope_id: int, start: float, end: float, limit: int) -> list[int]:
    """Keys of the scope's newest messages in [start, end)."""
    params = {"scope_id": scope_id, "start": start, "end": end, "limit": limit}
    return [key for (key,) in db.tuples("features_within", params)]


def unindexed(db: Database, scope_id: int, keys: Iterable[int]) -> list[tuple[int, str]]:
    """Of those keys the ones that stand in no index, with their text: the timeline, and facts that are not active."""
    ids: dict[Kind, list[int]] = {"fact": [], "timeline": []}
    for key in keys:
        kind, row_id = kind_codes.split(key)
        ids.setdefault(kind, []).append(row_id)
    params = {"facts": json.dumps(ids["fact"]), "entries": json.dumps(ids["timeline"]), "scope_id": scope_id}
    return [(key, text) for key, text in db.tuples("features_unindexed", params)]
