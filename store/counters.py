"""Counters that survive restarts: messages stored, repeats, dead letters, tokens used and so on."""

from store.db import Database


def bump(db: Database, name: str, by: int = 1) -> None:
    """Adds to a counter; a new one starts at 0."""
    with db.atomic():
        db.run("counters_bump", name=name, by=by)


def get(db: Database, name: str) -> int:
    """A counter's value; 0 where it was never bumped."""
    return int(db.value("counters_get", name=name) or 0)


def all_counters(db: Database) -> dict[str, int]:
    """Every counter by name."""
    return dict(db.tuples("counters_all"))
