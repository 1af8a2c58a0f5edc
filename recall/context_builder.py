"""What goes into a context: read in one snapshot, then assembled by the rules of memory.context."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memory.budget import Budget
from memory.compaction.parts import ActiveCheckpoint
from memory.context import Recall, assemble, recall_wanted
from memory.context_timeline import with_timeline
from memory.ranking import Key
from memory.tokens import Corrector
from memory.types import Degraded, Hit, Scope, StoredMessage, Summary, TimelineEntry
from recall.checkpoint import read_checkpoint
from recall.facts import RELEVANT_FROM, FactQuery, context_facts
from recall.options import RecallOptions
from recall.results import ContextResult, Lag
from recall.search import Query, search_store, search_tail
from recall.window import not_stored, window
from store import messages, sessions, summaries, timeline
from store.db import Database
from store.fact_reading import FactFilter
from store.health import lag as store_lag
from store.sessions import SessionRow


@dataclass(frozen=True, slots=True)
class Parts:
    """All that a context may hold, and how it came about."""

    window: list[StoredMessage] = field(default_factory=list)
    checkpoint: ActiveCheckpoint | None = None
    reuse: bool = False
    summaries: list[Summary] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    facts: list[Hit] = field(default_factory=list)
    timeline: list[TimelineEntry] | None = None
    reason: str = ""
    degraded: list[Degraded] = field(default_factory=list)
    lag: Lag = field(default_factory=Lag)


def wanted(query: str, window: Sequence[StoredMessage], options: RecallOptions) -> Recall:
    """Which memories the query calls for; a first round is one in which nobody has answered yet."""
    first_round = not any(message.role == "assistant" for message in window)
    return wanted_by_query(query, first_round=first_round, options=options)


def wanted_by_query(query: str, *, first_round: bool, options: RecallOptions) -> Recall:
    """As `wanted`, for who knows which round it is."""
    return recall_wanted(
        query,
        first_round=first_round,
        first_round_empty=options.first_round_empty,
        min_query_length=options.min_query_length,
        long_term_trigger=options.long_term_trigger,
    )


def read_parts(
    db: Database,
    scope: Scope,
    query: Query,
    pending: Sequence[StoredMessage],
    options: RecallOptions,
    now: float,
    model_window: int | None = None,
    entries: int = 0,
) -> Parts:
    """The parts as SQLite has them, with what is `pending`, for a model's window of so many tokens, and up to so many
    `entries` of the timeline. Call it within one snapshot."""
    session = sessions.get(db, scope)
    reused = read_checkpoint(db, scope, session, options.compaction, model_window or options.chat_window)
    after = reused.checkpoint.boundary_seq if reused.checkpoint else 0
    stored = messages.window(db, scope, options.window_messages, min_seq=after, session=session) if session else []
    fresh = not_stored(db, scope, pending)
    shown = window(stored, fresh, options.window_messages)
    rule = wanted(query.text, shown, options)
    recent = summaries.recent(db, scope, options.summaries_kept)
    hits: list[Hit] = []
    facts: list[Hit] = []
    degraded: list[Degraded] = []
    if rule.long_term:
        without: set[Key] = {("message", message.id) for message in shown if message.id}
        without |= {("summary", summary.id) for summary in recent}
        # Recall is over all of the user's sessions, not this one alone.
        everywhere = replace(scope, session_id=None)
        unseen = fresh[: max(0, len(fresh) - len(shown))]
        found = search_store(db, everywhere, replace(query, without=without, echoes=False), unseen, now)
        hits, degraded = found.hits, found.degraded
        facts = _facts(db, scope, session, query, options, now)
    owed = store_lag(db, scope, now)
    return Parts(
        window=shown,
        checkpoint=reused.checkpoint,
        reuse=reused.due,
        summaries=recent if rule.summaries else [],
        hits=hits,
        facts=facts,
        timeline=_older(db, scope, shown, entries) if entries else None,
        reason=rule.reason,
        degraded=[*reused.degraded, *degraded],
        lag=Lag(owed=owed.owed, oldest=owed.oldest),
    )


def _older(db: Database, scope: Scope, shown: Sequence[StoredMessage], limit: int) -> list[TimelineEntry]:
    """What the user's timeline tells of before the window, newest first; each moment stands in one entry."""
    before = min((message.occurred_at for message in shown), default=float("inf"))
    everywhere = replace(scope, session_id=None)
    found = timeline.newest(db, everywhere, level=None, start=float("-inf"), end=before, limit=limit + 1)
    return [entry for entry in found if entry.ends_at < before][:limit]


def _facts(
    db: Database, scope: Scope, session: SessionRow | None, query: Query, options: RecallOptions, now: float
) -> list[Hit]:
    """Facts of all the user's sessions; where this session has a data source, those of it and of none."""
    which = FactFilter(data_source=None if session is None else session.data_source)
    wanted = FactQuery(query.text, options.fact_limit, query.vector, which, RELEVANT_FROM)
    # What cannot be searched by meaning is noted by the search for messages already.
    return context_facts(db, replace(scope, session_id=None), wanted, options.weights, now)[0]


def parts_without_store(query: Query, pending: Sequence[StoredMessage], options: RecallOptions, now: float) -> Parts:
    """The parts when SQLite cannot be read: what is pending is all there is."""
    unique = list({message.event_id: message for message in pending}.values())
    shown = window((), unique, options.window_messages)
    rule = wanted(query.text, shown, options)
    unseen = unique[: len(unique) - len(shown)]
    hits = search_tail(query, unseen, now).hits if rule.long_term else []
    return Parts(window=shown, hits=hits, reason=rule.reason)


def build(
    parts: Parts, *, runtime: str | None, budget: Budget, options: RecallOptions, corrector: Corrector | None
) -> ContextResult:
    """The context within its budget."""
    context = assemble(
        runtime=runtime,
        checkpoint=parts.checkpoint,
        window=parts.window,
        summaries=parts.summaries,
        hits=parts.hits,
        facts=parts.facts,
        budget=budget,
        message_cut=options.message_cut,
        corrector=corrector,
        degraded=parts.degraded,
    )
    if parts.timeline is not None:
        context = with_timeline(context, parts.timeline, corrector)
    return ContextResult(context, tuple(parts.window), tuple(parts.hits), parts.reason, parts.lag, tuple(parts.facts))
