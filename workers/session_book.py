"""The sessions of one batch: loaded once, changed in memory by each event, saved once.

Here it is decided whose session an event may enter: a session belongs to the user of its first event, and
another user's event is refused unless the session was opened as shared.
"""

from collections.abc import Iterable

from memory.turns import TurnState
from memory.types import Scope
from sidestream.events import Event
from store import scopes, sessions
from store.db import Database
from store.sessions import SessionRow
from workers.errors import Rejected
from workers.utterance import Utterance

DEFAULT_USER = "default"


class SessionBook:
    """Sessions by (namespace, session id), inside one write transaction. `now` is the ingest clock."""

    def __init__(self, db: Database, wanted: Iterable[tuple[str, str]], now: float) -> None:
        self._db = db
        self._now = now
        self._rows = sessions.load_many(db, sorted(set(wanted)))
        self._touched: dict[int, SessionRow] = {}
        self._scopes: dict[tuple[str, str], int | None] = {}

    def enter(self, event: Event | Utterance, occurred_at: float, *, create: bool = True) -> SessionRow:
        """The event's session, made by its first event.

        Raises:
            Rejected: it belongs to another user, or is not there and `create` is false.
        """
        key = (event.namespace, event.session_id)
        row = self._rows.get(key)
        if row is None and not create:
            raise Rejected(f"session_id: {event.session_id!r} is not known, so that it can have no run")
        if row is None:
            row = self._rows[key] = self._create(event, occurred_at)
        elif event.user_id is not None and not row.shared and self._scope(*self._user(event)) != row.scope_id:
            raise Rejected(
                f"user_id: session {event.session_id!r} belongs to another user than {event.user_id!r} "
                "and was not opened as shared"
            )
        row.last_activity = self._now
        self._touched[row.id] = row
        return row

    def is_owner(self, event: Event | Utterance, row: SessionRow) -> bool:
        """The event names no user, or the one that the session belongs to."""
        return event.user_id is None or self._scope(*self._user(event)) == row.scope_id

    def save(self) -> None:
        """Writes every session that an event entered."""
        sessions.save_many(self._db, list(self._touched.values()))

    def _create(self, event: Event | Utterance, occurred_at: float) -> SessionRow:
        namespace, user = self._user(event)
        scope = scopes.scope_id(self._db, namespace, user)
        self._scopes[namespace, user] = scope
        row = SessionRow(
            namespace=namespace,
            session_id=event.session_id,
            scope_id=scope,
            started_at=occurred_at,
            last_activity=self._now,
            agent_id=event.agent_id,
            data_source=event.data_source,
        )
        return sessions.create(self._db, row)

    def _scope(self, namespace: str, user: str) -> int | None:
        key = (namespace, user)
        if key not in self._scopes:
            self._scopes[key] = scopes.find_scope(self._db, Scope(namespace=namespace, user_id=user))
        return self._scopes[key]

    @staticmethod
    def _user(event: Event | Utterance) -> tuple[str, str]:
        return event.namespace, event.user_id or DEFAULT_USER


def turn_state(row: SessionRow) -> TurnState:
    """Where the session's turns stand."""
    return TurnState(row.turn_count, row.open_turn, row.open_turn_id, row.open_tool_calls, row.closed_turns)


def set_turn_state(row: SessionRow, state: TurnState) -> None:
    """Takes over what a step made of the turns."""
    row.turn_count = state.turn_count
    row.open_turn = state.open_turn
    row.open_turn_id = state.open_turn_id
    row.open_tool_calls = state.open_tool_calls
    row.closed_turns = state.closed_turns
