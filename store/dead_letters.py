"""Dead letters: what could not be processed, with its reason, until somebody replays or discards it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from store.db import Database, Row
from store.errors import NotFound

Source: TypeAlias = Literal["event", "job"]
Status: TypeAlias = Literal["dead", "replayed", "discarded"]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One dead letter. `ref` is the stream entry's id or the job's; `body` the entry's fields, or the
    job's kind, subject, payload and attempts. Times are unix seconds."""

    id: int
    source: Source
    ref: str
    namespace: str
    event_id: str | None
    reason: str
    body: Mapping[str, Any]
    status: Status
    created_at: float
    updated_at: float


def bury(
    db: Database, source: Source, ref: str, namespace: str, reason: str, body: Mapping[str, Any], now: float
) -> int:
    """Writes a dead letter, or brings the standing one of that source and ref up to date; its id."""
    event_id = None
    if source == "event":
        named = body.get("id")
        event_id = named if isinstance(named, str) and named else ref
    text = json.dumps(dict(body), ensure_ascii=False, default=str)
    return int(
        db.value(
            "dead_letters_bury",
            source=source,
            ref=ref,
            namespace=namespace,
            event_id=event_id,
            reason=reason,
            body=text,
            now=now,
        )
    )


def list_dead(
    db: Database,
    *,
    status: Status | None = "dead",
    source: Source | None = None,
    namespace: str | None = None,
    limit: int = 100,
    before_id: int | None = None,
) -> list[DeadLetter]:
    """The newest first; None means any. `before_id` pages on."""
    rows = db.run(
        "dead_letters_list",
        status=status,
        source=source,
        namespace=namespace,
        limit=limit,
        before_id=before_id,
    )
    return [_letter(row) for row in rows]


def get(db: Database, letter_id: int) -> DeadLetter:
    """One dead letter.

    Raises:
        NotFound: there is none of that id.
    """
    row = db.one("dead_letters_get", id=letter_id)
    if row is None:
        raise NotFound(f"no dead letter {letter_id}")
    return _letter(row)


def mark(db: Database, letter_id: int, status: Status, now: float | None = None) -> None:
    """Says what became of it.

    Raises:
        NotFound: there is none of that id.
    """
    now = db.clock() if now is None else now
    with db.atomic():
        if not db.tuples("dead_letters_mark", {"id": letter_id, "status": status, "now": now}):
            raise NotFound(f"no dead letter {letter_id}")


def count(db: Database) -> int:
    """How many are still dead."""
    return int(db.value("dead_letters_count"))


def newest(db: Database) -> int:
    """Number of the newest, 0 where there never was one."""
    return int(db.value("dead_letters_newest"))


def count_since(db: Database, number: int) -> int:
    """How many of those that came after dead letter `number` are still dead."""
    return int(db.value("dead_letters_since", id=number))


def _letter(row: Row) -> DeadLetter:
    return DeadLetter(**(row | {"body": json.loads(row["body"])}))
