"""The turn state machine: which turn a message belongs to, and which turn it closes.

A turn opens with a user message (several in a row belong to it), holds tool calls and their results, and
closes with an assistant message that has no tool call open, or when `close` is called (session end, idle).
"""

from collections.abc import Sequence
from typing import NamedTuple


class TurnState(NamedTuple):
    """Where a session stands. Turns count from 1; `open_turn` is the open one's number or None.

    `open_turn_id` is the explicit id of the one opened last and is kept after it closed, so that a late message of it is known.
    """

    turn_count: int = 0
    open_turn: int | None = None
    open_turn_id: str | None = None
    open_tool_calls: tuple[str, ...] = ()
    closed_turns: int = 0


class Step(NamedTuple):
    """The state after a message, the turn the message belongs to, and the turns that closed, oldest first."""

    state: TurnState
    turn: int
    closed: tuple[int, ...] = ()


def advance(
    state: TurnState,
    role: str,
    turn_id: str | None = None,
    tool_calls: Sequence[str] = (),
    tool_call_id: str | None = None,
    named_turn: int | None = None,
) -> Step:
    """The step that one message makes. `named_turn` is the turn in which the session has that `turn_id`
    already, None for none; it matters where `names_another_turn` says so.

    A user message with a `turn_id` other than the open turn's closes that turn and opens a new one. Any other
    message that names another turn leaves the open one as it is: it joins the turn that it names, or is a turn
    of its own. Without an open turn an assistant, tool or system message joins the newest turn (0 if there is
    none) and opens nothing, unless it names a `turn_id` of its own.
    """
    closed: tuple[int, ...] = ()
    if names_another_turn(state, role, turn_id) and named_turn != state.open_turn:
        if named_turn is not None:
            return Step(state, named_turn)
        if state.open_turn_id is not None:
            return _aside(state)
    if state.open_turn is not None and role == "user" and turn_id is not None and turn_id != state.open_turn_id:
        before = close(state)
        state, closed = before.state, before.closed
    if state.open_turn is None and (role == "user" or (turn_id is not None and turn_id != state.open_turn_id)):
        state = _opened(state, turn_id)
    if state.open_turn is None:
        return Step(state, state.turn_count, closed)
    turn = state.open_turn
    calls = _calls_after(state.open_tool_calls, role, tool_calls, tool_call_id)
    if calls != state.open_tool_calls:
        state = state._replace(open_tool_calls=calls)
    if role == "assistant" and not state.open_tool_calls:
        after = close(state)
        return Step(after.state, turn, closed + after.closed)
    return Step(state, turn, closed)


def names_another_turn(state: TurnState, role: str, turn_id: str | None) -> bool:
    """Whether a message that is no user's says that it belongs elsewhere than to the open turn."""
    return role != "user" and turn_id is not None and turn_id != state.open_turn_id


def settled(state: TurnState) -> int:
    """The turn up to which all are closed."""
    return state.turn_count if state.open_turn is None else state.open_turn - 1


def close(state: TurnState) -> Step:
    """Closes the open turn, if there is one: the session ended or lay idle."""
    if state.open_turn is None:
        return Step(state, state.turn_count)
    shut = TurnState(state.turn_count, None, state.open_turn_id, (), state.closed_turns + 1)
    return Step(shut, state.open_turn, (state.open_turn,))


class WindowRules(NamedTuple):
    """Turns in an extraction window: `every` as soon as the session has rested for `gap` seconds since its last one,
    `latest` at the latest."""

    every: int = 5
    latest: int = 20
    gap: float = 30.0

    def rested(self, extracted_at: float | None, now: float) -> bool:
        """Whether the gap since the last window is over; a time ahead of the clock says nothing."""
        return extracted_at is None or not 0 <= now - extracted_at < self.gap


def extraction_windows(
    extracted_turn: int, closed_turn: int, rules: WindowRules, *, final: bool, rested: bool
) -> list[tuple[int, int]]:
    """Windows (first turn, last turn) now due, given the last turn extracted and the last turn closed.

    `rested`: the session has had no window for a while, so that one may be fixed as soon as `rules.every` turns are
    there. `final` (session end, idle, asked for) takes what is left, however little.
    """
    if not 1 <= rules.every <= rules.latest:
        raise ValueError("1 <= every <= latest must hold")
    windows = []
    first = extracted_turn + 1
    while first + rules.latest - 1 <= closed_turn:
        windows.append((first, first + rules.latest - 1))
        first += rules.latest
    left = closed_turn - first + 1
    if left > 0 and (final or (rested and not windows and left >= rules.every)):
        windows.append((first, closed_turn))
    return windows


def _opened(state: TurnState, turn_id: str | None) -> TurnState:
    number = state.turn_count + 1
    return TurnState(number, number, turn_id, (), state.closed_turns)


def _aside(state: TurnState) -> Step:
    """A turn of one message, closed at once; the open one goes on."""
    number = state.turn_count + 1
    return Step(state._replace(turn_count=number, closed_turns=state.closed_turns + 1), number, (number,))


def _calls_after(calls: tuple[str, ...], role: str, made: Sequence[str], answered: str | None) -> tuple[str, ...]:
    if role == "user":
        # Whoever speaks past a running call gives it up; a result lost for good must not keep a turn open.
        return ()
    if role == "assistant":
        if not made:
            return calls
        return calls + tuple(c for c in made if c not in calls)
    if role == "tool" and answered is None:
        return calls[1:]
    if role == "tool":
        return tuple(c for c in calls if c != answered)
    return calls
