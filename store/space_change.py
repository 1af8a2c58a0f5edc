"""From one embedding space to another: what the new one still lacks, the switch, and the end of the old one.

Searches use the old space until the new one has every row of it. The old one's vectors are then deleted a little at a
time, so that nobody waits for a long transaction.
"""

from dataclasses import dataclass
from typing import NamedTuple

from memory.types import Kind
from store import kinds as kind_codes
from store import spaces
from store.db import Database
from store.spaces import Space

REEMBED = "reembed"
"""Kind of the jobs that fill a space; their subjects begin with its id and a colon."""


class Missing(NamedTuple):
    """A row that has a vector in one space and none in the other."""

    scope_id: int
    key: int
    session_pk: int

    @property
    def row(self) -> tuple[Kind, int]:
        """Its kind and id."""
        return kind_codes.split(self.key)


@dataclass(frozen=True, slots=True)
class Filling:
    """A re-embedding under way: models with their dimensions, and how many of `total` vectors are done."""

    old: str
    old_dimensions: int
    new: str
    new_dimensions: int
    done: int
    total: int


def missing(db: Database, old: Space, new: Space, after: tuple[int, int], limit: int) -> list[Missing]:
    """The next rows that `new` lacks, after a (scope id, key)."""
    found = db.tuples(
        "spaces_missing", {"old": old.id, "new": new.id, "scope_id": after[0], "key": after[1], "limit": limit}
    )
    return [Missing(*row) for row in found]


def switch(db: Database, old: Space, new: Space, now: float) -> bool:
    """Makes searches use `new` and retires all others; False where it still lacks something."""
    with db.atomic():
        if missing(db, old, new, (0, -1), 1):
            return False
        spaces.activate(db, new)
        db.run("spaces_retire_others", id=new.id, now=now)
    return True


def being_filled(db: Database, space: Space) -> bool:
    """A piece of its re-embedding is owed, or dead."""
    return db.value("spaces_being_filled", kind=REEMBED, space_id=space.id) is not None


def filling(db: Database) -> Filling | None:
    """The re-embedding that is under way; None where none is."""
    row = db.one("spaces_filling", kind=REEMBED)
    return None if row is None else Filling(**row)


def forget_retired(db: Database, limit: int) -> int:
    """Deletes up to `limit` vectors and as many cached embeddings of retired spaces; of an empty one the tables. How
    many it deleted."""
    deleted = 0
    for row in db.run("spaces_retired"):
        with db.atomic():
            deleted += _forget(db, Space(row["id"], row["model"], row["dimensions"], bool(row["active"])), limit)
        if deleted >= limit:
            break
    return deleted


def _forget(db: Database, space: Space, limit: int) -> int:
    has_tables = db.has_vec and db.value("spaces_has_table", table=space.table)
    keys = db.tuples("spaces_some_keys", {"id": space.id, "limit": limit})
    if has_tables:
        db.many("vectors_delete_bits", [(key,) for _, key in keys], table=space.table)
        db.many("vectors_delete_floats", [(key,) for _, key in keys], table=space.table)
    db.many("spaces_delete_key", [(space.id, scope_id, key) for scope_id, key in keys])
    cached = len(db.tuples("spaces_delete_cached", {"id": space.id, "limit": limit}))
    if not keys and not cached:
        db.run("spaces_delete_scopes", id=space.id)
        db.run("spaces_delete", id=space.id)
        if has_tables:
            db.script(space.table, f"DROP TABLE {space.table}; DROP TABLE {space.table}_floats")
    return len(keys) + cached
