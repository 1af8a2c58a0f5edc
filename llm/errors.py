"""Errors of the `llm` package.

LlmError
├── Transient           may pass by itself: worth a retry, now or by the job's back-off (has .retry_after)
│   ├── Timeout         no answer, or no further piece of one, in time
│   ├── RateLimited     the provider asks for patience (429)
│   ├── ServerError     the provider failed (5xx)
│   ├── Unreachable     no connection, or it broke before an answer
│   ├── CutStream       a streamed answer ended in the middle
│   └── CircuitOpen     the provider failed too often of late; nothing was sent
└── Permanent           the same request will fail again
    ├── BadRequest      the provider refuses the request (other 4xx)
    ├── Unauthorised    the key is missing, wrong or not allowed this (401, 403)
    ├── BadReply        the answer is not what the protocol promises (has .raw)
    ├── NoModel         no such model: at the provider (404), or its package is not installed here
    └── ForkedModel     the embedded model was loaded before a fork and cannot be used after it
"""


class LlmError(Exception):
    """Root of the package's error tree."""


class Transient(LlmError):  # noqa: N818 - reads as a kind: `except Transient`
    """May pass by itself.

    Attributes:
        retry_after: seconds after which another try makes sense, as far as somebody said so.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Timeout(Transient):
    """No answer, or no further piece of one, within the time limit."""


class RateLimited(Transient):
    """The provider answered 429; `retry_after` is what it asked for."""


class ServerError(Transient):
    """The provider answered 5xx, 408 or 425, or reported an error of its own inside a stream."""


class Unreachable(Transient):
    """No connection to the provider, or it broke before the answer was whole."""


class CutStream(Transient):
    """A streamed answer ended without its end mark; what was delivered stands."""


class CircuitOpen(Transient):
    """The provider failed too often of late; nothing was sent. `retry_after` is when one probe may go."""


class Permanent(LlmError):  # noqa: N818 - reads as a kind: `except Permanent`
    """The same request will fail again."""


class BadRequest(Permanent):
    """The provider refuses the request as it stands."""


class Unauthorised(Permanent):
    """The key is missing, wrong or not allowed what was asked."""


class BadReply(Permanent):
    """The answer breaks the protocol: not JSON, a field missing, wrong dimensions, nothing said.

    Attributes:
        raw: the start of what was answered, for the dead letter.
    """

    def __init__(self, message: str, raw: str = "") -> None:
        super().__init__(message)
        self.raw = raw[:2_000]


class NoModel(Permanent):
    """There is no such model at the provider, or the package that carries it is not installed."""


class ForkedModel(Permanent):
    """The embedded model was loaded in a parent process; load it in the process that uses it."""
