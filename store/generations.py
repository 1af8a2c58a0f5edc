"""Generations of facts: what another extractor makes of chosen sessions, kept beside the facts that stand until a
person switches to it or drops it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from memory.facts.model import Draft, Fact
from memory.types import Scope
from store.db import Database, Row
from store.errors import NotFound, WrongState
from store.scopes import find_scope

State: TypeAlias = Literal["building", "ready", "switching", "active", "dropped"]
_LISTS = ("ends", "tags", "source_ids", "replaces")


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation. `model` None: the rules; `prompt` is a text in place of the configured one; `sessions` are
    numbers of sessions, of which `sessions_left` are still to be read (building) or let in (switching)."""

    id: int
    scope_id: int
    namespace: str
    user_id: str
    state: State
    model: str | None
    prompt: str | None
    sessions: tuple[int, ...]
    sessions_left: int
    actor: str
    reason: str
    created_at: float


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft of a generation, by its place in its session; `extractor` says what read it."""

    session_pk: int
    place: int
    extractor: str
    draft: Draft


def sessions_of(db: Database, scope: Scope, named: Sequence[str] | None) -> dict[int, str]:
    """Number and id of the user's sessions that are named (None: all), the oldest first.

    Raises:
        NotFound: one of them is not the user's, or the user has none.
    """
    pk = find_scope(db, scope)
    wanted = None if named is None else json.dumps(list(named))
    found = {} if pk is None else dict(db.tuples("generations_sessions", {"scope_id": pk, "named": wanted}))
    missing = sorted(set(named or ()) - set(found.values()))
    if missing or not found:
        raise NotFound(f"user {scope.user_id} has no session {', '.join(missing)}" if missing else _NONE.format(scope))
    return found


def begin(
    db: Database,
    scope: Scope,
    sessions: Sequence[int],
    *,
    model: str | None,
    prompt: str | None,
    actor: str,
    reason: str,
    now: float,
) -> int:
    """A new generation, in state building; its number. In the transaction that owes the work."""
    params = {
        "scope_id": find_scope(db, scope),
        "model": model,
        "prompt": prompt,
        "actor": actor,
        "reason": reason,
        "now": now,
    }
    return int(db.value("generations_insert", **params, sessions=json.dumps(list(sessions))))


def get(db: Database, number: int) -> Generation:
    """One generation.

    Raises:
        NotFound: there is none of that number.
    """
    row = db.one("generations_get", id=number)
    if row is None:
        raise NotFound(f"no generation {number}")
    return _generation(row)


def listed(db: Database, namespace: str, user_id: str | None, limit: int) -> list[Generation]:
    """Generations of a user, or of all of the namespace, the newest first."""
    rows = db.run("generations_list", namespace=namespace, user_id=user_id, limit=limit)
    return [_generation(row) for row in rows]


def move(db: Database, number: int, state: State, now: float, *, from_states: Sequence[State]) -> None:
    """From one state to the next.

    Raises:
        WrongState: it is in none of `from_states`; the text says in which.
    """
    params = {"id": number, "state": state, "now": now, "from_states": json.dumps(list(from_states))}
    if not db.tuples("generations_move", params):
        present = get(db, number).state
        raise WrongState(f"generation {number} is {present}; it must be {' or '.join(from_states)}")


def one_done(db: Database, number: int, state: State, now: float) -> None:
    """One session was read or let in; the last of them makes the generation ready, or active. In the transaction that
    finishes its job. A generation in another state than `state` (it was dropped) stays as it is."""
    db.run("generations_one_done", id=number, state=state, now=now)


def put(db: Database, number: int, session_pk: int, extractor: str, drafts: Sequence[Draft]) -> None:
    """The drafts of one session, in place of those that it had."""
    db.run("generations_forget_drafts", id=number, session_pk=session_pk, last=None)
    lines = [
        (number, session_pk, place, extractor, json.dumps(asdict(draft), ensure_ascii=False))
        for place, draft in enumerate(drafts)
    ]
    db.many("generations_add_draft", lines)


def forget_drafts(db: Database, number: int, session_pk: int | None = None, last: int | None = None) -> None:
    """The drafts of one session (up to the place `last`), once they were let in, or of all: nothing is kept for longer
    than needed."""
    db.run("generations_forget_drafts", id=number, session_pk=session_pk, last=last)


def drafts(db: Database, number: int, session_pk: int | None = None, limit: int = -1) -> list[Drafted]:
    """The generation's drafts, in the order in which things were said, of one session, or of all; `limit` of them, or
    with -1 all."""
    rows = db.run("generations_drafts", id=number, session_pk=session_pk, limit=limit)
    return [Drafted(r["session_pk"], r["place"], r["extractor"], _draft(json.loads(r["draft"]))) for r in rows]


def replaced(db: Database, generation: Generation, limit: int = -1) -> list[Fact]:
    """The facts whose place it would take, `limit` of them, or with -1 all. What a person wrote, pinned, weighed or let
    in is not among them, nor what stands on messages of other sessions too, nor what was learnt since it was begun."""
    params = {"scope_id": generation.scope_id, "sessions": json.dumps(list(generation.sessions)), "limit": limit}
    rows = db.run("generations_replaced", **params, begun=generation.created_at)
    return [Fact.of_row(row) for row in rows]


_NONE = "user {0.user_id} has no sessions"


def _generation(row: Row) -> Generation:
    return Generation(**{**row, "sessions": tuple(json.loads(row["sessions"]))})


def _draft(values: dict[str, Any]) -> Draft:
    for name in _LISTS:
        values[name] = tuple(values[name])
    return Draft(**values)
