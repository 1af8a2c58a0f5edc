"""Reranking over HTTP: scores in the order of the texts, in 0..1, and nothing believed that cannot be."""

import json
from collections.abc import AsyncIterator

import pytest

from config.errors import InvalidSettings
from config.settings import load
from llm.errors import BadReply, Unauthorised
from llm.factory import build_reranker
from llm.ports import Reranker
from llm.providers import Providers
from tests.fake_openai import FakeOpenAI
from tests.fake_openai_behaviours import Raw


@pytest.fixture
async def served() -> AsyncIterator[tuple[FakeOpenAI, Reranker]]:
    with FakeOpenAI(key="k") as server:
        settings = load(rerank_base_url=server.url, rerank_model="r", rerank_api_key="k", llm_retries=0)
        reranker = build_reranker(settings, providers=Providers())
        assert reranker is not None
        yield server, reranker
        await reranker.aclose()


def raw(results: object) -> Raw:
    return Raw([json.dumps({"results": results}).encode()], "application/json")


async def test_scores_stand_in_the_order_of_the_texts(served: tuple[FakeOpenAI, Reranker]) -> None:
    server, reranker = served
    assert reranker.model == "r"
    assert await reranker.rerank("blue kettle", ["a red one", "the blue kettle", "a kettle"]) == [0.0, 1.0, 0.5]
    assert await reranker.rerank("q", []) == []
    assert await reranker.rerank("q", ["", "\0"]) == [0.0, 0.0]
    assert all(text for request in server.requests("rerank") for text in request.body["documents"])


async def test_logits_become_shares(served: tuple[FakeOpenAI, Reranker]) -> None:
    server, reranker = served
    server.script(raw([{"index": 1, "relevance_score": 900.0}, {"index": 0, "relevance_score": 0.0}]), path="rerank")
    assert await reranker.rerank("q", ["a", "b"]) == [0.5, pytest.approx(1.0)]


@pytest.mark.parametrize(
    "results",
    [
        None,
        [],
        [{"index": 0, "relevance_score": 0.5}],
        [{"index": 0, "relevance_score": 0.5}, {"index": 0, "relevance_score": 0.4}],
        [{"index": 0, "relevance_score": 0.5}, {"index": 2, "relevance_score": 0.4}],
        [{"index": 0, "relevance_score": 0.5}, {"index": True, "relevance_score": 0.4}],
        [{"index": 0, "relevance_score": "high"}, {"index": 1, "relevance_score": 0.4}],
        [{"index": 0, "relevance_score": float("nan")}, {"index": 1, "relevance_score": 0.4}],
        ["a", "b"],
    ],
)
async def test_an_answer_that_cannot_be_right_is_refused(served: tuple[FakeOpenAI, Reranker], results: object) -> None:
    server, reranker = served
    server.script(raw(results), path="rerank")
    with pytest.raises(BadReply):
        await reranker.rerank("q", ["a", "b"])


async def test_a_wrong_key_is_an_error() -> None:
    with FakeOpenAI(key="k") as server:
        settings = load(rerank_base_url=server.url, rerank_model="r", rerank_api_key="wrong", llm_retries=0)
        reranker = build_reranker(settings, providers=Providers())
        assert reranker is not None
        with pytest.raises(Unauthorised):
            await reranker.rerank("q", ["a"])
        await reranker.aclose()


def test_it_is_off_unless_a_model_is_named() -> None:
    assert build_reranker(load()) is None
    assert build_reranker(load(siliconflow_api_key="k")) is None
    found = build_reranker(load(siliconflow_api_key="k", rerank_model="BAAI/bge-reranker-v2-m3"))
    assert found is not None and found.model == "BAAI/bge-reranker-v2-m3"
    for settings in (load(rerank_model="r"), load(rerank_model="r", openai_api_key="k")):
        with pytest.raises(InvalidSettings, match="SIDESTREAM_RERANK_BASE_URL"):
            build_reranker(settings)
