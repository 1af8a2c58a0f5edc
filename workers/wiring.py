"""Puts a consumer together from what its process holds."""

import threading
from collections.abc import Sequence

from store.processes import this_process
from workers.batch import IngestRules
from workers.bootstep import Runnable
from workers.celery_app import WorkerApp
from workers.checkpoint import Checkpointer
from workers.compact import compaction_rules
from workers.config import own_queue, queue_prefix
from workers.consumer import ConsumerRules, StreamConsumer
from workers.kinds import EMBED, FEEDBACK
from workers.liveness import Liveness
from workers.outbox import Outbox
from workers.process import Process, connect
from workers.stream import EventStream
from workers.watchdog import Watchdog, WatchRules, Worker, busy, wake_main_thread

CONSUMER_ROLE = "consumer"
# Answers and seconds: long enough for an answer to be embedded, so that meaning can be asked too.
_FEEDBACK = (16, 5.0)


def build_ingest(process: Process, stop: threading.Event) -> dict[str, Runnable]:
    """What runs in an ingest worker beside Celery, by thread name."""
    return {
        "stream-consumer": _build(process, this_process(), stop, [CONSUMER_ROLE]),
        "checkpointer": Checkpointer(process.open_database, stop),
    }


def build_drain(process: Process) -> StreamConsumer:
    """A consumer for one pass over the stream inside a task; another holder than this process's own
    thread. It shows no heartbeat: that the stream moves by it means that no ingest worker lives."""
    return _build(process, f"drain@{this_process()}:{process.ids()}", threading.Event(), [])


def build_watchdog(app: WorkerApp, queues: Sequence[str], stop: threading.Event) -> Watchdog:
    """What watches this worker process, which shares `queues` with others and has one of its own."""
    process, settings, name = app.process, app.process.settings, this_process()
    client = connect(process.redis_url)
    own = own_queue(name)
    liveness = Liveness(client, process.keys, name, queues, settings.heartbeat_every)
    worker = Worker(
        ping=lambda: app.send_heartbeat(own.name, name, queues),
        vouch=lambda: liveness.beat(process.clock()),
        leave=liveness.leave,
        busy=busy,
        wake=wake_main_thread,
    )
    patience = 2 * settings.heartbeat_every
    return Watchdog(
        client,
        [f"{queue_prefix(settings.redis_prefix)}{queue}" for queue in (own.name, *queues)],
        WatchRules(settings.heartbeat_every, patience, settings.task_hard_limit + patience),
        worker,
        stop=stop,
    )


def _build(process: Process, owner: str, stop: threading.Event, roles: Sequence[str]) -> StreamConsumer:
    settings = process.settings
    client = connect(process.redis_url, wait=settings.ingest_block)
    return StreamConsumer(
        owner=owner,
        open_database=process.open_consumer_database,
        stream=EventStream(client, process.keys, owner, settings.ingest_batch),
        keys=process.keys,
        nudger=process.nudger,
        liveness=Liveness(client, process.keys, owner, roles, settings.heartbeat_every),
        outbox=Outbox({EMBED: (settings.embed_min_batch, settings.embed_wait), FEEDBACK: _FEEDBACK}),
        rules=ConsumerRules(settings.ingest_lease, settings.ingest_block, min(1.0, settings.ingest_lease / 3)),
        ingest_rules=IngestRules(
            embed_min_chars=settings.embed_min_chars,
            extract_every=settings.extract_every,
            compaction=compaction_rules(settings),
            extract_latest=settings.extract_latest,
            extract_gap=settings.extract_gap,
            subagent_reply_tokens=settings.subagent_reply_tokens,
        ),
        clock=process.clock,
        stop=stop,
    )
