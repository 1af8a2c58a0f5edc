"""Embeddings over real HTTP: order, batches, forms, and replies that are wrong."""

import asyncio
import base64
import json
import struct
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest

from llm.connection import Connection
from llm.embed_models import EmbedModel
from llm.errors import BadReply, BadRequest
from llm.http import Endpoint
from llm.openai_embed import EmbedOptions, OpenAIEmbedder
from llm.resilience import Limits
from llm.usage import UsageMeter
from tests.fake_openai import Behaviour, FakeOpenAI, InvalidJson, Raw, Shuffled, Status, WrongDimensions
from tests.fake_openai_vectors import bag_vector, cosine
from tests.integration.llm_support import Kit

DIMENSIONS = 32


@pytest.fixture
async def kit() -> AsyncIterator[Kit]:
    with FakeOpenAI(dimensions=DIMENSIONS, max_batch=32) as server:
        yield Kit(server)


def floats(vector: bytes) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.frombuffer(vector, "<f4")


def embedder(kit: Kit, options: EmbedOptions) -> OpenAIEmbedder:
    """One that is asked in a way that no setting leads to."""
    endpoint = Endpoint("fake", kit.server.url)
    provider = kit.providers.get(kit.server.url, per_minute=6_000, failures=5, reset=30)
    limits = Limits(timeout=10, total=15, retries=1)
    connection = Connection(endpoint, "e", "embed", provider=provider, limits=limits, meter=UsageMeter())
    return OpenAIEmbedder(connection, options)


async def test_unit_vectors_in_order_over_several_requests(kit: Kit) -> None:
    texts = [f"text number {n}" for n in range(70)]
    model = kit.embedder()
    vectors = await model.embed(texts, "passage")
    assert [len(r.body["input"]) for r in kit.server.requests("embeddings")] == [32, 32, 6]
    for text, vector in zip(texts, vectors, strict=True):
        assert len(vector) == 4 * DIMENSIONS
        assert np.linalg.norm(floats(vector)) == pytest.approx(1, abs=1e-6)
        assert cosine(floats(vector).tolist(), bag_vector(text, DIMENSIONS)) == pytest.approx(1, abs=1e-5)
    assert kit.count().requests == 3
    assert kit.count().input_tokens > 0
    await model.aclose()


async def test_the_order_is_by_index(kit: Kit) -> None:
    model = kit.embedder()
    straight = await model.embed(["one", "two", "three"], "passage")
    kit.server.script(Shuffled(), path="embeddings")
    assert await model.embed(["one", "two", "three"], "passage") == straight
    await model.aclose()


async def test_base64_says_the_same(kit: Kit) -> None:
    options = EmbedOptions(DIMENSIONS, EmbedModel(DIMENSIONS), base64=True)
    model, plain = embedder(kit, options), kit.embedder()
    vectors = await model.embed(["one two", "three"], "query")
    for a, b in zip(vectors, await plain.embed(["one two", "three"], "query"), strict=True):
        assert np.allclose(floats(a), floats(b), atol=1e-6)
    forms = [r.body["encoding_format"] for r in kit.server.requests("embeddings")]
    assert forms == ["base64", "float"]
    await model.aclose()
    await plain.aclose()


async def test_prefixes_and_shorter_vectors(kit: Kit) -> None:
    facts = EmbedModel(1_024, shortens=True, query="query: ", passage="passage: ")
    model = embedder(kit, EmbedOptions(16, facts, shorten=True))
    (vector,) = await model.embed(["hello"], "query")
    await model.embed(["hello"], "passage")
    assert len(vector) == 4 * 16
    bodies = [r.body for r in kit.server.requests("embeddings")]
    assert [(b["input"], b["dimensions"]) for b in bodies] == [(["query: hello"], 16), (["passage: hello"], 16)]
    await model.aclose()


async def test_nothing_is_asked_for_nothing(kit: Kit) -> None:
    model = kit.embedder()
    assert await model.embed([], "passage") == []
    assert kit.server.requests() == []
    await model.aclose()


