"""What holds for every test: the machine's settings do not leak in; what needs real conversations says so."""

import os
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

_TOOLS = frozenset({"SIDESTREAM_BENCH_DATA"})

# A deadline measures the machine, not the code: two workers share two cores with real servers.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

# structlog's own default draws each traceback with all its variables: a second of a core for some.
structlog.configure(
    processors=[
        structlog.stdlib.add_log_level,
        structlog.processors.format_exc_info,
        structlog.dev.ConsoleRenderer(colors=False),
    ]
)

for _name in [n for n in os.environ if n.startswith("SIDESTREAM_") and n not in _TOOLS]:
    # Processes that tests start inherit the environment, so it is cleared itself, before any test.
    del os.environ[_name]


@pytest.fixture
def bench_data() -> Path:
    """Folder of real conversations for tests marked `data`; they are no part of the repository."""
    folder = os.environ.get("SIDESTREAM_BENCH_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("SIDESTREAM_BENCH_DATA names no folder with conversations")
    return Path(folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Suites that start whole stacks are slow by nature."""
    for item in items:
        if {"crash", "integration"} & set(item.path.parts):
            item.add_marker(pytest.mark.slow)
