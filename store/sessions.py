"""Sessions: who they belong to, their counters and their open turn."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from memory.types import Scope
from store.db import Database, Row
from store.scopes import find_scope


@dataclass(slots=True)
class SessionRow:
    """One row of `sessions`, to be changed in place and saved. `id` is 0 until it is created.

    `turn_count` is the newest turn's number (the first is 1), `open_turn` that of the open one.
    `compact_seq` is the last boundary up to which compaction was asked for, and `compact_tokens` the `token_count` of
    then; `reset_tokens` is that of the last reset. `timeline_seq` is the last message that the timeline was asked to
    tell of. `last_activity` is by the ingest clock; all times are unix seconds.
    """

    namespace: str
    session_id: str
    scope_id: int
    started_at: float
    last_activity: float
    id: int = 0
    agent_id: str | None = None
    data_source: str | None = None
    shared: bool = False
    last_seq: int = 0
    turn_count: int = 0
    open_turn: int | None = None
    open_turn_id: str | None = None
    open_tool_calls: tuple[str, ...] = ()
    closed_turns: int = 0
    extracted_turn: int = 0
    compact_seq: int = 0
    compact_tokens: int = 0
    reset_seq: int = 0
    reset_tokens: int = 0
    timeline_seq: int = 0
    message_count: int = 0
    token_count: int = 0
    ended_at: float | None = None
    extracted_at: float | None = None


_FIELDS = tuple(field.name for field in fields(SessionRow))


def load_many(db: Database, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], SessionRow]:
    """Sessions by (namespace, session id), for those that exist."""
    rows = db.run("sessions_load", pairs=json.dumps(list(pairs)))
    return {(row["namespace"], row["session_id"]): _session(row) for row in rows}


def create(db: Database, row: SessionRow) -> SessionRow:
    """Inserts it and sets its `id`; the same object.

    Raises:
        StoreConflict: the namespace has a session of that id.
    """
    row.id = int(db.value("sessions_create", **_params(row)))
    return row


def save_many(db: Database, rows: Sequence[SessionRow]) -> None:
    """Writes all that can change of existing sessions."""
    db.many("sessions_save", [_params(row) for row in rows])


def idle_open(db: Database, before: float, limit: int) -> list[SessionRow]:
    """Sessions without activity since `before` that have an open turn, turns that no extraction window covers, or
    messages that the timeline does not tell of; the longest idle first."""
    return [_session(row) for row in db.run("sessions_idle", before=before, limit=limit)]


def heal_clock(db: Database, now: float, step: float) -> int:
    """Moves to now the last activity of unfinished sessions that lies more than `step` seconds ahead: the clock was
    set back since, and they would not count as idle for as long. How many."""
    if not db.value("sessions_from_the_future", horizon=now + step):
        return 0
    with db.atomic():
        return len(db.tuples("sessions_heal_clock", {"now": now, "horizon": now + step}))


def waiting(db: Database, every: int, rested: float, now: float, limit: int) -> list[SessionRow]:
    """Sessions with `every` closed turns that no extraction window covers, whose last window is as old as `rested` (or
    of the future: the clock was set back)."""
    rows = db.run("sessions_waiting", every=every, rested=rested, now=now, limit=limit)
    return [_session(row) for row in rows]


def by_pk(db: Database, session_pk: int) -> SessionRow | None:
    """The session by its number; for the workers."""
    row = db.one("sessions_by_pk", id=session_pk)
    return None if row is None else _session(row)


def list_sessions(db: Database, scope: Scope, limit: int) -> list[SessionRow]:
    """The scope's own sessions, the most recent first."""
    pk = find_scope(db, scope)
    if pk is None:
        return []
    return [_session(row) for row in db.run("sessions_list", scope_id=pk, limit=limit)]


def get(db: Database, scope: Scope) -> SessionRow | None:
    """The session that `scope` names, if it is the scope's own or shared within the namespace."""
    row = db.one("sessions_get", namespace=scope.namespace, session_id=scope.session_id, scope_id=find_scope(db, scope))
    return None if row is None else _session(row)


def owner(db: Database, namespace: str, session_id: str) -> tuple[str, bool] | None:
    """Whose the session is, and whether it is shared; None where nothing of it is stored."""
    row = db.one("sessions_owner", namespace=namespace, session_id=session_id)
    return None if row is None else (row["user_id"], bool(row["shared"]))


def _params(row: SessionRow) -> dict[str, Any]:
    # asdict() copies deeply, which costs the consumer more than the statement itself.
    values = {name: getattr(row, name) for name in _FIELDS}
    values["shared"] = int(row.shared)
    values["open_tool_calls"] = json.dumps(row.open_tool_calls) if row.open_tool_calls else "[]"
    return values


def _session(row: Row) -> SessionRow:
    row["shared"] = bool(row["shared"])
    row["open_tool_calls"] = () if row["open_tool_calls"] == "[]" else tuple(json.loads(row["open_tool_calls"]))
    return SessionRow(**row)
