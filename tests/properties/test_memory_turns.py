"""Whatever comes in whatever order: every message has one turn, and turns close once and in order."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memory.turns import TurnState, advance, close, extraction_windows

IDS = st.sampled_from(["a", "b", "c"])
MESSAGES = st.tuples(
    st.sampled_from(["user", "assistant", "tool", "system"]),
    st.none() | IDS,
    st.lists(IDS, max_size=2, unique=True),
    st.none() | IDS,
)
STEPS = st.lists(st.one_of(MESSAGES, st.just("close")), max_size=60)


@given(STEPS)
def test_turns_grow_by_one_and_close_once_in_order(
    steps: list[tuple[str, str | None, list[str], str | None] | str],
) -> None:
    state = TurnState()
    closed: list[int] = []
    last = 0
    for step in steps:
        before = state
        if isinstance(step, str):
            done = close(state)
        else:
            role, turn_id, calls, answered = step
            done = advance(state, role, turn_id, calls if role == "assistant" else [], answered)
            assert last <= done.turn <= last + 1
            assert done.turn == done.state.turn_count
            last = done.turn
        state = done.state
        closed.extend(done.closed)
        assert state.turn_count - before.turn_count in (0, 1)
        assert state.open_turn in (None, state.turn_count)
        assert state.open_turn is not None or not state.open_tool_calls
        assert state.closed_turns == len(closed)
    assert closed == list(range(1, len(closed) + 1))
    assert len(closed) == state.turn_count - (state.open_turn is not None)
    assert close(close(state).state).closed == ()


@given(STEPS, st.integers(0, 60))
def test_a_state_that_was_stored_goes_on_as_if_it_had_not_been(
    steps: list[tuple[str, str | None, list[str], str | None] | str], pause: int
) -> None:
    def run(parts: list[tuple[str, str | None, list[str], str | None] | str], state: TurnState) -> TurnState:
        for step in parts:
            done = close(state) if isinstance(step, str) else advance(state, step[0], step[1], step[2], step[3])
            state = done.state
        return state

    stored = run(steps[:pause], TurnState())
    again = TurnState(
        stored.turn_count,
        stored.open_turn,
        stored.open_turn_id,
        tuple(json.loads(json.dumps(stored.open_tool_calls))),
        stored.closed_turns,
    )
    assert run(steps[pause:], again) == run(steps, TurnState())


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 10), st.booleans())
def test_windows_cover_each_turn_once_and_leave_less_than_one_window(
    extracted: int, more: int, every: int, final: bool
) -> None:
    closed = extracted + more
    windows = extraction_windows(extracted, closed, every, final)
    covered = [turn for first, last in windows for turn in range(first, last + 1)]
    assert covered == list(range(extracted + 1, extracted + 1 + len(covered)))
    assert all(1 <= last - first + 1 <= every for first, last in windows)
    assert closed - extracted - len(covered) < (1 if final else every)
