"""The steps of a night, in their order."""

from store.nightly import Step
from store.nightly_candidates import WeakCandidates
from store.nightly_retention import RetentionStep
from store.nightly_upkeep import (
    CheckpointLog,
    FreePages,
    Integrity,
    OldReports,
    Optimise,
    Orphans,
    StrayFiles,
)


def steps(*own: Step) -> list[Step]:
    """All steps; `own` are those that need more than the store. They come first: what is rolled up may then age out."""
    return [
        *own,
        RetentionStep("timeline", "timeline"),
        WeakCandidates(),
        RetentionStep("facts", "fact"),
        RetentionStep("messages", "message"),
        RetentionStep("summaries", "summary"),
        RetentionStep("runs", "run"),
        RetentionStep("dead_letters", "dead_letter"),
        RetentionStep("usage_log", "usage"),
        RetentionStep("done_jobs", "job"),
        StrayFiles(),
        Orphans(),
        OldReports(),
        Optimise(),
        FreePages(),
        Integrity(),
        CheckpointLog(),
    ]
