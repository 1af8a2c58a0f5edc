"""Optional stages of a search, over real HTTP: what each adds, and that the plain result stands where one fails."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from config.prompt_files import load_prompt
from config.settings import load
from llm.factory import build_chat, build_reranker
from llm.providers import Providers
from memory.types import Scope
from recall.stages import Helpers, Stage, StagedSearch
from recall.wiring import stage_helpers
from tests.fake_openai_behaviours import Hang, InvalidJson, Reply, Status
from tests.unit.recall_support import Memory, memory

USER = Scope("ann")
PROMPTS = {name: load_prompt(name) for name in ("queries", "sentences")}


@pytest.fixture
async def known(tmp_path: Path) -> AsyncIterator[tuple[Memory, Helpers]]:
    async with memory(tmp_path) as made:
        settings = load(
            chat_base_url=made.server.url,
            chat_model="m",
            rerank_base_url=made.server.url,
            rerank_model="r",
            llm_retries=0,
        )
        providers = Providers()
        chat, reranker = build_chat(settings, providers=providers), build_reranker(settings, providers=providers)
        assert reranker is not None
        yield made, Helpers(chat, reranker, PROMPTS, timeout=5.0)
        await chat.aclose()
        await reranker.aclose()


async def search(
    known: tuple[Memory, Helpers], query: str, *stages: Stage, limit: int = 5, within: float = 5.0
) -> tuple[list[str], list[tuple[str, str]]]:
    made, helpers = known
    found = await StagedSearch(made.reader, replace(helpers, timeout=within)).search(USER, query, limit, stages)
    return [hit.content for hit in found.hits], [(note.part, note.reason) for note in found.degraded]


async def test_no_stage_asks_no_model(known: tuple[Memory, Helpers]) -> None:
    await known[0].store("the kettle is old")
    assert await search(known, "kettle") == (["the kettle is old"], [])
    assert known[0].server.requests("chat") == known[0].server.requests("rerank") == []


async def test_a_rewritten_query_brings_what_the_question_alone_does_not(known: tuple[Memory, Helpers]) -> None:
    made, _ = known
    for number in range(8):
        await made.store(f"what she told about trip number {number}")
    await made.store("Melanie camped in the forest")
    made.server.script(Reply('{"queries": ["camped forest", "What did she do on the trip?"]}'))
    plain, _ = await search(known, "what did she do on the trip?", limit=3)
    assert "Melanie camped in the forest" not in plain
    hits, notes = await search(known, "what did she do on the trip?", "rewrite", limit=3)
    assert "Melanie camped in the forest" in hits and notes == []
    prompt = str(made.server.requests("chat")[0].body["messages"])
    assert "what did she do on the trip?" in prompt and "{most}" not in prompt


async def test_a_reranker_decides_the_order(known: tuple[Memory, Helpers]) -> None:
    made, helpers = known
    await made.store("kettle kettle kettle")
    await made.store("the old kettle whistles at noon every day")
    found = await StagedSearch(made.reader, helpers).search(USER, "old kettle whistles", 1, ["rerank"])
    [best] = found.hits
    assert best.content.startswith("the old kettle") and best.parts == {"rerank": 1.0} and best.score == 1.0
    [request] = made.server.requests("rerank")
    assert len(request.body["documents"]) == 2 and request.body["top_n"] == 2


async def test_only_the_sentences_that_matter_are_kept(known: tuple[Memory, Helpers]) -> None:
    made, helpers = known
    await made.store("We had lunch. The kettle broke at noon! It rained.")
    made.server.script(Reply('{"keep": [2]}'))
    found = await StagedSearch(made.reader, helpers).search(USER, "kettle", 5, ["compress"])
    assert [hit.content for hit in found.hits] == ["The kettle broke at noon!"]
    assert found.hits[0].metadata["compressed"] is True
    made.server.script(Reply('{"keep": []}'))
    assert (await search(known, "kettle", "compress"))[0] == ["We had lunch. The kettle broke at noon! It rained."]


@pytest.mark.parametrize("stage", ["rewrite", "compress"])
@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (Status(500), "ServerError"),
        (InvalidJson(), "BadReply"),
        (Reply("I would search for kettles."), "BadAnswer"),
        (Reply('{"queries": [], "keep": [99]}'), "BadAnswer"),
        (Hang(), "not done within 0.2 s"),
    ],
)
async def test_where_a_model_fails_the_plain_result_stands(
    known: tuple[Memory, Helpers], stage: Stage, behaviour: object, words: str
) -> None:
    await known[0].store("The kettle is old. It leaks.")
    known[0].server.script(behaviour)  # type: ignore[arg-type] # one of several kinds
    hits, [(part, reason)] = await search(known, "kettle", stage, within=0.2 if "within" in words else 5.0)
    assert hits == ["The kettle is old. It leaks."] and part == stage and words in reason


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [(Status(503), "ServerError"), (InvalidJson(), "BadReply"), (Hang(), "not done within 0.2 s")],
)
async def test_where_the_reranker_fails_the_plain_order_stands(
    known: tuple[Memory, Helpers], behaviour: object, words: str
) -> None:
    await known[0].store("the kettle is old")
    known[0].server.script(behaviour, path="rerank")  # type: ignore[arg-type] # one of several kinds
    hits, [(part, reason)] = await search(known, "kettle", "rerank", within=0.2 if "within" in words else 5.0)
    assert hits == ["the kettle is old"] and part == "rerank" and words in reason


async def test_a_stage_without_its_model_says_so(tmp_path: Path) -> None:
    async with memory(tmp_path) as made:
        await made.store("The kettle is old. It leaks.")
        staged = StagedSearch(made.reader, stage_helpers(load(), None, None))
        found = await staged.search(USER, "kettle", 5, ["rewrite", "rerank", "compress"])
        assert [hit.content for hit in found.hits] == ["The kettle is old. It leaks."]
        assert [note.part for note in found.degraded] == ["rewrite", "rerank", "compress"]
        assert "SIDESTREAM_RERANK_MODEL" in found.degraded[1].reason
