"""One reply's exchange with the model: stream, call tools, stream again, until it answers."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from actors.errors import ReplyFailed
from actors.journal import Journal
from actors.tools import CallContext, Toolbox
from llm.errors import CircuitOpen, LlmError, RateLimited, Timeout, Unauthorised, Unreachable
from llm.ports import ChatMessage, ChatModel, ChatReply, ToolCall
from memory.context import message_tokens
from memory.tokens import Corrector, estimate
from sidestream.fieldtypes import MAX_ID_LENGTH, to_json
from sidestream.ids import new_id

MAX_CALLS = 16
"""Most tool calls that are carried out of one round."""

_PLAINLY: tuple[tuple[type[LlmError], str], ...] = (
    (CircuitOpen, "the model's provider failed too often of late, and is left alone for a moment"),
    (RateLimited, "the model's provider asks for patience"),
    (Timeout, "the model did not answer in time"),
    (Unreachable, "the model cannot be reached"),
    (Unauthorised, "the model's key is missing, wrong or not allowed this"),
)


class Piece(Protocol):
    """Takes a piece of the answer."""

    def __call__(self, text: str, /) -> None:
        """Called in order, never at the same time."""
        ...


class Conversation:
    """Runs the tool loop for one session."""

    def __init__(
        self,
        model: ChatModel,
        toolbox: Toolbox,
        journal: Journal,
        corrector: Corrector,
        *,
        rounds: int,
        ids: Callable[[], str] = new_id,
    ) -> None:
        """`rounds`: most rounds of tool calls in one reply."""
        self._model = model
        self._toolbox = toolbox
        self._journal = journal
        self._corrector = corrector
        self._rounds = rounds
        self._ids = ids

    async def answer(self, messages: Sequence[ChatMessage], context: CallContext, on_piece: Piece | None) -> ChatReply:
        """The model's answer, whose content is not empty; tool calls and results are published on the way.

        Raises:
            ReplyFailed: the model failed or said nothing; the text is one for the user.
        """
        asked = list(messages)
        for left in range(self._rounds, -1, -1):
            reply = await self._ask(asked, on_piece, with_tools=left > 0)
            if not reply.tool_calls or left == 0:
                break
            asked += await self._call_tools(reply, context)
        if not reply.content.strip():
            raise ReplyFailed("the model answered nothing; please try again")
        return reply

    async def _ask(self, messages: list[ChatMessage], on_piece: Piece | None, *, with_tools: bool) -> ChatReply:
        tools = self._toolbox.schemas() if with_tools else []
        final: ChatReply | None = None
        try:
            async for delta in self._model.stream(messages, tools=tools):
                if delta.text and on_piece is not None:
                    on_piece(delta.text)
                final = delta.final or final
        except LlmError as error:
            raise ReplyFailed(plainly(error)) from error
        if final is None:
            raise ReplyFailed("the model's answer ended in the middle; please try again")
        sent = sum(map(message_tokens, messages)) + sum(estimate(to_json(tool)) for tool in tools)
        self._corrector.observe(sent, final.usage.input_tokens)
        return final

    async def _call_tools(self, reply: ChatReply, context: CallContext) -> list[ChatMessage]:
        """Carries out one round of calls side by side; each gets a published result, even if cancelled."""
        calls = self._named(reply.tool_calls)
        wire = [_wire(call) for call in calls]
        asking = await self._journal.calls(reply.content, wire, answers=context.parent_id)
        within = replace(context, parent_id=asking)
        work = [asyncio.create_task(self._call(place, call, within)) for place, call in enumerate(calls)]
        try:
            results = await asyncio.gather(*work)
        except BaseException:
            for task in work:
                task.cancel()
            done = await asyncio.gather(*work, return_exceptions=True)
            results = [text if isinstance(text, str) else "error: cancelled" for text in done]
            # A call without a result would keep its turn open.
            await asyncio.shield(self._publish_results(calls, results, asking))
            raise
        await self._publish_results(calls, results, asking)
        return [
            {"role": "assistant", "content": reply.content, "tool_calls": wire},
            *(
                {"role": "tool", "tool_call_id": call.id, "content": text}
                for call, text in zip(calls, results, strict=True)
            ),
        ]

    async def _call(self, place: int, call: ToolCall, context: CallContext) -> str:
        if place >= MAX_CALLS:
            return f"error: at most {MAX_CALLS} calls at once are carried out"
        return await self._toolbox.call(call, context)

    async def _publish_results(self, calls: Sequence[ToolCall], results: Sequence[str], asking: str) -> None:
        for call, text in zip(calls, results, strict=True):
            await self._journal.result(text, call.id, answers=asking)

    def _named(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """The calls, each with an id of its own that can be published: some servers give none, or the same to all."""
        seen: set[str] = set()
        named = []
        for call in calls:
            fit = call.id and call.id.isprintable() and len(call.id) <= MAX_ID_LENGTH and call.id not in seen
            unique = call if fit else replace(call, id=f"call_{self._ids()}")
            seen.add(unique.id)
            named.append(unique)
        return named


def plainly(error: LlmError) -> str:
    """What went wrong with the model, in words for a user."""
    for kind, words in _PLAINLY:
        if isinstance(error, kind):
            return f"{words} ({error})"
    return f"the model failed: {error}"


def _wire(call: ToolCall) -> dict[str, Any]:
    """The call as it is sent back. Some servers refuse arguments that are no JSON object, even their own model's."""
    arguments = call.arguments if _is_object(call.arguments) else to_json({"invalid": call.arguments})
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
