"""Which failures are tried again, when, and when it is enough."""

from dataclasses import dataclass

from llm.errors import ForkedModel, LlmError, NoModel, Permanent, Transient, Unauthorised
from store.jobs import Job
from workers.backoff import delay
from workers.errors import OUTAGES
from workers.outcomes import Failed, Why

# Wrong settings, not wrong requests: they are put right by people, and then everything that waited goes on.
_SETTINGS = (Unauthorised, NoModel, ForkedModel)


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong with a whole claim. `shared`: with every job of it; `known`: no trace is needed to
    see why."""

    reason: str
    why: Why
    after: float
    shared: bool
    known: bool

    def outcome(self, job: Job) -> Failed:
        """The same for one job."""
        return Failed(job, self.reason, self.why, self.after)


@dataclass(frozen=True, slots=True)
class RetryRules:
    """Seconds and counts. A failure that can pass is final only when the job has both `max_attempts` behind
    it and is older than `patience`, so that an outage of hours kills nothing."""

    max_attempts: int
    first: float
    most: float
    patience: float

    def classify(self, error: Exception) -> Failure:
        """What the handler's error means."""
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, Transient):
            return Failure(reason, "passing", error.retry_after or 0.0, shared=True, known=True)
        if isinstance(error, (*_SETTINGS, *OUTAGES)):
            return Failure(reason, "passing", 0.0, shared=True, known=True)
        if isinstance(error, Permanent):
            return Failure(reason, "lasting", 0.0, shared=False, known=True)
        if isinstance(error, TimeoutError):
            return Failure(f"no result in time: {error}", "passing", 0.0, shared=True, known=True)
        return Failure(reason, "surprise", 0.0, shared=False, known=isinstance(error, LlmError))


def retry_at(failed: Failed, now: float, rules: RetryRules) -> float | None:
    """When the job is due again (unix seconds), or None: it is dead."""
    job = failed.job
    spent = job.attempts >= rules.max_attempts
    if failed.why == "lasting" or (failed.why == "surprise" and spent):
        return None
    if spent and now - job.created_at > rules.patience:
        return None
    return now + max(failed.after, delay(job.attempts, rules.first, rules.most))
