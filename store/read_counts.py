"""What readers did, counted in Redis: a reply may not write to SQLite, so a worker folds the counts in later.

Readers add to one hash. A worker renames it under a batch number, adds it to the counters in the transaction that
remembers this number, and then deletes it; whoever is killed in between leaves a batch that is folded in once.
"""

from collections.abc import Mapping
from typing import Final

import redis

from sidestream.keys import Keys
from store import counters
from store.db import Database
from store.redis_client import AsyncRedis

COUNTED: Final = ("l1_triggered", "l1_succeeded", "l2_triggered", "l2_succeeded", "l2_failed", "l2_waiting")
"""What is counted, without the `compaction_` that stands before it in the counters."""

_BATCH = b"batch"
_FOLDED = "read_counts_folded"
_DELETE = """
if redis.call('HGET', KEYS[1], 'batch') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


async def add(client: AsyncRedis, keys: Keys, counts: Mapping[str, int]) -> None:
    """Adds `counts`, all or none.

    Raises:
        one of REDIS_ERRORS: it is not known whether they were added.
    """
    async with client.pipeline(transaction=True) as pipe:
        for name, count in counts.items():
            pipe.hincrby(keys.read_counts, name, count)
        await pipe.execute()


def fold(client: redis.Redis, keys: Keys, db: Database) -> int:
    """Adds what readers counted to the counters, each count once; how many reads' marks there were.

    The client answers in bytes.

    Raises:
        redis.RedisError, StoreError: nothing is lost; the next call goes on.
    """
    batch = _batch(client, keys, db)
    if not batch:
        return 0
    number = int(batch.pop(_BATCH))
    counts = {name: int(text) for name in COUNTED if (text := batch.get(name.encode()))}
    with db.atomic():
        done = counters.get(db, _FOLDED)
        if number > done:
            for name, count in counts.items():
                counters.bump(db, f"compaction_{name}", count)
            counters.bump(db, "read_counts_folded", number - done)
    client.eval(_DELETE, 1, keys.read_counts_folding, str(number))
    return sum(counts.values()) if number > done else 0


def _batch(client: redis.Redis, keys: Keys, db: Database) -> dict[bytes, bytes]:
    """The batch that an earlier call left, else what was counted since, as a new one; empty where there is nothing."""
    found: dict[bytes, bytes] = client.hgetall(keys.read_counts_folding)  # type: ignore[assignment]  # a sync client
    if found or not client.exists(keys.read_counts):
        return found
    number = counters.get(db, _FOLDED) + 1
    pipe = client.pipeline(transaction=True)
    pipe.renamenx(keys.read_counts, keys.read_counts_folding)
    pipe.hsetnx(keys.read_counts_folding, "batch", str(number))
    pipe.hgetall(keys.read_counts_folding)
    # Another worker may have come first: then there is nothing to rename, and its batch is there or done.
    taken: dict[bytes, bytes] = pipe.execute(raise_on_error=False)[-1]
    return taken
