"""What a closed turn owes: its summary, and an extraction window whenever enough turns have come together.

The consumer closes turns by events; the idle sweep closes those that nobody answered, by the same rules.
"""

from typing import Any, Protocol

from memory.turns import WindowRules, close, extraction_windows, settled
from store.sessions import SessionRow
from workers.kinds import EXTRACT, SUMMARISE, TIMELINE
from workers.session_book import set_turn_state, turn_state


class Ledger(Protocol):
    """Where work is written down."""

    def owe(self, kind: str, subject: str, namespace: str, payload: dict[str, Any]) -> None:
        """Work that is due now."""
        ...

    def defer(self, kind: str, subject: str, namespace: str, payload: dict[str, Any]) -> None:
        """Work whose handler does not exist yet."""
        ...

    @property
    def windows(self) -> WindowRules:
        """How many closed turns make an extraction window."""
        ...

    @property
    def now(self) -> float:
        """The ingest clock."""
        ...


def turn_closed(ledger: Ledger, session: SessionRow, turn: int) -> None:
    """The session's state says already that `turn` is closed."""
    payload = {"session_pk": session.id, "turn": turn}
    ledger.owe(SUMMARISE, f"turn:{session.id}:{turn}", session.namespace, payload)
    extract(ledger, session, settled(turn_state(session)), final=False)


def close_all(ledger: Ledger, session: SessionRow) -> None:
    """Closes the open turn, if there is one, and gives what is left to extraction and to the timeline: the session
    ended or lies idle."""
    step = close(turn_state(session))
    set_turn_state(session, step.state)
    for turn in step.closed:
        turn_closed(ledger, session, turn)
    extract(ledger, session, session.turn_count, final=True)
    if session.timeline_seq < session.last_seq:
        session.timeline_seq = session.last_seq
        payload = {"session_pk": session.id, "seq": session.last_seq}
        ledger.owe(TIMELINE, f"session:{session.id}:{session.last_seq}", session.namespace, payload)


def extract(ledger: Ledger, session: SessionRow, closed_turn: int, *, final: bool) -> None:
    """Fixes the extraction windows that are due with `closed_turn`."""
    rested = ledger.windows.rested(session.extracted_at, ledger.now)
    found = extraction_windows(session.extracted_turn, closed_turn, ledger.windows, final=final, rested=rested)
    for first, last in found:
        payload = {"session_pk": session.id, "scope_id": session.scope_id, "turn_first": first, "turn_last": last}
        ledger.owe(EXTRACT, f"turns:{session.id}:{first}-{last}", session.namespace, payload)
        session.extracted_turn, session.extracted_at = last, ledger.now
