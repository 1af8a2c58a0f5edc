"""Scopes: (namespace, user) as one number that stands in every other table."""

from memory.types import Scope
from store.db import Database


def scope_id(db: Database, namespace: str, user_id: str) -> int:
    """The scope's id, made where it is missing; inside a write transaction."""
    found = db.value("scopes_find", namespace=namespace, user_id=user_id)
    if found is None:
        found = db.value("scopes_add", namespace=namespace, user_id=user_id)
    return int(found)


def find_scope(db: Database, scope: Scope) -> int | None:
    """The scope's id, or None for a user nobody has written for: then there is nothing to read."""
    found = db.value("scopes_find", namespace=scope.namespace, user_id=scope.user_id)
    return None if found is None else int(found)


def by_id(db: Database, scope_id: int) -> tuple[str, str] | None:
    """Namespace and user of a scope; for the workers."""
    rows = db.tuples("scopes_by_id", {"id": scope_id})
    return None if not rows else (str(rows[0][0]), str(rows[0][1]))
