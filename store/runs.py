"""Sub-agent runs and their messages, apart from the main dialogue."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory.types import Scope
from store.db import Database, Row
from store.errors import NotFound
from store.scopes import find_scope


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `status` is running, completed, failed, timed_out or cancelled; times are unix seconds."""

    id: int
    session_id: str
    run_id: str
    agent_id: str
    parent_id: str | None
    brief: str
    report: str | None
    status: str
    started_at: float
    finished_at: float | None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunMessage:
    """One message inside a run; `cut` where the stored text is shorter than what was said."""

    id: int
    event_id: str
    seq: int
    role: str
    content: str
    token_count: int
    cut: bool
    occurred_at: float
    metadata: Mapping[str, Any] = field(default_factory=dict)


def start(
    db: Database,
    *,
    session_pk: int,
    scope_id: int,
    run_id: str,
    agent_id: str,
    brief: str,
    started_at: float,
    parent_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> int:
    """Writes a run, once; its id, also where it stands already."""
    with db.atomic():
        db.run(
            "runs_start",
            session_pk=session_pk,
            scope_id=scope_id,
            run_id=run_id,
            agent_id=agent_id,
            parent_id=parent_id,
            brief=brief,
            started_at=started_at,
            metadata=_json(metadata),
        )
        return int(db.value("runs_find", session_pk=session_pk, run_id=run_id))


def find(db: Database, session_pk: int, run_id: str) -> int | None:
    """The run's id, for the consumer; None where it has not started."""
    found = db.value("runs_find", session_pk=session_pk, run_id=run_id)
    return None if found is None else int(found)


def add_message(
    db: Database,
    run_pk: int,
    *,
    event_id: str,
    role: str,
    content: str,
    token_count: int,
    occurred_at: float,
    cut: bool = False,
    metadata: Mapping[str, Any] | None = None,
) -> int:
    """Appends a message; its seq within the run. A repeat is known by `events`, not here."""
    return int(
        db.value(
            "runs_add_message",
            run_pk=run_pk,
            event_id=event_id,
            role=role,
            content=content,
            token_count=token_count,
            cut=int(cut),
            occurred_at=occurred_at,
            metadata=_json(metadata),
        )
    )


def finish(db: Database, run_pk: int, *, status: str, report: str, finished_at: float) -> bool:
    """Ends a run, once: False where it was over already, and then nothing changes."""
    params = {"id": run_pk, "status": status, "report": report, "finished_at": finished_at}
    with db.atomic():
        return bool(db.tuples("runs_finish", params))


def get(db: Database, scope: Scope, run_id: str) -> Run:
    """A run of the session that `scope` names.

    Raises:
        NotFound: the scope has no such run.
    """
    row = db.one(
        "runs_get",
        scope_id=find_scope(db, scope),
        session_id=scope.session_id,
        namespace=scope.namespace,
        run_id=run_id,
    )
    if row is None:
        raise NotFound(f"no run {run_id} in session {scope.session_id}")
    return _run(row)


def list_runs(db: Database, scope: Scope, limit: int) -> list[Run]:
    """The scope's runs (of its session, if it names one), the newest first."""
    pk = find_scope(db, scope)
    rows = db.run("runs_list", scope_id=pk, session_id=scope.session_id, limit=limit)
    return [_run(row) for row in rows]


def messages(db: Database, scope: Scope, run_id: str) -> list[RunMessage]:
    """A run's messages in order.

    Raises:
        NotFound: the scope has no such run.
    """
    rows = db.run("runs_messages", run_pk=get(db, scope, run_id).id)
    return [RunMessage(**(row | {"cut": bool(row["cut"]), "metadata": json.loads(row["metadata"])})) for row in rows]


def _run(row: Row) -> Run:
    return Run(**(row | {"metadata": json.loads(row["metadata"])}))


def _json(metadata: Mapping[str, Any] | None) -> str:
    return json.dumps(dict(metadata), ensure_ascii=False) if metadata else "{}"
