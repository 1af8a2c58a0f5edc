"""How long to wait before the next attempt."""

import random
from collections.abc import Callable


def delay(attempt: int, first: float, most: float, *, jitter: Callable[[], float] = random.random) -> float:
    """Seconds to wait after failed attempt `attempt` (1, 2, ...): doubling from `first` up to `most`, with
    the upper half of it random, so that what failed together does not come back together."""
    whole = min(most, first * 2.0 ** min(attempt - 1, 60))
    return whole * (0.5 + 0.5 * jitter())
