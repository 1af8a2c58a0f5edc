"""The turn state machine: tables of what each message does."""

import pytest

from memory.turns import Step, TurnState, WindowRules, advance, close, extraction_windows, names_another_turn, settled


def play(*messages: tuple[str, str | None, tuple[str, ...], str | None]) -> list[tuple[int, tuple[int, ...]]]:
    state = TurnState()
    seen = []
    for role, turn_id, calls, answered in messages:
        step = advance(state, role, turn_id, calls, answered)
        seen.append((step.turn, step.closed))
        state = step.state
    return seen


def say(
    role: str, turn_id: str | None = None, calls: tuple[str, ...] = (), answered: str | None = None
) -> tuple[str, str | None, tuple[str, ...], str | None]:
    return role, turn_id, calls, answered


def test_a_question_and_its_answer_are_a_closed_turn() -> None:
    assert play(say("user"), say("assistant"), say("user"), say("assistant")) == [
        (1, ()),
        (1, (1,)),
        (2, ()),
        (2, (2,)),
    ]


def test_several_user_messages_in_a_row_belong_to_one_turn() -> None:
    assert play(say("user"), say("user"), say("assistant")) == [(1, ()), (1, ()), (1, (1,))]


def test_an_open_tool_call_keeps_the_turn_open_until_it_is_answered() -> None:
    assert play(
        say("user"),
        say("assistant", calls=("a", "b")),
        say("tool", answered="b"),
        say("assistant"),
        say("tool", answered="a"),
        say("assistant"),
    ) == [(1, ()), (1, ()), (1, ()), (1, ()), (1, ()), (1, (1,))]


def test_a_result_without_a_call_id_answers_the_oldest_call() -> None:
    assert play(say("user"), say("assistant", calls=("a",)), say("tool"), say("assistant"))[-1] == (1, (1,))


def test_a_result_that_never_comes_does_not_keep_the_turn_open_for_good() -> None:
    assert play(say("user"), say("assistant", calls=("lost",)), say("user"), say("assistant"))[-1] == (1, (1,))


def test_late_messages_join_the_newest_turn_and_open_nothing() -> None:
    assert play(say("user"), say("assistant"), say("tool", answered="x"), say("assistant"), say("system")) == [
        (1, ()),
        (1, (1,)),
        (1, ()),
        (1, ()),
        (1, ()),
    ]


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_what_comes_before_any_turn_belongs_to_turn_0(role: str) -> None:
    assert play(say(role)) == [(0, ())]


def test_a_user_message_of_another_turn_id_closes_the_open_turn() -> None:
    assert play(say("user", "t1"), say("user", "t1"), say("user", "t2"), say("user")) == [
        (1, ()),
        (1, ()),
        (2, (1,)),
        (2, ()),
    ]


def test_an_explicit_turn_id_closes_a_turn_that_has_none() -> None:
    assert play(say("user"), say("user", "t2"))[-1] == (2, (1,))


def test_an_assistant_may_open_a_turn_by_naming_it_and_closes_it_at_once() -> None:
    assert play(say("assistant", "hello"), say("user"), say("assistant")) == [(1, (1,)), (2, ()), (2, (2,))]


def test_an_assistant_with_the_id_of_the_closed_turn_joins_it() -> None:
    assert play(say("user", "t1"), say("assistant", "t1"), say("assistant", "t1")) == [(1, ()), (1, (1,)), (1, ())]


def test_an_assistant_of_another_turn_id_closes_a_turn_of_its_own_and_not_the_open_one() -> None:
    assert play(say("user", "t1"), say("assistant", "t9"), say("assistant", "t1"), say("user")) == [
        (1, ()),
        (2, (2,)),
        (1, (1,)),
        (3, ()),
    ]


def test_a_late_answer_joins_its_own_turn_and_leaves_the_open_one_open() -> None:
    state = TurnState()
    for role, turn_id in (("user", "t1"), ("user", "t2")):
        state = advance(state, role, turn_id).state
    assert names_another_turn(state, "assistant", "t1")
    late = advance(state, "assistant", "t1", named_turn=1)
    assert late == Step(state, 1, ())
    assert advance(late.state, "assistant", "t2").closed == (2,)


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_a_message_that_names_a_turn_belongs_to_an_open_one_without_a_name(role: str) -> None:
    assert play(say("user"), say(role, "t1"))[-1] == (1, (1,) if role == "assistant" else ())


def test_a_call_of_another_turn_does_not_hold_the_open_one() -> None:
    assert play(say("user", "t1"), say("assistant", "t9", calls=("x",)), say("assistant", "t1"))[1:] == [
        (2, (2,)),
        (1, (1,)),
    ]


def test_all_turns_below_the_open_one_are_settled() -> None:
    state = advance(advance(TurnState(), "user", "t1").state, "assistant", "t9").state
    assert settled(state) == 0
    assert settled(close(state).state) == 2


def test_a_system_message_within_a_turn_leaves_it_open() -> None:
    assert play(say("user"), say("system"), say("assistant")) == [(1, ()), (1, ()), (1, (1,))]


def test_close_shuts_an_open_turn_once() -> None:
    open_turn = advance(TurnState(), "user", "t1").state
    shut = close(open_turn)
    assert shut.closed == (1,)
    assert shut.state == TurnState(turn_count=1, open_turn_id="t1", closed_turns=1)
    assert close(shut.state) == Step(shut.state, 1, ())


def test_a_turn_after_a_closed_one_has_the_next_number() -> None:
    state = close(advance(TurnState(), "user").state).state
    assert advance(state, "user").turn == 2


@pytest.mark.parametrize(
    ("extracted", "closed", "final", "rested", "windows"),
    [
        (0, 4, False, True, []),
        (0, 5, False, True, [(1, 5)]),
        (0, 5, False, False, []),
        (0, 7, False, True, [(1, 7)]),
        (5, 9, False, True, []),
        (5, 24, False, False, []),
        (5, 25, False, False, [(6, 25)]),
        (0, 43, False, False, [(1, 20), (21, 40)]),
        (0, 46, False, True, [(1, 20), (21, 40)]),
        (0, 46, True, True, [(1, 20), (21, 40), (41, 46)]),
        (0, 1, True, False, [(1, 1)]),
        (0, 0, True, True, []),
        (7, 7, True, True, []),
    ],
)
def test_extraction_windows(
    extracted: int, closed: int, final: bool, rested: bool, windows: list[tuple[int, int]]
) -> None:
    assert extraction_windows(extracted, closed, WindowRules(5, 20, 30.0), final=final, rested=rested) == windows


@pytest.mark.parametrize("rules", [WindowRules(0, 5), WindowRules(6, 5)])
def test_a_window_holds_at_least_one_turn_and_no_more_than_the_most(rules: WindowRules) -> None:
    with pytest.raises(ValueError, match="every"):
        extraction_windows(0, 5, rules, final=False, rested=True)


def test_a_session_has_rested_when_its_gap_is_over_or_the_clock_was_set_back() -> None:
    rules = WindowRules(5, 20, 30.0)
    assert [rules.rested(at, 100.0) for at in (None, 70.0, 70.1, 100.0, 101.0)] == [True, True, False, False, True]
