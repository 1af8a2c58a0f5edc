"""Publishes a fixed load in a process of its own, by several threads, as many callers of a backend would.

python -m bench.ingest_load {publish|xadd} URL PREFIX RATE COUNT SEED EVERY

Prints a line `<event id> <unix seconds before the publish>` for every EVERYth event, and at the end the
percentiles of the publishes themselves. `xadd` adds the same fields to a stream of its own, without any script.
"""

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

import redis

from sidestream.events import Event, parse_event
from sidestream.ids import new_id
from sidestream.publisher import Publisher

SIZE = 500
SESSIONS = 50
# Divides the sessions, so that each session is published by one thread, in order.
THREADS = 10
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()  # noqa: SIM905 - legible


def contents(seed: int) -> Iterator[str]:
    """Texts of 500 characters from a vocabulary of 8,000 made-up words, frequent and rare as in language."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4))) for _ in range(8_000)]
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(words))))
    while True:
        yield " ".join(rng.choices(words, cum_weights=weights, k=120))[:SIZE].strip()


def events(seed: int, count: int) -> Iterator[Event]:
    """`count` messages in 50 interleaved sessions, users and answers in turn."""
    texts = contents(seed)
    for number in range(count):
        session = number % SESSIONS
        yield parse_event(
            {
                "type": "message",
                "id": new_id(),
                "session_id": f"bench-{session}",
                "user_id": f"user-{session}",
                "role": "assistant" if number // SESSIONS % 2 else "user",
                "content": next(texts),
            }
        )


def percentiles(values: list[float]) -> tuple[float, float, float]:
    """p50, p95 and p99."""
    ordered = sorted(values)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))]

    return at(0.5), at(0.95), at(0.99)


def main() -> None:
    """Publishes at an even rate; falls behind rather than skip an event."""
    how, url, prefix, rate, count, seed, every = sys.argv[1:]
    prepared = list(events(int(seed), int(count)))
    with Publisher(url, prefix=prefix, spool_dir=None) as publisher:
        raw = redis.Redis.from_url(url)
        send = publisher.publish if how == "publish" else _adder(raw)
        send(next(events(int(seed) + 1, 1)))
        taken = load(prepared, float(rate), int(every), send)
        raw.close()
    print("done", *map(repr, taken), flush=True)


def load(prepared: list[Event], rate: float, every: int, send: Callable[[Event], object]) -> tuple[float, ...]:
    """The rate that was reached, and p50, p95 and p99 of one call in seconds."""
    taken = [0.0] * len(prepared)
    start = time.perf_counter() + 0.1

    def publish(first: int) -> None:
        for number in range(first, len(prepared), THREADS):
            ahead = start + number / rate - time.perf_counter()
            if ahead > 0:
                time.sleep(ahead)
            before = time.time()
            send(prepared[number])
            taken[number] = time.time() - before
            if number % every == 0:
                sys.stdout.write(f"{prepared[number].id} {before!r}\n")
                sys.stdout.flush()

    threads = [threading.Thread(target=publish, args=(first,)) for first in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (len(prepared) / (time.perf_counter() - start), *percentiles(taken))


def _adder(client: redis.Redis) -> Callable[[Event], object]:
    def add(event: Event) -> object:
        fields: dict[Any, Any] = dict(event.to_fields())
        return client.xadd("raw", fields)

    return add


if __name__ == "__main__":
    main()
