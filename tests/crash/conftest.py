"""What the crash tests share."""

from collections.abc import Iterator

import pytest

from tests.fake_openai import FakeOpenAI


@pytest.fixture
def models() -> Iterator[FakeOpenAI]:
    """A model server that embeds and summarises."""
    with FakeOpenAI(dimensions=16) as server:
        yield server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Starting processes takes as long as the machine is busy; the tests' own deadlines come first."""
    for item in items:
        if "crash" in item.path.parts:
            item.add_marker(pytest.mark.timeout(300))
