"""What a session's own events become: it opens as shared, ends, or starts anew with an empty window."""

from memory.turns import settled
from sidestream.events import SessionEnded, SessionFlushed, SessionReset, SessionStarted
from store.sessions import SessionRow
from workers.apply_turn import close_all, extract
from workers.batch import Batch
from workers.entries import Incoming
from workers.errors import Rejected
from workers.session_book import turn_state


def apply_started(batch: Batch, session: SessionRow, _item: Incoming, event: SessionStarted) -> None:
    """Opens the session, as shared if it says so; only the owner may share one that stands already.

    Raises:
        Rejected: another user wants to share it.
    """
    if event.shared and not session.shared:
        if not batch.book.is_owner(event, session):
            raise Rejected("shared: only the session's own user may open it to others")
        session.shared = True
    session.agent_id = session.agent_id or event.agent_id
    session.data_source = session.data_source or event.data_source


def apply_ended(batch: Batch, session: SessionRow, item: Incoming, _event: SessionEnded) -> None:
    """Closes the open turn and gives what is left to extraction."""
    close_all(batch, session)
    session.ended_at = item.occurred_at


def apply_flushed(batch: Batch, session: SessionRow, _item: Incoming, _event: SessionFlushed) -> None:
    """Gives the closed turns to extraction, however few; the open one stays open."""
    extract(batch, session, settled(turn_state(session)), final=True)


def apply_reset(_batch: Batch, session: SessionRow, _item: Incoming, _event: SessionReset) -> None:
    """Empties the window; what came before stays recallable. The open turn stays open: its answer may be on
    its way."""
    session.reset_seq = session.last_seq
    session.reset_tokens = session.compact_tokens = session.token_count
