"""Circuit breaker: after some failures in a row nothing is sent for a while, then one probe decides."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from threading import Lock
from time import monotonic


class CircuitState(Enum):
    """closed: all pass; open: none pass; half_open: one probe is under way or may be sent."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class Ticket:
    """Leave to send one request. It is given back once, with what became of it."""

    probe: bool
    epoch: int


class CircuitBreaker:
    """Breaker of one provider. Threads and event loops may share it; nothing in it waits.

    Args:
        failures: failures in a row that open the circuit.
        reset: seconds an open circuit refuses before it lets one probe through.
        clock: monotonic seconds.
    """

    def __init__(self, failures: int, reset: float, *, clock: Callable[[], float] = monotonic) -> None:
        self._limit = failures
        self._reset = reset
        self._clock = clock
        self._lock = Lock()
        self._failed = 0
        self._opened_at: float | None = None
        self._probing = False
        self._epoch = 0

    @property
    def state(self) -> CircuitState:
        """How the circuit stands now."""
        with self._lock:
            if self._opened_at is None:
                return CircuitState.CLOSED
            refusing = self._remaining() > 0 and not self._probing
            return CircuitState.OPEN if refusing else CircuitState.HALF_OPEN

    def admit(self) -> Ticket | float:
        """A ticket, or the seconds after which asking again makes sense."""
        with self._lock:
            if self._opened_at is None:
                return Ticket(probe=False, epoch=self._epoch)
            if self._probing:
                return self._reset
            remaining = self._remaining()
            if remaining > 0:
                return remaining
            self._probing = True
            return Ticket(probe=True, epoch=self._epoch)

    def succeeded(self, ticket: Ticket) -> None:
        """The provider answered (be it that it refused): a probe closes the circuit."""
        with self._lock:
            if ticket.epoch != self._epoch:
                return
            self._failed = 0
            if ticket.probe:
                self._probing = False
                self._opened_at = None
                self._epoch += 1

    def failed(self, ticket: Ticket) -> None:
        """The provider failed: a probe opens the circuit anew, else it is counted."""
        with self._lock:
            # Requests that were under way when the circuit changed say nothing about how it stands now.
            if ticket.epoch != self._epoch:
                return
            self._failed += 1
            if ticket.probe or self._failed >= self._limit:
                self._probing = False
                self._failed = 0
                self._opened_at = self._clock()
                self._epoch += 1

    def withdrawn(self, ticket: Ticket) -> None:
        """The request was cancelled before it told anything; the next one may probe."""
        with self._lock:
            if ticket.probe and ticket.epoch == self._epoch:
                self._probing = False

    def _remaining(self) -> float:
        assert self._opened_at is not None
        return self._opened_at + self._reset - self._clock()
