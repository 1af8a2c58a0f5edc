"""The chat's answer where no model is configured: it quotes what was recalled, and says so.

It is deterministic and calls no tools. A question is answered with the remembered sentences that share most
of its rare words; anything else is acknowledged, since what was said is remembered all the same.
"""

import re
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from llm.offline_phrases import PHRASES, Phrases, asks
from llm.offline_search import Quote, best_quotes, candidates
from llm.ports import ChatDelta, ChatMessage, ChatReply
from memory.terms import language

_PIECE = re.compile(r"[\u3000-\u9fff\uff00-\uffef]|[^\s\u3000-\u9fff\uff00-\uffef]+\s*|\s+")
_NOTED = 200
"""Characters of a statement that are said back."""


class OfflineResponder:
    """`ChatModel` without a model."""

    @property
    def name(self) -> str:
        """`offline`."""
        return "offline"

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[dict[str, Any]] = (),  # noqa: ARG002 - part of the port; there is nobody to choose one
        max_tokens: int | None = None,  # noqa: ARG002 - part of the port; its answers are short
    ) -> ChatReply:
        """The whole answer."""
        return ChatReply(answer(messages), model=self.name)

    async def stream(
        self, messages: Sequence[ChatMessage], *, tools: Sequence[dict[str, Any]] = ()
    ) -> AsyncGenerator[ChatDelta, None]:
        """The answer word by word."""
        reply = await self.complete(messages, tools=tools)
        for piece in _PIECE.findall(reply.content):
            yield ChatDelta(text=piece)
        yield ChatDelta(final=reply)

    async def aclose(self) -> None:
        """Nothing to free."""


def answer(messages: Sequence[ChatMessage]) -> str:
    """What is said to the last user message of an assembled context."""
    said = next((str(m.get("content") or "") for m in reversed(messages) if m.get("role") == "user"), "")
    phrases = PHRASES["zh" if language(said) == "zh" else "en"]
    if not asks(said):
        return _noted(said, phrases)
    quotes = best_quotes(said, candidates(messages))
    if not quotes:
        return f"{phrases.notice}{phrases.nothing}"
    lines = [_quoted(quote, phrases) for quote in quotes]
    return "\n".join([f"{phrases.notice}{phrases.found}", *lines])


def _noted(said: str, phrases: Phrases) -> str:
    text = " ".join(said.split())
    if len(text) > _NOTED:
        text = f"{text[:_NOTED]}…"
    return f"{phrases.noted}{text}" if text else phrases.notice + phrases.nothing


def _quoted(quote: Quote, phrases: Phrases) -> str:
    item = quote.item
    speaker = phrases.speakers.get(item.speaker, item.speaker)
    when = phrases.turn.format(turn=item.turn) if item.turn else item.day or phrases.earlier
    return phrases.quote.format(text=quote.text, speaker=speaker, when=when)
