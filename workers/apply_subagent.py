"""What a sub-agent's events become: a run and its messages, in tables of their own, never part of the
dialogue."""

from memory.tokens import estimate
from sidestream.events import SubagentFinished, SubagentMessage, SubagentStarted
from store import runs
from store.sessions import SessionRow
from workers.batch import Batch
from workers.entries import Incoming
from workers.errors import Rejected


def apply_run_started(batch: Batch, session: SessionRow, item: Incoming, event: SubagentStarted) -> None:
    """Opens the run.

    Raises:
        Rejected: the session has a run of that id.
    """
    if runs.find(batch.db, session.id, event.run_id) is not None:
        raise Rejected(f"run_id: run {event.run_id!r} of this session has started before")
    runs.start(
        batch.db,
        session_pk=session.id,
        scope_id=session.scope_id,
        run_id=event.run_id,
        agent_id=event.agent_id,
        parent_id=event.parent_id,
        brief=event.content,
        started_at=item.occurred_at,
        metadata=event.meta,
    )


def apply_run_message(batch: Batch, session: SessionRow, item: Incoming, event: SubagentMessage) -> None:
    """Appends to the run.

    Raises:
        Rejected: no such run has started.
    """
    content, cut = cut_reply(event.content, batch.rules.subagent_reply_tokens)
    runs.add_message(
        batch.db,
        _run(batch, session, event.run_id),
        event_id=item.event_id,
        role=event.role,
        content=content,
        token_count=estimate(content),
        occurred_at=item.occurred_at,
        cut=cut,
        metadata=event.meta,
    )


def apply_run_finished(batch: Batch, session: SessionRow, item: Incoming, event: SubagentFinished) -> None:
    """Ends the run with its report.

    Raises:
        Rejected: no such run has started, or it is over.
    """
    report, _ = cut_reply(event.content, batch.rules.subagent_reply_tokens)
    run = _run(batch, session, event.run_id)
    if not runs.finish(batch.db, run, status=event.status, report=report, finished_at=item.occurred_at):
        raise Rejected(f"run_id: run {event.run_id!r} was finished before")


def cut_reply(text: str, most: int) -> tuple[str, bool]:
    """`text` within `most` estimated tokens, its end replaced by a mark where it was longer; and whether it
    was."""
    whole = estimate(text)
    if whole <= most:
        return text, False
    mark = f"\n[… cut: {whole} tokens in all, the first {most} kept]"
    budget = max(1, most - estimate(mark))
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate(text[:middle]) <= budget else (low, middle - 1)
    return text[:low] + mark, True


def _run(batch: Batch, session: SessionRow, run_id: str) -> int:
    found = runs.find(batch.db, session.id, run_id)
    if found is None:
        raise Rejected(f"run_id: no run {run_id!r} has started in this session")
    return found
