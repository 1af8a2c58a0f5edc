"""What a scope says in the store's own numbers: whose rows, and of which session if it names one."""

from dataclasses import dataclass

from memory.types import Scope
from store.db import Database


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A scope that exists. `session_pk` is None where it names no session."""

    scope_id: int
    session_pk: int | None


def narrow(db: Database, scope: Scope) -> Narrowed | None:
    """The scope's numbers; None where its user, or the session it names, has nothing: then nothing may be
    found."""
    row = db.one("scopes_narrow", namespace=scope.namespace, user_id=scope.user_id, session_id=scope.session_id)
    if row is None or (scope.session_id is not None and row["session_pk"] is None):
        return None
    return Narrowed(row["scope_id"], row["session_pk"])
