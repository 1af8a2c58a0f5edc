"""Embedding spaces: one a (model, dimensions), each with its own table of vectors."""

from dataclasses import dataclass

from store.db import Database, Row


@dataclass(frozen=True, slots=True)
class Space:
    """Vectors are comparable only within one. Searches use the active one."""

    id: int
    model: str
    dimensions: int
    active: bool

    @property
    def table(self) -> str:
        """Name of its virtual table of bits; the vectors themselves stand in `<table>_floats`."""
        return f"vec_{int(self.id)}"


def ensure_space(db: Database, model: str, dimensions: int, now: float) -> Space:
    """The space of this model, made where it is missing; the first one ever becomes the active one.

    Where sqlite-vec is not loaded the row is made without its tables, which the next call with it makes.

    Raises:
        ValueError: sqlite-vec keeps bits by eights, so the dimensions must be a multiple of 8.
    """
    if dimensions < 8 or dimensions % 8:
        raise ValueError(f"{dimensions} dimensions: a positive multiple of 8 is needed")
    found = _find(db, model, dimensions)
    if found is not None:
        db.run("spaces_keep", id=found.id)
    if found is not None and (not db.has_vec or db.value("spaces_has_table", table=found.table)):
        return found
    with db.atomic():
        db.run("spaces_add", model=model, dimensions=dimensions, now=now)
        row = db.one("spaces_find", model=model, dimensions=dimensions)
        assert row is not None
        space = _space(row)
        if db.has_vec:
            db.script(space.table, bits_table(space.table, dimensions))
            db.script(space.table, _FLOATS.format(table=space.table))
    return space


def active_space(db: Database) -> Space | None:
    """The space that searches use; None before the first."""
    row = db.one("spaces_active")
    return None if row is None else _space(row)


def all_spaces(db: Database) -> list[Space]:
    """Every space, oldest first."""
    return [_space(row) for row in db.run("spaces_all")]


def activate(db: Database, space: Space) -> None:
    """Makes searches use this space; after everything was embedded into it."""
    with db.atomic():
        db.run("spaces_deactivate")
        db.run("spaces_activate", id=space.id)


def _find(db: Database, model: str, dimensions: int) -> Space | None:
    row = db.one("spaces_find", model=model, dimensions=dimensions)
    return None if row is None else _space(row)


def _space(row: Row) -> Space:
    return Space(row["id"], row["model"], row["dimensions"], bool(row["active"]))


CHUNK_SIZE = 16
"""vec0 takes room for so many vectors of a partition at a time: more wastes space on small users, fewer cost large ones
time (docs/benchmarks.md)."""


def bits_table(name: str, dimensions: int, chunk_size: int = CHUNK_SIZE) -> str:
    """The statement that makes a table of bits."""
    return _BITS.format(table=name, dimensions=dimensions, chunk_size=chunk_size)


_BITS = """
CREATE VIRTUAL TABLE IF NOT EXISTS {table} USING vec0 (
    key INTEGER PRIMARY KEY,
    scope_id INTEGER PARTITION KEY,
    kind INTEGER,
    session_pk INTEGER,
    bits bit[{dimensions}],
    chunk_size={chunk_size}
)
"""
_FLOATS = "CREATE TABLE IF NOT EXISTS {table}_floats (key INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT"