@pytest.mark.parametrize("text", ["", "  \n", "\0", "\ud83d"])
async def test_odd_texts_get_a_vector(kit: Kit, text: str) -> None:
    model = kit.embedder()
    (vector,) = await model.embed([text], "passage")
    assert len(vector) == 4 * DIMENSIONS
    await model.aclose()


@pytest.mark.parametrize(("char", "most"), [("a ", 16_000), ("猫", 5_334)])
async def test_a_long_text_is_cut_to_what_the_model_reads(kit: Kit, char: str, most: int) -> None:
    model = kit.embedder()
    await model.embed([char * 1_000_000], "passage")
    (sent,) = kit.server.requests("embeddings")[0].body["input"]
    assert most - 2 <= len(sent) <= most
    await model.aclose()


def answer(*embeddings: Any, **more: Any) -> Raw:
    data = [{"index": i, "embedding": e} for i, e in enumerate(embeddings)]
    return Raw([json.dumps({"data": data, **more}).encode()])


GOOD = [1.0] * DIMENSIONS


@pytest.mark.parametrize(
    "reply",
    [
        WrongDimensions(7),
        InvalidJson(),
        Raw([b"{}"]),
        answer(GOOD),
        answer(GOOD, GOOD, GOOD),
        answer(GOOD, None),
        answer(GOOD, ["x"] * DIMENSIONS),
        answer(GOOD, [GOOD]),
        answer(GOOD, "not base64!"),
        answer(GOOD, base64.b64encode(b"abc").decode()),
        answer(GOOD, base64.b64encode(struct.pack("<2f", 1, 2)).decode()),
        answer(GOOD, [0.0] * DIMENSIONS),
        Raw([b'{"data": [{"embedding": [NaN]}, {"embedding": [NaN]}]}']),
        Raw([json.dumps({"data": [{"index": 1, "embedding": GOOD}] * 2}).encode()]),
        Raw([json.dumps({"data": [{"index": 2, "embedding": GOOD}, {"embedding": GOOD}]}).encode()]),
        Raw([b'{"data": [1, 2]}']),
    ],
    ids=lambda reply: repr(reply)[:40],
)
async def test_a_wrong_reply_is_refused_and_not_asked_for_again(kit: Kit, reply: Behaviour) -> None:
    kit.server.script(reply, path="embeddings")
    model = kit.embedder()
    with pytest.raises(BadReply):
        await model.embed(["one", "two"], "passage")
    assert len(kit.server.requests()) == 1
    await model.aclose()


async def test_wrong_dimensions_name_the_setting(kit: Kit) -> None:
    model = kit.embedder(embed_dimensions=16)
    with pytest.raises(BadReply, match=r"32 dimensions where 16.*SIDESTREAM_EMBED_DIMENSIONS"):
        await model.embed(["one"], "passage")
    await model.aclose()


async def test_failures_in_the_middle_of_a_batch_are_tried_again_alone(kit: Kit) -> None:
    kit.server.script(Status(429, retry_after="0"), path="embeddings")
    model = kit.embedder()
    vectors = await model.embed([f"t{n}" for n in range(40)], "passage")
    assert len(vectors) == 40
    assert [len(r.body["input"]) for r in kit.server.requests()] == [32, 32, 8]
    kit.server.script(Status(400, message="too long"), path="embeddings")
    with pytest.raises(BadRequest, match="too long"):
        await model.embed(["t"], "passage")
    await model.aclose()


def test_one_model_in_one_loop_after_another(kit_server: FakeOpenAI) -> None:
    model = Kit(kit_server).embedder()
    first = asyncio.run(model.embed(["one"], "passage"))
    second = asyncio.run(model.embed(["one"], "passage"))
    assert first == second


def test_a_model_does_not_serve_two_live_loops(kit_server: FakeOpenAI) -> None:
    model = Kit(kit_server).embedder()
    with asyncio.Runner() as one, asyncio.Runner() as two:
        one.run(model.embed(["one"], "passage"))
        with pytest.raises(RuntimeError, match="another event loop"):
            two.run(model.embed(["one"], "passage"))
        one.run(model.aclose())


@pytest.fixture
def kit_server() -> Any:
    with FakeOpenAI(dimensions=DIMENSIONS) as server:
        yield server
