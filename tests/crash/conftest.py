"""What the crash tests share."""

from collections.abc import Iterator

import pytest

from tests.fake_openai import FakeOpenAI


@pytest.fixture
def models() -> Iterator[FakeOpenAI]:
    """A model server that embeds and summarises."""
    with FakeOpenAI(dimensions=16) as server:
        yield server
