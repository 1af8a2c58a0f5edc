"""The scheduler's own decisions, without a broker."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import celery
import fakeredis
import pytest

from config.settings import load
from workers.app import build_app
from workers.beat import TickScheduler

NOW = 1_800_000_000.0
HOUR = 3_600.0


class Scheduled(TickScheduler):
    """Keeps the names of the ticks that it would send, by a clock that the test sets."""

    producer: Any = None
    clock: "Clock"

    def run(self, at: float) -> list[str]:
        """What falls due at a time."""
        self.clock.now = at
        self.sent: list[str] = []
        while self.tick() == 0:
            pass
        return sorted(self.sent)

    def apply_async(self, entry: Any, *_: Any, **__: Any) -> Any:
        """In place of sending."""
        self.sent.append(entry.name)


class Clock:
    """Unix seconds."""

    now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scheduled]:
    current: Any = celery.current_app
    before = current._get_current_object()
    app, clock = build_app(), Clock()
    process = app.process
    process.settings, process.redis, process.clock = load(data_dir=tmp_path), fakeredis.FakeRedis(), clock
    monkeypatch.setattr(app, "now", lambda: datetime.fromtimestamp(clock.now, UTC))
    found = Scheduled(app)
    found.clock = clock
    yield found
    before.set_current()


def test_a_fresh_beat_ticks_everything_and_then_what_falls_due(scheduler: Scheduled) -> None:
    everything = scheduler.run(NOW)
    assert {"sweep", "close-idle"} <= set(everything)
    assert "drain-stream" not in everything, "the consumer comes first"
    assert scheduler.run(NOW + 29) == []
    assert {"sweep", "close-idle", "drain-stream"} <= set(scheduler.run(NOW + 31))


def test_a_clock_that_was_set_back_does_not_stop_the_ticks(scheduler: Scheduled) -> None:
    everything = scheduler.run(NOW)
    assert scheduler.run(NOW - HOUR) == everything
    assert {"sweep", "drain-stream"} <= set(scheduler.run(NOW - HOUR + 31))


def test_a_clock_that_is_set_right_by_a_little_changes_nothing(scheduler: Scheduled) -> None:
    scheduler.run(NOW)
    assert scheduler.run(NOW - 0.5) == []
