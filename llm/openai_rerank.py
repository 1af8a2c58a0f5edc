"""Reranking over any endpoint that speaks `/rerank`, as SiliconFlow, Jina, Cohere and vLLM serve it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from llm.connection import Connection
from llm.errors import BadReply

_PATH = "/rerank"
CUT = 4_000
"""Characters of a text that are sent; rerankers read about as much."""


class HttpReranker:
    """`Reranker` over a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def model(self) -> str:
        """The model's name at its provider."""
        return self._connection.model

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """How relevant each text is, 0 to 1, in the order of `texts`.

        Raises:
            BadReply: scores are missing, doubled, or no numbers.
            LlmError: see llm/errors.py.
        """
        if not texts:
            return []
        payload = {
            "model": self.model,
            "query": query[:CUT],
            "documents": [text[:CUT].replace("\0", " ") or "." for text in texts],
            "top_n": len(texts),
            "return_documents": False,
        }
        return await self._connection.guard.call(lambda: self._once(payload, len(texts)))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._connection.transport.aclose()

    async def _once(self, payload: dict[str, Any], expected: int) -> list[float]:
        return _scores(await self._connection.transport.post(_PATH, payload), expected)


def _scores(body: Mapping[str, Any], expected: int) -> list[float]:
    """By `index`, in whatever order they came; scores beyond 0..1 are logits, and become shares."""
    results = body.get("results")
    if not isinstance(results, list) or len(results) != expected:
        raise BadReply(f"{expected} results are expected", repr(body)[:2_000])
    found: dict[int, float] = {}
    for item in results:
        index = item.get("index") if isinstance(item, dict) else None
        score = item.get("relevance_score") if isinstance(item, dict) else None
        known = isinstance(index, int) and not isinstance(index, bool) and 0 <= index < expected and index not in found
        if not known or isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise BadReply("a result has no index and relevance_score as they should be", repr(item)[:2_000])
        found[int(index or 0)] = float(score)
    if any(not 0.0 <= score <= 1.0 for score in found.values()):
        found = {index: 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, score)))) for index, score in found.items()}
    return [found[index] for index in range(expected)]
