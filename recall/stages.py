"""Optional stages of a search: a model rewrites the query, reranks the hits, or keeps only the sentences that matter.

Each runs only when the caller asks for it, has its own time-out, and where it fails the plain result stands and the
answer says so. A reply's own context never uses them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar

from config.logging import get_logger
from llm.errors import LlmError
from llm.ports import ChatModel, Reranker
from memory.answers import BadAnswer
from memory.search_prompts import parse_kept, parse_queries, query_messages, sentence_messages, sentences
from memory.types import Degraded, Hit, Scope
from recall.reader import Reader
from recall.results import SearchResult

Stage: TypeAlias = Literal["rewrite", "rerank", "compress"]
T = TypeVar("T")

_WIDER = 3
"""So many times the limit is found before a reranker chooses."""
_MOST_RERANKED = 100
_OTHER_QUERIES = 0.9
"""What a hit of a rewritten query counts beside one of the query itself."""
_MOST_SENTENCES = 200
_MAX_TOKENS = 600

_log = get_logger("recall")


@dataclass(frozen=True, slots=True)
class Helpers:
    """The models that the stages use; None where there is none. `prompts` are those of config/prompts by name."""

    chat: ChatModel | None = None
    reranker: Reranker | None = None
    prompts: dict[str, str] = field(default_factory=dict)
    timeout: float = 10.0


class StagedSearch:
    """Searches with stages around one reader."""

    def __init__(self, reader: Reader, helpers: Helpers) -> None:
        self._reader = reader
        self._helpers = helpers

    async def search(
        self, scope: Scope, query: str, limit: int, stages: Collection[Stage], **narrow: Any
    ) -> SearchResult:
        """As `Reader.search`, with `stages`; `narrow` are its further arguments."""
        notes: list[Degraded] = []
        none: list[str] = []
        queries = await self._try("rewrite", stages, notes, lambda: self._rewrite(query), none)
        wide = min(_MOST_RERANKED, _WIDER * limit) if "rerank" in stages else limit
        found = await self._search_all(scope, [query, *queries], wide, narrow)
        hits = await self._try("rerank", stages, notes, lambda: self._rerank(query, found.hits), found.hits)
        hits = hits[:limit]
        hits = await self._try("compress", stages, notes, lambda: self._compress(query, hits), hits)
        return replace(found, hits=hits, degraded=[*found.degraded, *notes])

    async def _try(
        self,
        stage: Stage,
        stages: Collection[Stage],
        notes: list[Degraded],
        work: Callable[[], Awaitable[T]],
        plain: T,
    ) -> T:
        """What the stage makes, or `plain` with a note."""
        if stage not in stages:
            return plain
        try:
            async with asyncio.timeout(self._helpers.timeout):
                return await work()
        except TimeoutError:
            reason = f"not done within {self._helpers.timeout:g} s"
        except (LlmError, BadAnswer) as error:
            reason = f"{type(error).__name__}: {error}"
        except _NotThere as error:
            reason = str(error)
        _log.warning("search_stage_failed", stage=stage, reason=reason)
        notes.append(Degraded(stage, reason))
        return plain

    async def _rewrite(self, query: str) -> list[str]:
        asked = query_messages(self._helpers.prompts["queries"], query)
        return [text for text in parse_queries(await self._ask(asked)) if text.casefold() != query.casefold()]

    async def _search_all(
        self, scope: Scope, queries: Sequence[str], limit: int, narrow: dict[str, Any]
    ) -> SearchResult:
        """The query's own hits, and those of the others where they say more for a memory."""
        first, *others = await asyncio.gather(*(self._reader.search(scope, q, limit, **narrow) for q in queries))
        best = {_key(hit): hit for hit in first.hits}
        for result in others:
            for hit in result.hits:
                score = round(_OTHER_QUERIES * hit.score, 6)
                known = best.get(_key(hit))
                if known is None or known.score < score:
                    parts = {name: round(_OTHER_QUERIES * part, 6) for name, part in hit.parts.items()}
                    best[_key(hit)] = replace(hit, score=score, parts=parts)
        ranked = sorted(best.values(), key=lambda hit: -hit.score)
        notes = [note for result in (first, *others) for note in result.degraded]
        return replace(first, hits=ranked[:limit], degraded=list(dict.fromkeys(notes)))

    async def _rerank(self, query: str, hits: list[Hit]) -> list[Hit]:
        if self._helpers.reranker is None:
            raise _NotThere("no reranker is configured; see SIDESTREAM_RERANK_MODEL")
        scores = await self._helpers.reranker.rerank(query, [hit.content for hit in hits])
        ranked = sorted(zip(scores, hits, strict=True), key=lambda pair: -pair[0])
        return [replace(hit, score=round(score, 6), parts={"rerank": round(score, 6)}) for score, hit in ranked]

    async def _compress(self, query: str, hits: list[Hit]) -> list[Hit]:
        """Hits with the sentences that matter; one of which none does stays as it is."""
        pieces = [sentences(hit.content) for hit in hits]
        told = [(n, i) for n, found in enumerate(pieces) if len(found) > 1 for i in range(len(found))][:_MOST_SENTENCES]
        if not told:
            return hits
        asked = sentence_messages(self._helpers.prompts["sentences"], query, [pieces[n][i] for n, i in told])
        kept = parse_kept(await self._ask(asked), len(told))
        cut = set(told) - {told[place] for place in kept}
        compressed = []
        for n, hit in enumerate(hits):
            text = "".join(piece for i, piece in enumerate(pieces[n]) if (n, i) not in cut).strip()
            changed = bool(text) and text != hit.content.strip()
            metadata = {**hit.metadata, "compressed": True} if changed else hit.metadata
            compressed.append(replace(hit, content=text, metadata=metadata) if changed else hit)
        return compressed

    async def _ask(self, messages: list[dict[str, str]]) -> str:
        if self._helpers.chat is None:
            raise _NotThere("no language model is configured")
        return (await self._helpers.chat.complete(messages, max_tokens=_MAX_TOKENS)).content


class _NotThere(Exception):  # noqa: N818 - never leaves this module
    """A stage has no model."""


def _key(hit: Hit) -> tuple[str, int, str | None]:
    return hit.kind, hit.id, hit.event_id
