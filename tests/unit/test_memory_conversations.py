"""Conversations with turns and marked evidence: to events, and to questions."""

import json
from typing import Any

import pytest

from memory.chats import parse_chats
from memory.datasets import Conversation, read_conversations
from memory.records import BadLine
from memory.turns import TurnState, advance, close
from sidestream.events import Message, SessionEnded


def turn(number: str, session: str, speaker: str, text: str, time: str = "9:05 am on 3 March, 2022") -> dict[str, Any]:
    return {"id": number, "session": session, "speaker": speaker, "time": time, "text": text}


DIALOGUE: dict[str, Any] = {
    "conversation": "c1",
    "turns": [
        turn("1:1", "one", "Ann", "I planted tulips"),
        turn("1:2", "one", "Bo", "How many?"),
        turn("2:1", "two", "Bo", "Did they bloom?"),
        turn("2:2", "two", "Ann", "All forty"),
    ],
    "questions": [
        {"id": "q1", "text": "How many?", "category": "count", "evidence": ["2:2"], "level": "turn"},
        {"id": "q2", "text": "When?", "category": "time", "evidence": ["one"], "level": "session", "before_turn": 3},
    ],
}


def read(record: dict[str, Any]) -> list[Any]:
    return [item for _, item in parse_chats([json.dumps(record)], source="set")]


def closed_turns(items: list[Any]) -> dict[str, int]:
    states: dict[str, TurnState] = {}
    for item in items:
        state = states.setdefault(item.session_id, TurnState())
        step = close(state) if isinstance(item, SessionEnded) else advance(state, item.role, item.turn_id)
        states[item.session_id] = step.state
    assert all(s.open_turn is None for s in states.values())
    return {session: s.closed_turns for session, s in states.items()}


def test_ids_sessions_and_users_are_those_of_the_data_set() -> None:
    items = read(DIALOGUE)
    assert [i.id for i in items] == [
        "set/c1/1:1",
        "set/c1/1:2",
        "set/c1/one/ended",
        "set/c1/2:1",
        "set/c1/2:2",
        "set/c1/two/ended",
    ]
    assert {i.user_id for i in items} == {"set/c1"}
    assert {i.session_id for i in items} == {"set/c1/one", "set/c1/two"}


def test_the_first_speaker_is_the_user_the_second_the_assistant_and_both_are_human() -> None:
    found = [i for i in read(DIALOGUE) if isinstance(i, Message)]
    assert [i.role for i in found] == ["user", "assistant", "assistant", "user"]
    assert [i.meta for i in found] == [{"name": n, "human": True} for n in ("Ann", "Bo", "Bo", "Ann")]
    assert found[0].ts is not None and found[0].ts.isoformat() == "2022-03-03T09:05:00+00:00"


def test_who_opens_a_session_as_assistant_opens_a_turn() -> None:
    items = read(DIALOGUE)
    assert [i.turn_id for i in items if isinstance(i, Message)] == [None, None, "set/c1/2:1", None]
    assert closed_turns(items) == {"set/c1/one": 1, "set/c1/two": 2}


def test_a_model_is_not_marked_human() -> None:
    record = {"conversation": "c", "turns": [turn("1", "s", "Assistant", "Welcome"), turn("2", "s", "USER", "Hi")]}
    found = [i for i in read(record) if isinstance(i, Message)]
    assert [(i.role, i.meta) for i in found] == [("assistant", {}), ("user", {})]


def test_where_one_person_speaks_alone_each_turn_is_closed() -> None:
    record = {"conversation": "c", "turns": [turn(str(n), "s", "Ann", f"Diary {n}") for n in range(3)]}
    assert closed_turns(read(record)) == {"set/c/s": 3}


def test_a_session_that_comes_back_ends_after_its_last_turn() -> None:
    turns = [turn("1", "a", "Ann", "x"), turn("2", "b", "Ann", "y"), turn("3", "a", "Ann", "z")]
    items = read({"conversation": "c", "turns": turns})
    assert [i.id for i in items] == ["set/c/1", "set/c/2", "set/c/b/ended", "set/c/3", "set/c/a/ended"]


def test_turns_that_cannot_be_read_are_named_and_the_others_kept() -> None:
    turns: list[Any] = [
        turn("1", "s", "Ann", "good"),
        turn("2", "s", "Bo", " "),
        "no turn",
        {**turn("", "s", "Bo", "no id")},
        turn("5", "s", "Bo", "bad time", time="once"),
        turn("6", "lost", "Bo", ""),
        turn("7", "s", "Bo", "good", time=""),
    ]
    items = read({"conversation": "c", "turns": turns})
    assert [i.reason for i in items if isinstance(i, BadLine)] == [
        "turn 2: content is empty",
        "turn 2: not an object",
        "turn : id is missing",
        "turn 5: not a time that is understood: 'once'",
        "turn 6: content is empty",
    ]
    assert [i.id for i in items if not isinstance(i, BadLine)] == ["set/c/1", "set/c/7", "set/c/s/ended"]


def conversation() -> Conversation:
    ((line, found),) = read_conversations([json.dumps(DIALOGUE)], dataset="set")
    assert line == 1 and isinstance(found, Conversation)
    return found


def test_questions_name_evidence_by_imported_ids() -> None:
    found = conversation()
    assert found.user_id == "set/c1"
    assert [(q.level, q.evidence, q.before_turn) for q in found.questions] == [
        ("turn", ("set/c1/2:2",), -1),
        ("session", ("set/c1/one",), 3),
    ]


def test_a_ranking_is_given_in_the_questions_own_terms() -> None:
    found = conversation()
    by_turn, by_session = found.questions
    ids = ["set/c1/2:2", "set/c1/2:1", "set/c1/2:2", "elsewhere", "set/c1/1:2", "set/c1/1:1"]
    assert found.ranking(by_turn, ids) == ["set/c1/2:2", "set/c1/2:1", "set/c1/1:2", "set/c1/1:1"]
    assert found.ranking(by_session, ids) == ["set/c1/two", "set/c1/one"]


@pytest.mark.parametrize("record", ["5", "{}", '{"conversation": "c", "turns": [{}]}', "{"])
def test_what_is_no_conversation_is_named(record: str) -> None:
    ((line, found),) = read_conversations([record], dataset="set")
    assert line == 1 and isinstance(found, BadLine)


def test_a_level_that_is_unknown_is_refused() -> None:
    record = {**DIALOGUE, "questions": [{**DIALOGUE["questions"][0], "level": "word"}]}
    ((_, found),) = read_conversations([json.dumps(record)], dataset="set")
    assert isinstance(found, BadLine) and "level" in found.reason
