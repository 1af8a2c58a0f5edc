"""When a session counts as idle."""

from collections.abc import Iterator
from pathlib import Path

import fakeredis
import pytest

from config.settings import load
from sidestream.keys import Keys
from tests.unit.workers_support import NOW, Bench, message
from workers.nudge import Nudger
from workers.process import Process
from workers.sweep import sweep
from workers.tasks import run_close_idle

IDLE = 600.0


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.db.close()


def close_idle(bench: Bench, folder: Path, client: fakeredis.FakeRedis) -> list[tuple[int | None]]:
    """Runs the task; the session's open turn afterwards."""
    settings = load(data_dir=folder, turn_idle=IDLE)
    process = Process(lambda: settings, lambda kind: None, str, clock=lambda: bench.now)
    process.redis = client
    process.started()
    process._db = bench.db
    run_close_idle(process)
    return [(row[0],) for row in bench.rows("SELECT open_turn FROM sessions")]


def test_a_turn_that_nobody_answered_is_closed_after_its_time(bench: Bench, tmp_path: Path) -> None:
    bench.apply(message())
    bench.now = NOW + IDLE
    assert close_idle(bench, tmp_path, fakeredis.FakeRedis()) == [(1,)]
    bench.now += 1
    assert close_idle(bench, tmp_path, fakeredis.FakeRedis()) == [(None,)]
    assert bench.jobs("summarise") == [("turn:1:1", "pending")]


def test_a_session_is_not_idle_while_its_answer_waits_in_the_stream(bench: Bench, tmp_path: Path) -> None:
    client = fakeredis.FakeRedis()
    bench.apply(message())
    entry = client.xadd("sidestream:events", {"a": "b"}, id=f"{int(NOW + 5) * 1000}-0")
    bench.now = NOW + 2 * IDLE
    assert close_idle(bench, tmp_path, client) == [(1,)]
    assert isinstance(entry, bytes)
    client.xdel("sidestream:events", entry)
    assert close_idle(bench, tmp_path, client) == [(None,)]


def test_a_clock_that_was_set_back_keeps_no_turn_open(bench: Bench, tmp_path: Path) -> None:
    bench.apply(message())
    bench.now = NOW - 86_400.0
    nudger = Nudger(fakeredis.FakeRedis(), Keys(), lambda kind: None, str, 30.0)
    for _ in range(2):
        sweep(bench.db, nudger, now=bench.now, cache_size=10)
    assert close_idle(bench, tmp_path, fakeredis.FakeRedis()) == [(1,)]
    bench.now += IDLE + 1
    assert close_idle(bench, tmp_path, fakeredis.FakeRedis()) == [(None,)]


def test_turns_that_waited_for_their_session_to_rest_get_their_window(bench: Bench, tmp_path: Path) -> None:
    answered = [event for _ in range(5) for event in (message(), message(role="assistant", content="it will rain"))]
    bench.apply(*answered)
    bench.apply(*answered)
    fixed = bench.jobs("extract")
    bench.now = NOW + 29
    close_idle(bench, tmp_path, fakeredis.FakeRedis())
    assert bench.jobs("extract") == fixed
    bench.now = NOW + 30
    close_idle(bench, tmp_path, fakeredis.FakeRedis())
    assert bench.jobs("extract") == [*fixed, ("turns:1:3-10", "pending")]


def test_a_session_of_one_turn_is_extracted_when_it_lies_idle(bench: Bench, tmp_path: Path) -> None:
    bench.apply(message())
    bench.now = NOW + IDLE + 1
    close_idle(bench, tmp_path, fakeredis.FakeRedis())
    assert bench.jobs("extract") == [("turns:1:1-1", "pending")]
