"""Whatever comes in whatever order: every message has one turn, and each turn closes once."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memory.turns import TurnState, WindowRules, advance, close, extraction_windows, names_another_turn, settled

IDS = st.sampled_from(["a", "b", "c"])
MESSAGES = st.tuples(
    st.sampled_from(["user", "assistant", "tool", "system"]),
    st.none() | IDS,
    st.lists(IDS, max_size=2, unique=True),
    st.none() | IDS,
)
STEPS = st.lists(st.one_of(MESSAGES, st.just("close")), max_size=60)


@given(STEPS)
def test_turns_grow_by_one_and_close_once(
    steps: list[tuple[str, str | None, list[str], str | None] | str],
) -> None:
    state = TurnState()
    closed: list[int] = []
    named: dict[str, int] = {}
    for step in steps:
        before = state
        if isinstance(step, str):
            done = close(state)
        else:
            role, turn_id, calls, answered = step
            known = named.get(turn_id or "")
            done = advance(state, role, turn_id, calls if role == "assistant" else [], answered, known)
            assert 0 <= done.turn <= done.state.turn_count
            if turn_id is not None:
                named[turn_id] = max(done.turn, named.get(turn_id, 0))
            if names_another_turn(state, role, turn_id) and state.open_turn_id is not None and state.open_turn:
                assert done.state.open_turn == state.open_turn, "the open turn is left alone"
                assert state.open_turn not in done.closed
        state = done.state
        closed.extend(done.closed)
        assert state.turn_count - before.turn_count in (0, 1)
        assert state.open_turn is None or state.open_turn <= state.turn_count
        assert set(range(1, settled(state) + 1)) <= set(closed)
        assert state.open_turn is not None or not state.open_tool_calls
        assert state.closed_turns == len(closed)
    assert len(set(closed)) == len(closed)
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


@given(st.integers(0, 50), st.integers(0, 90), st.integers(1, 10), st.integers(0, 20), st.booleans(), st.booleans())
def test_windows_cover_each_turn_once_and_leave_what_may_wait(
    extracted: int, more: int, every: int, room: int, final: bool, rested: bool
) -> None:
    closed, latest = extracted + more, every + room
    windows = extraction_windows(extracted, closed, WindowRules(every, latest), final=final, rested=rested)
    covered = [turn for first, last in windows for turn in range(first, last + 1)]
    assert covered == list(range(extracted + 1, extracted + 1 + len(covered)))
    assert all(1 <= last - first + 1 <= latest for first, last in windows)
    left = more - len(covered)
    assert left < (1 if final else latest)
    assert windows or not rested or left < every
