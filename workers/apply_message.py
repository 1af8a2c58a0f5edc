"""What a message of the main dialogue becomes: a row with its `seq` and turn, terms, and the work it owes."""

import json

from memory.turns import advance, names_another_turn
from store.messages import NEEDS_NONE, OWED, MessageRow
from store.sessions import SessionRow
from workers.apply_turn import turn_closed
from workers.batch import Batch
from workers.entries import Incoming
from workers.kinds import COMPACT
from workers.session_book import set_turn_state, turn_state
from workers.utterance import Utterance

EMBEDDED_ROLES = ("user", "assistant")


def apply_message(batch: Batch, session: SessionRow, _item: Incoming, said: Utterance) -> None:
    """Adds the message to the batch and to its session's counters."""
    state, named = turn_state(session), None
    if said.turn_id is not None and names_another_turn(state, said.role, said.turn_id):
        named = batch.turn_named(session, said.turn_id)
    step = advance(state, said.role, said.turn_id, said.calls, said.answered, named)
    set_turn_state(session, step.state)
    session.last_seq += 1
    session.message_count += 1
    session.ended_at = None
    message_id = batch.next_message_id
    batch.next_message_id += 1
    embed = said.role in EMBEDDED_ROLES and len(said.content) > batch.rules.embed_min_chars
    batch.add_message(_row(batch, session, said, message_id, step.turn, OWED if embed else NEEDS_NONE))
    if said.terms:
        batch.terms.append(("message", message_id, session.scope_id, said.terms))
    batch.embeddings += embed
    session.token_count += said.tokens
    _ask_for_compaction(batch, session)
    for turn in step.closed:
        turn_closed(batch, session, turn)


def _row(batch: Batch, session: SessionRow, said: Utterance, message_id: int, turn: int, embedding: int) -> MessageRow:
    metadata = said.metadata
    if session.shared and not batch.book.is_owner(said, session):
        # In a shared session the row's scope is the owner's; who spoke must not be lost with that.
        metadata = json.dumps({**json.loads(metadata), "user_id": said.user_id}, ensure_ascii=False)
    return MessageRow(
        message_id,
        session.id,
        session.scope_id,
        said.event_id,
        session.last_seq,
        turn,
        said.turn_id,
        said.role,
        said.content,
        said.msg_type,
        said.agent_id,
        said.data_source,
        said.parent_id,
        said.run_id,
        said.tokens,
        embedding,
        said.occurred_at,
        batch.now,
        metadata,
    )


def _ask_for_compaction(batch: Batch, session: SessionRow) -> None:
    """Fixes how far the session is to be compacted, once it has grown enough since that was last fixed."""
    tokens = session.token_count - session.compact_tokens
    before = max(session.compact_seq, session.reset_seq)
    keep = batch.rules.compaction.due(tokens, session.last_seq - before)
    if keep is None:
        return
    session.compact_seq = session.last_seq - keep
    session.compact_tokens = session.token_count
    payload = {"session_pk": session.id, "boundary": session.compact_seq}
    batch.owe(COMPACT, f"session:{session.id}:{session.compact_seq}", session.namespace, payload)
    batch.compactions += 1
