"""The kinds of work: which are done today, on which queue, and which wait for a handler of their own."""

from typing import Final

from store import space_change

INGEST: Final = "ingest"
MAINTAIN: Final = "maintain"

EMBED: Final = "embed"
REEMBED: Final = space_change.REEMBED
SUMMARISE: Final = "summarise"
EXTRACT: Final = "extract"
COMPACT: Final = "compact"
TIMELINE: Final = "timeline"
REMEMBER: Final = "remember"
FORGET: Final = "forget"
FEEDBACK: Final = "feedback"
ADJUST: Final = "adjust"
REEXTRACT: Final = "reextract"
SWITCH: Final = "switch_generation"

QUEUES: Final = (INGEST, EMBED, SUMMARISE, EXTRACT, COMPACT, MAINTAIN)
"""Celery queues, each scaled apart. Their keys in Redis carry the prefix of the settings."""

HANDLED: Final = (
    EMBED,
    REEMBED,
    SUMMARISE,
    EXTRACT,
    COMPACT,
    TIMELINE,
    REMEMBER,
    FORGET,
    FEEDBACK,
    ADJUST,
    REEXTRACT,
    SWITCH,
)
"""Kinds of job that have a handler. The others are written as deferred."""

_QUEUE_OF: Final = {
    REEXTRACT: EXTRACT,
    SWITCH: EXTRACT,
    REEMBED: EMBED,
    REMEMBER: EXTRACT,
    FORGET: EXTRACT,
    TIMELINE: COMPACT,
    FEEDBACK: MAINTAIN,
    ADJUST: MAINTAIN,
}


def queue_of(kind: str) -> str:
    """The queue where tasks for a kind of job wait: that of its name, or a common one."""
    return _QUEUE_OF.get(kind, kind)
