"""Publishes a fixed load in a process of its own.

python -m bench.ingest_load URL PREFIX RATE COUNT SEED EVERY

Prints a line `<event id> <unix seconds before the publish>` for every EVERYth event, and at the end the
percentiles of the publishes themselves.
"""

import random
import sys
import time
from collections.abc import Iterator
from itertools import accumulate

from sidestream.events import Event, parse_event
from sidestream.ids import new_id
from sidestream.publisher import Publisher

SIZE = 500
SESSIONS = 50
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
    url, prefix, rate, count, seed, every = sys.argv[1:]
    taken = []
    prepared = list(events(int(seed), int(count)))
    with Publisher(url, prefix=prefix, spool_dir=None) as publisher:
        start = time.perf_counter()
        for number, event in enumerate(prepared):
            ahead = start + number / float(rate) - time.perf_counter()
            if ahead > 0:
                time.sleep(ahead)
            before = time.time()
            publisher.publish(event)
            taken.append(time.time() - before)
            if number % int(every) == 0:
                print(event.id, repr(before), flush=True)
        seconds = time.perf_counter() - start
    print("done", *map(repr, (len(prepared) / seconds, *percentiles(taken))), flush=True)


if __name__ == "__main__":
    main()
