"""Every error that the client package raises.

SidestreamError
├── InvalidEvent          the event breaks the contract; says the field and what is allowed
├── InvalidToolCall       a model called a memory tool wrongly; the text is meant for the model
├── PublishError          the event was NOT accepted
│   ├── RedisUnavailable  Redis is away and there is no spool to take the event
│   ├── SpoolFull         Redis is away and the spool has reached its bound
│   └── SpoolUnavailable  the spool's folder or file cannot be read or written
└── ApiError              the HTTP API answered with an error (has .status and .detail)
    └── ApiUnavailable    the HTTP API could not be reached
"""

from collections.abc import Sequence

from sidestream.receipts import Receipt


class SidestreamError(Exception):
    """Root of the client package's error tree."""


class InvalidEvent(SidestreamError, ValueError):  # noqa: N818 - the field's term for it
    """The event breaks the contract. The message names the field, what was given and what is allowed."""


class InvalidToolCall(SidestreamError, ValueError):  # noqa: N818
    """A model called a memory tool wrongly. The text says how and what is allowed; give it back to the model."""


class PublishError(SidestreamError):
    """Events were not accepted.

    Where Redis took a request and its answer was lost, they may be there all the same: publish them again
    with the ids that `ids` names, and they are there once.

    Attributes:
        accepted: receipts of the events of the same call that were accepted, the first ones.
        ids: ids of those that were not, in order.
    """

    accepted: Sequence[Receipt] = ()
    ids: Sequence[str] = ()


class RedisUnavailable(PublishError):  # noqa: N818
    """Redis did not answer and no spool is configured."""


class SpoolFull(PublishError):  # noqa: N818
    """Redis did not answer and the spool has reached its bound."""


class SpoolUnavailable(PublishError):  # noqa: N818
    """The spool's folder or file cannot be read or written; the message has the reason."""


class ApiError(SidestreamError):
    """The HTTP API answered with an error.

    Attributes:
        status: HTTP status code, 0 when there was no answer.
        detail: what the API said was wrong.
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"HTTP {status}: {detail}" if status else detail)
        self.status = status
        self.detail = detail


class ApiUnavailable(ApiError):  # noqa: N818
    """The HTTP API could not be reached in time."""
