"""Errors of the `workers` package.

WorkerError
├── WrongPool          the ingest worker was started with a pool other than solo
├── ForeignConfig      the `config` package that was imported is not this project's
├── NotOpen            a task asked for the database outside a started worker process
├── Rejected           an event cannot be stored; its reason goes to the dead letters
├── AnalystGone        the process that reads entries ahead has died
└── InjectedFault      a crash test asked for this failure
"""

from store.errors import (
    ForkedConnection,
    SchemaChanged,
    SchemaTooNew,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreUnavailable,
)

OUTAGES = (
    StoreBusy,
    StoreFull,
    StoreCorrupt,
    StoreUnavailable,
    SchemaTooNew,
    SchemaChanged,
    ForkedConnection,
)
"""These say that the database is out of order, not that an entry or a job is: all wait until they pass."""


class WorkerError(Exception):
    """Root of the package's error tree."""


class WrongPool(WorkerError):  # noqa: N818 - named for what happened, as the whole tree
    """The ingest worker needs `--pool solo`: SQLite connections and its thread do not survive a fork."""


class ForeignConfig(WorkerError):  # noqa: N818
    """Another package named `config` stands before ours on the path."""


class NotOpen(WorkerError):  # noqa: N818
    """The process has not been started as a worker, so it holds no database."""


class Rejected(WorkerError):  # noqa: N818
    """The event breaks a rule that only the stored state can tell; the message is the reason."""


class AnalystGone(WorkerError):  # noqa: N818
    """The process that reads entries ahead took no request or gave no answer."""


class InjectedFault(WorkerError):  # noqa: N818
    """Raised at an injection point in `raise` mode; only crash tests see it."""
