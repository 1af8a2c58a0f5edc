"""What the models cost is kept for good."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from llm.usage import Count, UsageMeter
from store import counters
from store.db import Database
from store.opening import open_database
from workers.usage import UsageLedger


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with open_database(tmp_path / "test.db") as found:
        yield found


def test_counts_are_added_up_by_model(db: Database) -> None:
    meter = UsageMeter()
    ledger = UsageLedger(meter)
    meter.add(Count("m/1", "chat", requests=1, failures=1, retries=1))
    meter.add(Count("m/1", "chat", requests=1))
    meter.add(Count("m/1", "chat", input_tokens=70, output_tokens=9))
    ledger.write(db)
    meter.add(Count("m/1", "chat", requests=1, input_tokens=30))
    meter.add(Count("e", "embed", requests=2, input_tokens=5))
    ledger.write(db)
    ledger.write(db)
    assert counters.all_counters(db) == {
        "chat_requests:m/1": 3,
        "chat_failures:m/1": 1,
        "chat_tokens_in:m/1": 100,
        "chat_tokens_out:m/1": 9,
        "embed_requests:e": 2,
        "embed_tokens_in:e": 5,
    }


def test_what_sqlite_refuses_is_written_later(db: Database, tmp_path: Path) -> None:
    meter = UsageMeter()
    ledger = UsageLedger(meter)
    meter.add(Count("m", "chat", requests=1))
    with open_database(tmp_path / "test.db", readonly=True) as readonly:
        ledger.write(readonly)
    meter.add(Count("m", "chat", requests=1))
    ledger.write(db)
    assert counters.all_counters(db) == {"chat_requests:m": 2}
