"""HTTP to an OpenAI-compatible endpoint: one client, and every failure as an error of the package's tree."""

import asyncio
import json
import os
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from typing import Any

import httpx

from llm.errors import (
    BadReply,
    BadRequest,
    LlmError,
    NoModel,
    RateLimited,
    ServerError,
    Timeout,
    Unauthorised,
    Unreachable,
)
from llm.retry_after import retry_after

_CONNECT = 10.0
_OUT_OF_CREDIT = 600.0
"""Seconds to wait when the account is empty: it passes when somebody pays, not within seconds."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is and how it is asked for.

    Attributes:
        provider: short name for people, such as `siliconflow`.
        url: base URL without a slash at its end, such as `https://api.openai.com/v1`.
        key: bearer key, None where none is needed.
    """

    provider: str
    url: str
    key: str | None = field(default=None, repr=False)


class Transport:
    """Posts JSON to one endpoint. Binds to the event loop that first uses it.

    Args:
        endpoint: where to.
        timeout: seconds for each of connecting (at most 10), sending and a silence while receiving.
        clock: unix seconds, to read a Retry-After that is a date.
    """

    def __init__(self, endpoint: Endpoint, timeout: float, *, clock: Callable[[], float] = time.time) -> None:
        self._endpoint = endpoint
        # Read here, not under the first reply.
        self._verify = _certificates() if endpoint.url.startswith("https:") else False
        self._timeout = httpx.Timeout(timeout, connect=min(timeout, _CONNECT))
        self._clock = clock
        self._client: httpx.AsyncClient | None = None
        self._home: tuple[int, asyncio.AbstractEventLoop] | None = None

    async def post(self, path: str, payload: dict[str, Any]) -> dict[str, Any]:
        """The JSON object answered. Raises the tree of llm/errors.py."""
        async with self._translated():
            response = await self._bound().post(f"{self._endpoint.url}{path}", content=_encoded(payload))
        if response.is_error or response.is_redirect:
            raise self._refusal(response)
        return parse_object(response.content)

    @asynccontextmanager
    async def stream(self, path: str, payload: dict[str, Any]) -> AsyncIterator[httpx.Response]:
        """The open response, its status checked. Errors of reading it inside the block are translated too."""
        async with (
            self._translated(),
            self._bound().stream("POST", f"{self._endpoint.url}{path}", content=_encoded(payload)) as response,
        ):
            if response.is_error or response.is_redirect:
                await response.aread()
                raise self._refusal(response)
            yield response

    async def aclose(self) -> None:
        """Closes the connections, if this is where they were opened."""
        client, home = self._client, self._home
        self._client = self._home = None
        if client is not None and home == (os.getpid(), asyncio.get_running_loop()):
            await client.aclose()

    def _bound(self) -> httpx.AsyncClient:
        here = (os.getpid(), asyncio.get_running_loop())
        if self._client is not None and self._home == here:
            return self._client
        if self._home is not None and self._home[0] == here[0] and not self._home[1].is_closed():
            raise RuntimeError("this model belongs to another event loop that is still open")
        # Connections of a closed loop or of a parent process are unusable: they are left behind, not closed.
        self._client, self._home = self._make(), here
        return self._client

    def _make(self) -> httpx.AsyncClient:
        headers = {"Content-Type": "application/json"}
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        return httpx.AsyncClient(
            timeout=self._timeout,
            headers=headers,
            verify=self._verify,
            # A proxy of the environment cannot reach what listens on our own loopback.
            trust_env=not is_loopback(self._endpoint.url),
        )

    @asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        where = self._endpoint.url
        try:
            yield
        except httpx.TimeoutException as error:
            raise Timeout(f"{where} did not answer in time ({type(error).__name__})") from error
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
            raise BadRequest(f"cannot send to {where}: {self._clean(str(error))}") from error
        except httpx.TransportError as error:
            raise Unreachable(self._failure(error)) from error
        except httpx.HTTPError as error:
            raise BadReply(self._failure(error)) from error

    def _failure(self, error: httpx.HTTPError) -> str:
        return f"{self._endpoint.url}: {type(error).__name__} {self._clean(str(error))}".rstrip()

    def _refusal(self, response: httpx.Response) -> LlmError:
        status = response.status_code
        reason, code = error_details(response.content)
        message = f"{self._endpoint.url} answered {status}: {self._clean(reason or response.reason_phrase)}"
        wait = retry_after(response.headers, self._clock())
        if status == 402 or code == "insufficient_quota":
            return RateLimited(message, retry_after=max(wait or 0.0, _OUT_OF_CREDIT))
        if status == 429:
            return RateLimited(message, retry_after=wait)
        if status >= 500 or status in (408, 425):
            return ServerError(message, retry_after=wait)
        if status in (401, 403):
            return Unauthorised(message)
        return NoModel(message) if status == 404 else BadRequest(message)

    def _clean(self, text: str) -> str:
        """Without the key, which some providers repeat in what they say; short enough for a log line."""
        key = self._endpoint.key
        return (text.replace(key, "***") if key else text)[:500]


def parse_object(body: bytes | str) -> dict[str, Any]:
    """`body` as a JSON object.

    Raises:
        BadReply: it is none.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadReply("the answer is not JSON", _text(body)) from error
    if not isinstance(value, dict):
        raise BadReply("the answer is not a JSON object", _text(body))
    return value


def error_details(body: bytes) -> tuple[str, str | None]:
    """Reason and code from an error body in the forms that providers use; else the body's start."""
    try:
        value = parse_object(body)
    except BadReply:
        return _text(body)[:300].strip(), None
    error = value.get("error", value)
    if not isinstance(error, dict):
        return str(error), None
    code = error.get("code")
    return str(error.get("message") or error), code if isinstance(code, str) else None


def _encoded(payload: dict[str, Any]) -> bytes:
    # Half a surrogate pair, which a cut string can end in, has no UTF-8 form.
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _text(body: bytes | str) -> str:
    return body if isinstance(body, str) else body[:8_000].decode("utf-8", "replace")


@cache
def _certificates() -> ssl.SSLContext:
    """Once a process: reading them takes a tenth of a second and more."""
    return httpx.create_ssl_context()


def is_loopback(url: str) -> bool:
    """Whether `url` is on this machine itself."""
    host = httpx.URL(url).host
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
