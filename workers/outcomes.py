"""How work on a job ends."""

from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

from store.jobs import Job

R = TypeVar("R")

Why: TypeAlias = Literal["passing", "lasting", "surprise"]
"""passing: the service is away or busy; lasting: the same will fail again; surprise: a fault nobody
foresaw."""


@dataclass(frozen=True, slots=True)
class Done(Generic[R]):
    """The job's result; None in it where there is nothing to write (its subject is gone)."""

    job: Job
    result: R


@dataclass(frozen=True, slots=True)
class Failed:
    """Why the job failed. `after` is how many seconds to wait at least, where a service said so."""

    job: Job
    reason: str
    why: Why
    after: float = 0.0

    @property
    def passing(self) -> bool:
        """May pass by itself."""
        return self.why == "passing"


Outcome: TypeAlias = Done[R] | Failed
