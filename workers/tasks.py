"""The Celery tasks. Each is a hint to look at rows, carries no content, and may run any number of times."""

from collections.abc import Callable, Sequence
from typing import Any

from config.logging import get_logger
from memory.turns import WindowRules
from recall.policy import weight_policy
from store import read_counts
from workers.adjust import AdjustHandler
from workers.celery_app import WorkerApp, task_name
from workers.compact import CompactHandler, compact_options
from workers.drain import Drain, Drained, DrainRules, Handler
from workers.embed import EmbedHandler
from workers.extract import ExtractHandler, extract_rules, extractor_prompt
from workers.feedback import FeedbackHandler
from workers.idle import close_idle
from workers.kinds import (
    ADJUST,
    COMPACT,
    EMBED,
    EXTRACT,
    FEEDBACK,
    FORGET,
    REEMBED,
    REEXTRACT,
    REMEMBER,
    SUMMARISE,
    SWITCH,
    TIMELINE,
)
from workers.liveness import Liveness
from workers.nightly import nightly_share
from workers.process import Process
from workers.readers import Readers
from workers.reembed import ReembedHandler, begin, forget_retired
from workers.reextract import ReextractHandler, SwitchHandler
from workers.remember import IN_ORDER, ForgetHandler, RememberHandler
from workers.retry import RetryRules
from workers.stream import stored_until
from workers.summarise import SummariseHandler
from workers.sweep import sweep
from workers.timeline import TimelineHandler
from workers.upkeep import keep_up
from workers.wiring import build_drain

log = get_logger("tasks")

# Shares of the soft time limit: a claim is begun within the first and is over within the second, so that no
# task is ended from outside while it holds jobs.
_BUDGET, _PATIENCE = 1 / 6, 0.75
_TURN = 2.0
"""Seconds for which one task of a long piece of work keeps others of its queue waiting."""


def register(app: WorkerApp) -> None:
    """Gives the application its tasks."""
    for name, work in _TASKS.items():
        # A heartbeat that comes back after its worker was killed would lie in a queue that nobody consumes.
        app.task(name=task_name(name), ignore_result=True, acks_late=name != "heartbeat")(_bound(work, app.process))


def _bound(work: Callable[..., None], process: Process) -> Callable[..., None]:
    def run(*args: str) -> None:
        work(process, *args)

    run.__name__ = work.__name__
    run.__doc__ = work.__doc__
    return run


def embed(process: Process) -> None:
    """Embeds what is due."""
    settings = process.settings
    handler = EmbedHandler(
        process.db,
        process.embedder,
        limit=settings.embed_max_batch,
        min_batch=settings.embed_min_batch,
        max_wait=settings.embed_wait,
        clock=process.clock,
    )
    _drain(process, handler)


def reembed(process: Process) -> None:
    """Embeds a while for the space of a new model; then what was said meanwhile has its turn."""
    settings = process.settings
    handler = ReembedHandler(process.db, process.embedder, batch=settings.embed_max_batch, clock=process.clock)
    _drain(process, handler, budget=_TURN)


def summarise(process: Process) -> None:
    """Summarises the turns that are due; what it wrote is then embedded."""
    settings = process.settings
    handler = SummariseHandler(
        process.db,
        process.summariser,
        keep=settings.summaries_kept,
        min_chars=settings.embed_min_chars,
        clock=process.clock,
    )
    _drain(process, handler)
    if handler.embeds:
        process.nudger.nudge(EMBED)


def extract(process: Process) -> None:
    """Extracts facts from the windows that are due; what it stored is then embedded."""
    settings = process.settings
    handler = ExtractHandler(
        process.db,
        process.extractor,
        extractor_prompt(settings),
        extract_rules(settings),
        clock=process.clock,
    )
    _drain(process, handler, in_order=(EXTRACT,))
    if handler.embeds:
        process.nudger.nudge(EMBED)


def remember(process: Process) -> None:
    """Stores what was told to be remembered; what it stored is then embedded."""
    handler = RememberHandler(process.db, process.settings.fact_max_chars, clock=process.clock)
    drained = _drain(process, handler, in_order=IN_ORDER)
    if handler.embeds:
        process.nudger.nudge(EMBED)
    if drained.done:
        process.nudger.nudge(FORGET)


def forget(process: Process) -> None:
    """Archives or destroys what was told to be forgotten."""
    if _drain(process, ForgetHandler(process.db, clock=process.clock), in_order=IN_ORDER).done:
        process.nudger.nudge(REMEMBER)


def reextract(process: Process) -> None:
    """Reads sessions again for generations of facts."""
    readers = Readers(process.db, process.settings, clock=process.clock)
    try:
        _drain(process, ReextractHandler(process.db, readers, clock=process.clock))
    finally:
        process.run(readers.aclose())


def switch_generation(process: Process) -> None:
    """Puts generations of facts in the place of what stood; what came is then embedded."""
    handler = SwitchHandler(process.db, clock=process.clock)
    _drain(process, handler)
    if handler.embeds:
        process.nudger.nudge(EMBED)


