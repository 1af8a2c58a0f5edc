"""What beat ticks, and the scheduler that ticks it.

Beat keeps no file: rows say what is due, so a tick is only a hint to look at them, and a tick too many or
too few does nothing. Two beats, or one that is killed between a tick and its mark, are harmless for the
same reason. A fresh beat ticks everything at once, so that one which restarts often still ticks. Only the
drain of the stream waits for its time, so that a consumer that starts beside beat comes first.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import redis
from celery.beat import ScheduleEntry, Scheduler

from config.logging import get_logger
from config.settings import Settings
from store.processes import this_process
from workers import faults
from workers.config import queue_prefix
from workers.kinds import MAINTAIN
from workers.liveness import Liveness

if TYPE_CHECKING:
    from workers.celery_app import WorkerApp

log = get_logger("beat")

BEAT_ROLE = "beat"
# Ticks that nobody takes are worth nothing; without this a day without workers would leave thousands. They
# carry no expiry: a Celery worker throws expired tasks away at three or four a second, and runs them at
# hundreds.
MOST_WAITING = 5
# Seconds by which the clock must have been set back for it to matter; it is set right by less all the time.
_STEP_BACK = 1.0
_DRAIN = "drain-stream"
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def ticks(settings: Settings) -> dict[str, dict[str, Any]]:
    """Celery's `beat_schedule`: task, seconds between ticks, queue."""
    return {
        "sweep": _tick("sweep", settings.sweep_every, MAINTAIN),
        "keep-facts": _tick("keep_facts", settings.fact_upkeep_every, MAINTAIN),
        "close-idle": _tick("close_idle", settings.sweep_every, MAINTAIN),
        "nightly": _tick("nightly", settings.sweep_every, MAINTAIN),
        _DRAIN: _tick("drain_stream", settings.drain_every, MAINTAIN),
    }


def _tick(task: str, every: float, queue: str) -> dict[str, Any]:
    return {
        "task": f"sidestream.{task}",
        "schedule": every,
        "options": {"queue": queue, "ignore_result": True},
    }


class TickScheduler(Scheduler):
    """Keeps its marks in memory, ticks no queue that is full of ticks, and shows that it lives."""

    def setup_schedule(self) -> None:
        """All entries, due at once but the drain."""
        process = cast("WorkerApp", self.app).process
        self._redis = process.redis
        self._prefix = queue_prefix(process.settings.redis_prefix)
        self._clock = process.clock
        self._ticked_at = self._clock()
        every = process.settings.heartbeat_every
        self._liveness = Liveness(process.redis, process.keys, this_process(), [BEAT_ROLE], every)
        self._begin_anew()

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """One step of the schedule."""
        now = self._clock()
        if now < self._ticked_at - _STEP_BACK:
            # Every entry would wait until the time of its last tick has come again.
            log.warning("beat_began_anew", seconds_back=round(self._ticked_at - now, 1))
            self._begin_anew()
        self._ticked_at = now
        wait = super().tick(*args, **kwargs)
        self._liveness.beat(now)
        return wait

    def close(self) -> None:
        """The orderly end."""
        super().close()
        self._liveness.leave()

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> Any:
        """Sends the tick, unless its queue holds enough already."""
        queue = str((entry.options or {})["queue"])
        if self._waiting(queue) >= MOST_WAITING:
            log.warning("tick_skipped", tick=entry.name, queue=queue)
            return
        super().apply_entry(entry, producer)
        faults.reach("beat.after_tick")

    def _begin_anew(self) -> None:
        self._heap = None
        for name, entry in self.app.conf.beat_schedule.items():
            last = None if name == _DRAIN else _LONG_AGO
            self.schedule[name] = ScheduleEntry(**entry, name=name, app=self.app, last_run_at=last)

    def _waiting(self, queue: str) -> int:
        try:
            return self._redis.llen(f"{self._prefix}{queue}")
        except redis.RedisError:
            return 0
