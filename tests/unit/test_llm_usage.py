"""Counting, its hooks, and what is known of embedding models."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from llm.embed_models import known
from llm.errors import BadReply
from llm.usage import Count, UsageMeter
from llm.vectors import packed


def test_counts_add_up_by_model_and_operation() -> None:
    meter = UsageMeter()
    meter.add(Count("m", "chat", requests=1, input_tokens=5))
    meter.add(Count("m", "chat", requests=1, output_tokens=2, failures=1, retries=1))
    meter.add(Count("m", "embed", requests=1))
    chat = Count("m", "chat", requests=2, input_tokens=5, output_tokens=2, failures=1, retries=1)
    assert meter.totals() == [chat, Count("m", "embed", requests=1)]


def test_hooks_hear_each_count() -> None:
    meter, heard = UsageMeter(), list[Count]()
    meter.add(Count("m", "chat", requests=1))
    meter.subscribe(heard.append)
    meter.add(Count("m", "chat", retries=1))
    assert heard == [Count("m", "chat", retries=1)]


def test_threads_lose_no_count() -> None:
    meter = UsageMeter()
    with ThreadPoolExecutor(8) as pool:
        for _ in range(2_000):
            pool.submit(meter.add, Count("m", "chat", requests=1))
    assert meter.totals() == [Count("m", "chat", requests=2_000)]


@pytest.mark.parametrize("name", ["Pro/BAAI/bge-m3", "BAAI/bge-m3", "bge-m3", "bge-m3:latest", "BGE-M3:567m"])
def test_models_are_known_by_their_last_part(name: str) -> None:
    facts = known(name)
    assert facts is not None
    assert facts.dimensions == 1_024


def test_a_size_in_the_tag_is_part_of_the_name() -> None:
    assert [f.dimensions for n in ("0.6b", "4b", "8b") if (f := known(f"qwen3-embedding:{n}"))] == [
        1_024,
        2_560,
        4_096,
    ]
    assert known("my-own-model") is None


def test_vectors_are_packed_at_unit_length() -> None:
    rows = packed(np.array([[3.0, 4.0], [1e-20, 0.0]], dtype=np.float32))
    assert [np.frombuffer(row, "<f4").tolist() for row in rows] == [pytest.approx([0.6, 0.8]), [1.0, 0.0]]


@pytest.mark.parametrize("bad", [0.0, float("nan"), float("inf")])
def test_a_vector_without_direction_is_refused(bad: float) -> None:
    with pytest.raises(BadReply):
        packed(np.array([[bad, 0.0]], dtype=np.float32))