def feedback(process: Process) -> None:
    """Moves the weights of the facts that answers were given."""
    _drain(process, FeedbackHandler(process.db, weight_policy(process.settings), clock=process.clock))


def adjust(process: Process) -> None:
    """Carries out what people decided about facts; what was released is then embedded."""
    handler = AdjustHandler(process.db, clock=process.clock)
    _drain(process, handler)
    if handler.embeds:
        process.nudger.nudge(EMBED)


def keep_facts(process: Process) -> None:
    """Archives facts that have faded, expired or are too many."""
    settings = process.settings
    archived = keep_up(process.db, weight_policy(settings), process.clock(), settings.task_soft_limit * _BUDGET)
    if archived:
        log.info("facts_archived", facts=archived)


def compact(process: Process) -> None:
    """Compacts the sessions that are due; the timeline then tells of it."""
    settings = process.settings
    handler = CompactHandler(
        process.db,
        process.summariser,
        compact_options(settings),
        clock=process.clock,
    )
    _drain(process, handler)
    for kind in handler.owes:
        process.nudger.nudge(kind)


def timeline(process: Process) -> None:
    """Writes what happened in sessions that were compacted or have ended."""
    handler = TimelineHandler(process.db, clock=process.clock)
    _drain(process, handler)
    if handler.owes:
        process.nudger.nudge(TIMELINE)


def run_sweep(process: Process) -> None:
    """Sends the tasks that are missing, and takes over what readers counted."""
    owed = sweep(process.db, process.nudger, now=process.clock(), cache_size=process.settings.embed_cache_size)
    if owed:
        log.info("swept", **owed)
    read_counts.fold(process.redis, process.keys, process.db)
    if begin(process.db, process.embedder, process.clock()):
        process.nudger.nudge(REEMBED)
    forget_retired(process.db)


def run_close_idle(process: Process) -> None:
    """Closes turns that nobody answered."""
    settings = process.settings
    now = process.clock()
    # While the consumer is behind, a session is not idle: the answer that it waits for may stand in the stream.
    before = stored_until(process.redis, process.keys, now) - settings.turn_idle
    windows = WindowRules(settings.extract_every, settings.extract_latest, settings.extract_gap)
    finished, owed = close_idle(process.db, now=now, before=before, windows=windows)
    if finished:
        log.info("idle_sessions_closed", sessions=finished, summaries=owed[SUMMARISE], windows=owed[EXTRACT])
    for kind in owed:
        process.nudger.nudge(kind)


def drain_stream(process: Process) -> None:
    """Stores what stands in the stream, if no consumer is alive to do it."""
    settings = process.settings
    entries = build_drain(process).drain(min(settings.drain_every, settings.task_soft_limit / 2))
    if entries:
        log.warning("stream_drained_by_beat", entries=entries)


def run_nightly(process: Process) -> None:
    """Does a share of the night's upkeep, if it is due."""
    nightly_share(process, process.settings.task_soft_limit * _BUDGET)


def heartbeat(process: Process, worker: str, *roles: str) -> None:
    """Shows that the process `worker`, which serves the queues `roles`, takes and does tasks."""
    Liveness(process.redis, process.keys, worker, roles, process.settings.heartbeat_every).beat(process.clock())


_TASKS: dict[str, Callable[..., None]] = {
    EMBED: embed,
    REEMBED: reembed,
    SUMMARISE: summarise,
    EXTRACT: extract,
    REMEMBER: remember,
    FORGET: forget,
    FEEDBACK: feedback,
    ADJUST: adjust,
    REEXTRACT: reextract,
    SWITCH: switch_generation,
    "keep_facts": keep_facts,
    COMPACT: compact,
    TIMELINE: timeline,
    "sweep": run_sweep,
    "close_idle": run_close_idle,
    "drain_stream": drain_stream,
    "heartbeat": heartbeat,
    "nightly": run_nightly,
}


def _drain(
    process: Process, handler: Handler[Any], budget: float | None = None, in_order: Sequence[str] = ()
) -> Drained:
    reason = handler.ready()
    if reason is not None:
        # The mark of the hint stands, so that the next one comes when it has run out and not with the next
        # event.
        log.warning("work_waits", kind=handler.kind, reason=reason)
        return Drained()
    process.nudger.started(handler.kind)
    usage = process.usage
    try:
        rules = _rules(process, budget)
        drain = Drain(process.db, handler, rules, clock=process.clock, ids=process.ids, in_order=in_order)
        drained = process.run(drain.run())
    finally:
        usage.write(process.db)
    if drained.done or drained.failed:
        log.info("drained", kind=handler.kind, done=drained.done, failed=drained.failed, more=drained.more)
    if drained.more:
        process.nudger.nudge(handler.kind)
    return drained


def _rules(process: Process, budget: float | None) -> DrainRules:
    settings = process.settings
    whole = settings.task_soft_limit * _BUDGET
    return DrainRules(
        lease=settings.job_lease,
        budget=min(budget or whole, whole),
        patience=settings.task_soft_limit * _PATIENCE,
        retry=RetryRules(
            settings.job_max_attempts, settings.job_backoff, settings.job_backoff_max, settings.job_patience
        ),
    )
