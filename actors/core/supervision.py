"""What happens after a crash: how often an actor is restarted, and how long it waits before each time."""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """Restarts with a wait that doubles; a message that was handled well forgets earlier crashes.

    Attributes:
        restarts: crashes in a row that are answered with a restart; the next one makes the actor give up.
        first_wait: seconds before the first restart.
        longest_wait: bound of the doubling.
        redeliver: the message at which it crashed is handled again, and its asker hears only of the outcome.
            Without it the asker gets the error at once and the message is dropped.
    """

    restarts: int = 3
    first_wait: float = 0.05
    longest_wait: float = 5.0
    redeliver: bool = False

    def wait(self, crashes: int) -> float | None:
        """Seconds to wait after the `crashes`-th crash in a row; None when that was one too many."""
        if crashes > self.restarts:
            return None
        # The exponent is bounded so that a policy with many restarts does not overflow a float.
        return float(min(self.longest_wait, self.first_wait * 2.0 ** min(crashes - 1, 60)))


@dataclass(frozen=True, slots=True)
class ChildFailed:
    """Tells a parent that a child gave up. `error` is its last crash."""

    name: str
    error: Exception


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that no actor will handle."""

    actor: str
    message: Any
    reason: str


class Graveyard(Protocol):
    """Where messages go that no actor will handle."""

    def bury(self, letter: DeadLetter) -> None:
        """Records one."""
        ...
