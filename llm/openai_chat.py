"""Chat over any endpoint that speaks OpenAI's `/chat/completions`."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import httpx

from llm.connection import Connection
from llm.errors import BadRequest, CutStream
from llm.http import parse_object
from llm.openai_wire import StreamReader, read_reply
from llm.ports import ChatDelta, ChatMessage, ChatReply
from llm.sse import SseParser
from sidestream.ids import new_id

_PATH = "/chat/completions"
_END = "[DONE]"


class OpenAIChat:
    """`ChatModel` over a connection.

    Args:
        connection: the model and the way to it.
        limit_field: what bounds an answer's tokens: `max_tokens`, at OpenAI `max_completion_tokens`.
        ids: makes an id for a tool call that came without one.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        limit_field: str = "max_tokens",
        ids: Callable[[], str] = new_id,
    ) -> None:
        self._connection = connection
        self._limit_field = limit_field
        self._ids = ids
        self._asks_usage = True

    @property
    def name(self) -> str:
        """The model's name."""
        return self._connection.model

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[dict[str, Any]] = (),
        max_tokens: int | None = None,
    ) -> ChatReply:
        """The whole answer. Raises the tree of llm/errors.py."""
        payload = self._payload(messages, tools)
        if max_tokens is not None:
            payload[self._limit_field] = max_tokens
        reply = await self._connection.guard.call(lambda: self._complete_once(payload))
        self._connection.used(reply.usage)
        return reply

    async def stream(
        self, messages: Sequence[ChatMessage], *, tools: Sequence[dict[str, Any]] = ()
    ) -> AsyncGenerator[ChatDelta, None]:
        """The answer in pieces; the last one has `final`. Raises the tree of llm/errors.py.

        Raises:
            CutStream: the answer broke off; what was delivered is all there is.
        """
        payload = {**self._payload(messages, tools), "stream": True}
        pieces = self._connection.guard.stream(lambda: self._stream_once(payload))
        async with aclosing(pieces):
            async for piece in pieces:
                if piece.final is not None:
                    self._connection.used(piece.final.usage)
                yield piece

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._connection.transport.aclose()

    def _payload(self, messages: Sequence[ChatMessage], tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
        payload: dict[str, Any] = {"model": self.name, "messages": list(messages)}
        if tools:
            payload["tools"] = list(tools)
        return payload

    async def _complete_once(self, payload: dict[str, Any]) -> ChatReply:
        body = await self._connection.transport.post(_PATH, payload)
        return read_reply(body, self.name, self._ids)

    async def _stream_once(self, payload: dict[str, Any]) -> AsyncGenerator[ChatDelta | None, None]:
        if self._asks_usage:
            counted = {**payload, "stream_options": {"include_usage": True}}
            try:
                async with aclosing(self._read(counted)) as deltas:
                    async for delta in deltas:
                        yield delta
                return
            except BadRequest as error:
                if "stream_options" not in str(error):
                    raise
                # Some servers know no such option: without it the answer comes all the same, uncounted.
                self._asks_usage = False
        async with aclosing(self._read(payload)) as deltas:
            async for delta in deltas:
                yield delta

    async def _read(self, payload: dict[str, Any]) -> AsyncGenerator[ChatDelta | None, None]:
        """The pieces; None for an event that says nothing aloud, such as a part of a tool call or of reasoning."""
        async with self._connection.transport.stream(_PATH, payload) as response:
            if response.headers.get("content-type", "").startswith("application/json"):
                reply = read_reply(parse_object(await response.aread()), self.name, self._ids)
                yield ChatDelta(text=reply.content)
                yield ChatDelta(final=reply)
                return
            reader = StreamReader(self.name, self._ids)
            async with aclosing(_texts(response, reader)) as texts:
                async for text in texts:
                    yield ChatDelta(text=text) if text else None
        yield ChatDelta(final=reader.reply())


async def _texts(response: httpx.Response, reader: StreamReader) -> AsyncGenerator[str, None]:
    """The text of each event up to the end mark, empty where an event says nothing.

    Raises:
        CutStream: the stream ended before the answer did.
    """
    begun = False
    try:
        async for data in _events(response):
            if data.strip() == _END:
                break
            begun = True
            yield reader.feed(data)
        else:
            if not reader.finished:
                raise CutStream("the stream ended in the middle of the answer")
    except httpx.TransportError as error:
        if not begun or isinstance(error, httpx.TimeoutException):
            raise
        if not reader.finished:
            raise CutStream("the connection broke in the middle of the answer") from error
    if text := reader.flush():
        yield text


async def _events(response: httpx.Response) -> AsyncGenerator[str, None]:
    parser = SseParser()
    async for chunk in response.aiter_bytes():
        for event in parser.feed(chunk):
            yield event
    for event in parser.finish():
        yield event
