"""What every request passes before anything parses it: may the caller come in, is the body small enough."""

from collections.abc import Iterator

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.access import Access
from api.answers import error_response
from api.errors import RequestError, TooLarge

_GUARDED = "/v1/"


class Door:
    """ASGI middleware: asks for the key before a body is read, and reads one of at most `limit` bytes whole.

    The routes ask for the key again: they know that they are behind the door, this only knows a path.
    """

    def __init__(self, app: ASGIApp, access: Access, limit: int) -> None:
        self._app = app
        self._access = access
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            if scope["path"].startswith(_GUARDED):
                self._access.require(Request(scope))
            messages = await self._read(scope, receive)
        except RequestError as error:
            await error_response(error)(scope, receive, send)
            return
        await self._app(scope, _replay(iter(messages), receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> list[Message]:
        self._check(_declared(scope))
        messages: list[Message] = []
        read = 0
        while True:
            message = await receive()
            messages.append(message)
            read += len(message.get("body", b""))
            self._check(read)
            if message["type"] != "http.request" or not message.get("more_body", False):
                return messages

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise TooLarge(
                f"the body is larger than {self._limit} bytes; send fewer events at once",
                headers={"Connection": "close"},
            )


def _declared(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


def _replay(messages: Iterator[Message], receive: Receive) -> Receive:
    async def again() -> Message:
        message = next(messages, None)
        return message if message is not None else await receive()

    return again
