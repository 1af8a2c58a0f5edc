"""What a simulated year measures, as tables."""

from collections.abc import Sequence
from typing import NamedTuple

from bench.ingest_load import percentiles
from bench.table import Cell, Table

_MIB = 1024 * 1024


class Night(NamedTuple):
    """One night: rows that were archived or deleted, seconds in all, and seconds of what is done whatever there is."""

    changed: int
    seconds: float
    fixed: float


class Week(NamedTuple):
    """How it stands after a day: messages ever, live ones, rows of the ledger, bytes, and the share recalled."""

    day: int
    ever: int
    live: int
    ledger: int
    bytes: int
    archive_bytes: int
    recalled: float


def size_table(weeks: Sequence[Week]) -> Table:
    """The database's size over the year."""
    shown = weeks[3::4] if len(weeks) > 12 else weeks
    shown = shown if shown[-1] is weeks[-1] else [*shown, weeks[-1]]
    rows: list[list[Cell]] = [
        [w.day, w.ever, w.live, w.bytes / _MIB, w.bytes / w.live, w.ledger, w.archive_bytes / _MIB, w.recalled]
        for w in shown
    ]
    return Table(
        "The database over a simulated year",
        ["day", "messages ever", "live", "MiB", "bytes a live message", "ledger rows", "archive MiB", "recalled"],
        rows,
        "A live message is 200 characters with its vector of 64 dimensions in bits and floats, full text, and its "
        "share of summaries, jobs and the bounded cache of embeddings. The ledger of events keeps a row an event for "
        "good, so that a repeat is known after its message is gone: it is what still grows when the rest is level. "
        "*Recalled*: of what users said and is kept, the share that a search for its own word finds in the first ten.",
    )


def nights_table(nights: Sequence[Night]) -> Table:
    """What the nights took."""
    busy = [night for night in nights if night.changed]
    per_row = [1000 * (night.seconds - night.fixed) / night.changed for night in busy]
    p50, p95, p99 = percentiles([night.seconds for night in nights])
    r50, r95, r99 = percentiles(per_row)
    return Table(
        "The nights",
        ["", "p50", "p95", "p99", "most"],
        [
            ["a night, seconds", p50, p95, p99, max(night.seconds for night in nights)],
            ["a changed row, milliseconds", r50, r95, r99, max(per_row)],
            ["rows changed", *percentiles([float(n.changed) for n in busy]), max(n.changed for n in busy)],
        ],
        f"{len(nights)} nights without the pauses between transactions. The time a row leaves out what a night does "
        "whatever there is: the integrity check, the look for orphans, the checkpoint.",
    )


def truth_table(found: Sequence[tuple[str, Cell]]) -> Table:
    """What became of every message."""
    return Table("Every message is live or archived, and comes back", ["", ""], [list(row) for row in found])
