"""What a message of the main dialogue becomes: a row with its `seq` and turn, terms, and the work it owes."""

import json

from memory.toolcalls import answered_call, call_ids
from memory.turns import advance
from sidestream.events import Message
from store.messages import NEEDS_NONE, OWED, MessageRow
from store.sessions import SessionRow
from workers.apply_turn import turn_closed
from workers.batch import Batch
from workers.entries import Incoming
from workers.kinds import COMPACT, EMBED
from workers.session_book import set_turn_state, turn_state

EMBEDDED_ROLES = ("user", "assistant")


def apply_message(batch: Batch, session: SessionRow, item: Incoming, event: Message) -> None:
    """Adds the message to the batch and to its session's counters."""
    meta = event.meta
    calls, answered = (call_ids(meta), answered_call(meta)) if meta else ((), None)
    step = advance(turn_state(session), event.role, event.turn_id, calls, answered)
    set_turn_state(session, step.state)
    session.last_seq += 1
    session.message_count += 1
    session.ended_at = None
    message_id = batch.next_message_id
    batch.next_message_id += 1
    embed = event.role in EMBEDDED_ROLES and len(event.content) > batch.rules.embed_min_chars
    batch.messages.append(_row(batch, session, item, event, message_id, step.turn, OWED if embed else NEEDS_NONE))
    if item.found.terms:
        batch.terms.append(("message", message_id, session.scope_id, item.found.terms))
    if embed:
        batch.owe(EMBED, f"message:{message_id}", session.namespace, {})
    _count_tokens(batch, session, item.found.tokens)
    for turn in step.closed:
        turn_closed(batch, session, turn)


def _row(
    batch: Batch,
    session: SessionRow,
    item: Incoming,
    event: Message,
    message_id: int,
    turn: int,
    embedding: int,
) -> MessageRow:
    meta = event.meta
    if session.shared and not batch.book.is_owner(event, session):
        # In a shared session the row's scope is the owner's; who spoke must not be lost with that.
        meta = {**meta, "user_id": event.user_id}
    return MessageRow(
        message_id,
        session.id,
        session.scope_id,
        item.event_id,
        session.last_seq,
        turn,
        event.turn_id,
        event.role,
        event.content,
        item.found.msg_type,
        event.agent_id,
        event.data_source,
        event.parent_id,
        event.run_id,
        item.found.tokens,
        embedding,
        item.occurred_at,
        batch.now,
        json.dumps(meta, ensure_ascii=False) if meta else "{}",
    )


def _count_tokens(batch: Batch, session: SessionRow, tokens: int) -> None:
    """Compaction is asked for each time the session has grown by another `compact_tokens`."""
    limit = batch.rules.compact_tokens
    before = session.token_count // limit
    session.token_count += tokens
    if session.token_count // limit > before:
        session.compact_seq = session.last_seq
        payload = {"session_pk": session.id, "seq": session.last_seq}
        batch.defer(COMPACT, f"session:{session.id}:{session.last_seq}", session.namespace, payload)
