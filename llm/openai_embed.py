"""Embeddings over any endpoint that speaks OpenAI's `/embeddings`."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from llm.connection import Connection
from llm.embed_models import EmbedModel
from llm.errors import BadReply
from llm.openai_wire import read_usage
from llm.vectors import packed

_PATH = "/embeddings"


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """How the endpoint wants to be asked.

    Attributes:
        dimensions: length that every vector must have.
        facts: prefixes and longest text of the model.
        batch: most texts in one request.
        shorten: ask for `dimensions`, since the model's own are more.
        base64: ask for vectors as base64, a third of the size; both forms are understood.
    """

    dimensions: int
    facts: EmbedModel
    batch: int = 32
    shorten: bool = False
    base64: bool = False


class OpenAIEmbedder:
    """`Embedder` over a connection."""

    def __init__(self, connection: Connection, options: EmbedOptions) -> None:
        self._connection = connection
        self._options = options

    @property
    def model(self) -> str:
        """The model's name at its provider."""
        return self._connection.model

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._options.dimensions

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[bytes]:
        """One unit vector a text, float32, in order; requests go one after the other.

        A text is cut to what the model can read. An empty text is sent as a dot, since endpoints refuse it.

        Raises:
            BadReply: vectors are missing, doubled, or not of the expected dimensions.
            LlmError: see llm/errors.py.
        """
        prefix = self._options.facts.query if kind == "query" else self._options.facts.passage
        sent = [prefix + _fit(text, self._options.facts.tokens) for text in texts]
        step = self._options.batch
        vectors: list[bytes] = []
        for start in range(0, len(sent), step):
            vectors += await self._batch(sent[start : start + step])
        return vectors

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._connection.transport.aclose()

    async def _batch(self, texts: list[str]) -> list[bytes]:
        payload: dict[str, Any] = {
            "model": self.model,
            "input": texts,
            "encoding_format": "base64" if self._options.base64 else "float",
        }
        if self._options.shorten:
            payload["dimensions"] = self.dimensions
        return await self._connection.guard.call(lambda: self._once(payload, len(texts)))

    async def _once(self, payload: dict[str, Any], expected: int) -> list[bytes]:
        body = await self._connection.transport.post(_PATH, payload)
        self._connection.used(read_usage(body))
        rows = _ordered(body, expected)
        for row in rows:
            if row.shape != (self.dimensions,):
                raise BadReply(
                    f"{self.model} answered with {row.size} dimensions where {self.dimensions} are expected; "
                    "see SIDESTREAM_EMBED_DIMENSIONS"
                )
        return packed(np.stack(rows))


def _ordered(body: Mapping[str, Any], expected: int) -> list[NDArray[np.float32]]:
    """The vectors by `index`, whatever order they came in."""
    data = body.get("data")
    if not isinstance(data, list) or len(data) != expected:
        raise BadReply(f"{expected} vectors are expected", repr(body)[:2_000])
    rows: dict[int, NDArray[np.float32]] = {}
    for place, item in enumerate(data):
        if not isinstance(item, dict):
            raise BadReply("a vector is no object", repr(item)[:2_000])
        index = item.get("index", place)
        if not isinstance(index, int) or not 0 <= index < expected or index in rows:
            raise BadReply(f"index {index!r} of a vector is out of place")
        rows[index] = _vector(item.get("embedding"))
    return [rows[index] for index in range(expected)]


def _vector(value: Any) -> NDArray[np.float32]:
    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4")
        vector = np.asarray(value, dtype=np.float32)
    except (ValueError, TypeError, OverflowError, binascii.Error) as error:
        raise BadReply("an embedding is no list of numbers") from error
    if vector.ndim != 1:
        raise BadReply("an embedding is no list of numbers")
    return vector


def _fit(text: str, tokens: int) -> str:
    """The head of `text` that surely stays under `tokens`: half a token a Latin character, 1.5 any other."""
    text = text.replace("\0", " ")
    if not text.strip():
        return "."
    if len(text) * 1.5 <= tokens:
        return text
    budget = 2 * tokens
    for place, char in enumerate(text):
        budget -= 1 if char < "\u0250" else 3
        if budget < 0:
            return text[:place]
    return text
