"""Whole rows as dicts and back, with whatever columns the table has: for archive, export and import."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from store.db import Database
from store.errors import StoreError


def columns(db: Database, table: str) -> tuple[str, ...]:
    """The table's columns in order."""
    return tuple(name for (name,) in db.tuples("rows_columns", {"table": table}))


def by_ids(db: Database, table: str, ids: Sequence[int]) -> list[dict[str, Any]]:
    """Rows by id, in order of id."""
    names = columns(db, table)
    rows = db.tuples("rows_by_ids", {"ids": json.dumps(list(ids))}, table=table)
    return [dict(zip(names, row, strict=True)) for row in rows]


def of_parent(db: Database, table: str, column: str, values: Iterable[object]) -> list[dict[str, Any]]:
    """Rows whose `column` is one of `values`, in order of id."""
    names = columns(db, table)
    rows = db.tuples("rows_of_parent", {"values": json.dumps(list(values))}, table=f"{table} WHERE {column} IN")
    return [dict(zip(names, row, strict=True)) for row in rows]


def delete(db: Database, table: str, ids: Sequence[int]) -> int:
    """Deletes rows by id; how many there were."""
    return len(db.tuples("rows_delete", {"ids": json.dumps(list(ids))}, table=table))


def insert(db: Database, table: str, row: Mapping[str, Any]) -> bool:
    """Writes a row as it was; False where it collides with one that stands.

    Raises:
        StoreError: it has a column that the table has not: it was written by a newer program.
    """
    unknown = set(row) - set(columns(db, table))
    if unknown:
        raise StoreError(f"{table} has no column {', '.join(sorted(unknown))}: a newer program wrote this row")
    names = ", ".join(row)
    target = f"{table} ({names}) VALUES ({', '.join(f':{name}' for name in row)})"
    return bool(db.tuples("rows_insert", row, table=target))
