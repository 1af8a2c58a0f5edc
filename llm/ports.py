"""What the rest of the program asks of a model. Adapters implement these; nobody else knows a provider.

All ports are asynchronous. A port instance belongs to one event loop and is closed by whoever made it.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

ChatMessage: TypeAlias = dict[str, Any]
"""One message in OpenAI's chat form: role, content, and tool_calls / tool_call_id where they belong."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, as the provider reports them (0 where it does not)."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool the model wants called; `arguments` is the JSON text it wrote, not yet parsed."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A whole answer."""

    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of a streamed answer; the last one carries `final` (the whole reply) and no text of its own."""

    text: str = ""
    final: ChatReply | None = None


class ChatModel(Protocol):
    """A model that answers chats. Errors are of the tree in llm/errors.py."""

    @property
    def name(self) -> str:
        """Model name for provenance, such as `gpt-5-mini` or `offline`."""
        ...

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[dict[str, Any]] = (),
        max_tokens: int | None = None,
    ) -> ChatReply:
        """The whole answer."""
        ...

    def stream(
        self, messages: Sequence[ChatMessage], *, tools: Sequence[dict[str, Any]] = ()
    ) -> AsyncIterator[ChatDelta]:
        """The answer in pieces; the last piece has `final`. A cut stream raises."""
        ...

    async def aclose(self) -> None:
        """Frees connections."""
        ...


class Embedder(Protocol):
    """A model that turns texts into unit-length float32 vectors."""

    @property
    def model(self) -> str:
        """Model name; with `dimensions` it names the embedding space."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        ...

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[bytes]:
        """One vector a text, float32 little-endian, unit length, `4 * dimensions` bytes each, in order."""
        ...

    async def aclose(self) -> None:
        """Frees connections."""
        ...


class Reranker(Protocol):
    """A model that reads a query and a text together and says how well they fit."""

    @property
    def model(self) -> str:
        """Model name."""
        ...

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """How relevant each text is, 0 to 1, in the order of `texts`."""
        ...

    async def aclose(self) -> None:
        """Frees connections."""
        ...
