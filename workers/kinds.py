"""The kinds of work: which are done today, on which queue, and which wait for a handler of their own."""

from typing import Final

INGEST: Final = "ingest"
MAINTAIN: Final = "maintain"

EMBED: Final = "embed"
SUMMARISE: Final = "summarise"
EXTRACT: Final = "extract"
COMPACT: Final = "compact"
REMEMBER: Final = "remember"
FORGET: Final = "forget"
FEEDBACK: Final = "feedback"

QUEUES: Final = (INGEST, EMBED, SUMMARISE, EXTRACT, COMPACT, MAINTAIN)
"""Celery queues, each scaled apart. Their keys in Redis carry the prefix of the settings."""

HANDLED: Final = (EMBED, SUMMARISE)
"""Kinds of job that have a handler; each has the queue of its name. The others are written as deferred."""
