"""What a request can end with instead of its answer, as `{"error": {"code", "message", "details"}}`.

RequestError
├── InvalidRequest    422  a field breaks the contract; the message names it and what is allowed
├── NotFound          404  no such thing
├── TooLarge          413  the body is larger than SIDESTREAM_API_MAX_BODY
├── Unauthorised      401  no bearer key, or a wrong one
├── WrongHost         421  the request was meant for another host
└── NotAvailable      503  Redis, the spool or the database cannot take or give what was asked
ExposedWithoutKey          at start: an address beyond loopback and no key
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from config.errors import ConfigError


class RequestError(Exception):
    """Root of what a request can end with.

    Attributes:
        status: HTTP status code.
        code: stable name for programs.
        details: what else there is to say, as JSON.
        headers: headers of the answer.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"

    def __init__(
        self,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.details = dict(details or {})
        self.headers = dict(headers or {})


class InvalidRequest(RequestError):  # noqa: N818 - named for what happened, as the whole tree
    """A field breaks the contract."""

    status = 422
    code = "invalid_request"


class NotFound(RequestError):  # noqa: N818
    """There is no such thing, or not in this scope."""

    status = 404
    code = "not_found"


class TooLarge(RequestError):  # noqa: N818
    """The body is larger than is taken."""

    status = 413
    code = "too_large"


class Unauthorised(RequestError):  # noqa: N818
    """The request carries no key, or a wrong one."""

    status = 401
    code = "unauthorised"


class WrongHost(RequestError):  # noqa: N818
    """Without a key only requests that name this machine are answered: a web page names its own host."""

    status = 421
    code = "wrong_host"


class NotAvailable(RequestError):  # noqa: N818
    """Something that the request needs is away; trying again later is right."""

    status = 503
    code = "not_available"


class ExposedWithoutKey(ConfigError):  # noqa: N818
    """The API would listen beyond loopback without a key."""
