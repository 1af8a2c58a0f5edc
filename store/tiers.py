"""Where memories are: hot (waiting in Redis), warm (SQLite), cold (the archive)."""

from typing import Any

from store.db import Database


def warm(db: Database) -> dict[str, int]:
    """Rows that are kept, by kind, and the file's `bytes`."""
    counts = dict(db.tuples("tiers_warm"))
    return {**counts, "bytes": int(db.pragma("page_count")) * int(db.pragma("page_size"))}


def cold(db: Database) -> dict[str, int]:
    """Items of the archive by kind, its `files` and `bytes`."""
    items = dict(db.tuples("tiers_cold"))
    totals = db.run("archive_totals")[0]
    return {**items, "files": int(totals["files"]), "bytes": int(totals["bytes"])}


def hot(client: Any, events: str, tails: str) -> dict[str, int]:
    """Events that wait in the stream, sessions with a tail, their `entries`, and `bytes` of all.

    Raises:
        redis.RedisError: Redis is away.
    """
    keys = list(client.scan_iter(match=f"{tails}*", count=500))
    pipe = client.pipeline(transaction=False)
    for key in keys:
        pipe.xlen(key)
        pipe.memory_usage(key)
    found = pipe.execute()
    entries, sizes = found[::2], found[1::2]
    own = client.memory_usage(events) or 0
    return {
        "events": int(client.xlen(events)),
        "tails": len(keys),
        "entries": sum(entries),
        "bytes": own + sum(size or 0 for size in sizes),
    }
