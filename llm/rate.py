"""Token bucket: so many requests a minute, in bursts no larger than a few seconds' worth."""

from collections.abc import Callable
from threading import Lock
from time import monotonic


class TokenBucket:
    """Rate limit of one provider. `reserve` never waits itself; it says how long to wait.

    Args:
        per_minute: requests a minute, over time.
        burst: requests that may go at once after a pause; default a tenth of a minute's, at least 1.
        clock: monotonic seconds.
    """

    def __init__(self, per_minute: int, *, burst: int | None = None, clock: Callable[[], float] = monotonic) -> None:
        self._rate = per_minute / 60
        self._burst = float(burst if burst is not None else max(1, per_minute // 10))
        self._clock = clock
        self._lock = Lock()
        self._tokens = self._burst
        self._filled_at = clock()
        self._paused_until = self._filled_at

    def reserve(self, patience: float) -> float:
        """Seconds to wait before sending. Up to `patience` the place is taken; beyond it, nothing is."""
        with self._lock:
            now = self._clock()
            self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._rate)
            self._filled_at = now
            wait = max((1 - self._tokens) / self._rate, self._paused_until - now, 0.0)
            if wait <= patience:
                self._tokens -= 1
            return wait

    def pause(self, seconds: float) -> None:
        """Nothing is sent for `seconds`: the patience a provider asked of one request holds for all."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._clock() + seconds)

    def refund(self) -> None:
        """Gives back a place that was reserved and not used."""
        with self._lock:
            self._tokens = min(self._burst, self._tokens + 1)
