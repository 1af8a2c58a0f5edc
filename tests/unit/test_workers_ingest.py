"""What one batch of entries becomes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidestream.keys import Keys
from store import leases
from store.errors import LeaseLost
from tests.unit.workers_support import NOW, Bench, message
from workers import writing
from workers.entries import Incoming, Refused, find_utterances, read_entries
from workers.outbox import Outbox
from workers.stream import Entry

ANSWER = {"role": "assistant", "content": "it is sunny all day long"}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.db.close()


def test_messages_get_seq_turn_and_the_work_they_owe(bench: Bench) -> None:
    applied = bench.apply(message(), message(**ANSWER), message(content="ok"))
    assert (applied.stored, applied.dead, dict(applied.owed)) == (3, 0, {"embed": 2, "summarise": 1})
    assert bench.rows("SELECT seq, turn, role, has_embedding FROM main_messages") == [
        (1, 1, "user", 0),
        (2, 1, "assistant", 0),
        (3, 2, "user", 2),
    ]
    assert bench.jobs("embed") == [("message:1", "pending"), ("message:2", "pending")]
    assert bench.jobs("summarise") == [("turn:1:1", "pending")]
    assert bench.rows("SELECT count(*) FROM memory_fts") == [(3,)]


@pytest.mark.parametrize("batches", [1, 4], ids=["in one batch", "one by one"])
def test_a_late_answer_goes_to_the_turn_it_names_and_closes_nothing(bench: Bench, batches: int) -> None:
    said = [
        message(turn_id="a"),
        message(turn_id="b", content="and what about the next question"),
        message(**ANSWER, turn_id="a"),
        message(**ANSWER, turn_id="b"),
    ]
    size = len(said) // batches
    for first in range(0, len(said), size):
        bench.apply(*said[first : first + size])
    assert bench.rows("SELECT seq, turn FROM main_messages ORDER BY seq") == [(1, 1), (2, 2), (3, 1), (4, 2)]
    assert bench.jobs("summarise") == [("turn:1:1", "pending"), ("turn:1:2", "pending")]
    assert bench.rows("SELECT open_turn, closed_turns FROM sessions") == [(None, 2)]


def test_an_answer_of_a_turn_of_its_own_leaves_the_open_one_to_its_answer(bench: Bench) -> None:
    bench.apply(message(turn_id="a"), message(**ANSWER, turn_id="notice"))
    assert bench.rows("SELECT open_turn FROM sessions") == [(1,)]
    assert bench.jobs("summarise") == [("turn:1:2", "pending")]
    bench.apply(message(**ANSWER, turn_id="a"))
    assert bench.jobs("summarise") == [("turn:1:2", "pending"), ("turn:1:1", "pending")]


def test_no_window_is_extracted_while_a_turn_of_it_is_open(bench: Bench) -> None:
    asides = [message(**ANSWER, turn_id=f"notice {number}") for number in range(5)]
    bench.apply(message(turn_id="a"), *asides)
    assert bench.rows("SELECT closed_turns, extracted_turn FROM sessions") == [(5, 0)]
    bench.apply(message(**ANSWER, turn_id="a"))
    assert bench.jobs("extract") == [("turns:1:1-6", "pending")]


def test_a_call_in_a_field_of_its_own_holds_the_turn_open(bench: Bench) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    bench.apply(message(), message(**ANSWER, tool_calls=json.dumps([call])))
    assert bench.jobs("summarise") == []
    bench.apply(message(role="tool", content="nothing there", tool_call_id="c1"), message(**ANSWER))
    assert bench.jobs("summarise") == [("turn:1:1", "pending")]


def test_a_repeat_is_a_no_op_in_the_same_batch_and_later(bench: Bench) -> None:
    applied = bench.apply(message(id="a"), message(id="a"))
    assert (applied.stored, applied.repeated) == (1, 1)
    assert bench.apply(message(id="a")).repeated == 1
    assert bench.rows("SELECT count(*) FROM main_messages") == [(1,)]


def test_a_redelivered_entry_without_an_id_is_known_by_its_entry_id(bench: Bench) -> None:
    entry = bench.entry(message())
    bench.ingest.apply([entry])
    assert bench.ingest.apply([entry]).repeated == 1
    assert bench.rows("SELECT event_id FROM events") == [(entry.id,)]


def test_an_id_used_again_with_other_content_is_dead(bench: Bench) -> None:
    bench.apply(message(id="a"), message(id="a", content="something else"))
    assert bench.reasons() == ["id: 'a' was stored before with other content"]


def test_a_session_belongs_to_its_first_user(bench: Bench) -> None:
    bench.apply(message(user_id="ann"), message(user_id="bob"), message(**ANSWER))
    assert bench.rows("SELECT role FROM main_messages") == [("user",), ("assistant",)]
    assert "belongs to another user than 'bob'" in bench.reasons()[0]


def test_a_shared_session_lets_others_in_and_keeps_who_spoke(bench: Bench) -> None:
    start = {"type": "session.started", "session_id": "s1", "user_id": "ann", "shared": "true"}
    bench.apply(start, message(user_id="bob"), message(user_id="ann"))
    assert bench.rows("SELECT metadata ->> 'user_id' FROM main_messages") == [("bob",), (None,)]
    assert bench.reasons() == []


def test_only_the_owner_may_share_a_session(bench: Bench) -> None:
    share = {"type": "session.started", "session_id": "s1", "shared": "true"}
    bench.apply(message(user_id="ann"), {**share, "user_id": "bob"})
    assert bench.rows("SELECT shared FROM sessions") == [(0,)]
    assert len(bench.reasons()) == 1


def test_what_cannot_be_read_is_dead_with_all_its_fields(bench: Bench) -> None:
    bench.apply(
        {"type": "telegram", "session_id": "s1"},
        message(content=b"\xff\xfe"),
        message(meta="[" * 100_000),
        message(ts="2100-01-01T00:00:00Z"),
        message(),
    )
    reasons = bench.reasons()
    assert len(reasons) == 4
    assert "telegram" in reasons[0] and "UTF-8" in reasons[1] and "ahead of the clock" in reasons[3]
    assert bench.rows("SELECT body ->> 'content' FROM dead_letters WHERE id = 2") == [("\\xff\\xfe",)]
    assert bench.rows("SELECT count(*) FROM main_messages") == [(1,)]


def test_what_was_read_ahead_is_refused_for_the_same_reasons(bench: Bench) -> None:
    fields = [message(ts="2100-01-01T00:00:00Z"), message(role="nobody"), message(ts="2001-01-01T00:00:00Z")]
    entries = [bench.entry(event) for event in fields]
    found = find_utterances(entries)
    assert [said is None for said in found] == [False, True, False]
    assert read_entries(entries, bench.now, found) == read_entries(entries, bench.now)
    bench.ingest.apply(entries, read_entries(entries, bench.now, found))
    assert [reason.partition(":")[0] for reason in bench.reasons()] == ["ts", "role"]
    assert bench.rows("SELECT occurred_at FROM main_messages") == [(978_307_200.0,)]


def test_a_person_in_the_assistants_role_is_a_person(bench: Bench) -> None:
    said = {"role": "assistant", "content": "I love hiking in the mountains."}
    bench.apply(message(**said, meta='{"human": true, "name": "Bo"}'), message(**said))
    assert bench.rows("SELECT msg_type FROM main_messages") == [("preference",), ("normal",)]


def test_a_dead_letter_says_which_fields_it_could_not_keep(bench: Bench) -> None:
    long = "x" * (2 * 1024 * 1024 + 1)
    bench.apply(
        message(content=b"\xff"), message(role="robot", content=long), message(role="robot", meta='{"a": "\\x"}')
    )
    assert bench.rows("SELECT body ->> 'altered' FROM dead_letters") == [('["content"]',), ('["content"]',), (None,)]
    ((kept,),) = bench.rows("SELECT length(body ->> 'content') FROM dead_letters WHERE id = 2")
    assert 60_000 < kept < 70_000


def test_an_event_keeps_its_own_time_and_the_session_the_clocks(bench: Bench) -> None:
    bench.apply(message(ts="2020-01-01T00:00:00Z"))
    assert bench.rows("SELECT occurred_at, ingested_at FROM main_messages") == [(1_577_836_800.0, NOW)]
    assert bench.rows("SELECT last_activity FROM sessions") == [(NOW,)]


def test_windows_of_closed_turns_are_owed_and_the_end_takes_the_rest(bench: Bench) -> None:
    turns = [event for _ in range(3) for event in (message(), message(**ANSWER))]
    bench.apply(*turns)
    assert bench.jobs("extract") == [("turns:1:1-2", "pending")]
    bench.apply(message(), {"type": "session.ended", "session_id": "s1"})
    assert bench.jobs("extract")[1:] == [("turns:1:3-4", "pending")]
    assert bench.rows("SELECT open_turn, closed_turns, ended_at FROM sessions") == [(None, 4, NOW)]


def test_growth_in_tokens_asks_for_compaction_of_all_but_the_newest(bench: Bench) -> None:
    bench.apply(*(message(content="x" * 240) for _ in range(6)))
    assert bench.jobs("compact") == [("session:1:1", "pending"), ("session:1:4", "pending")]
    assert bench.rows("SELECT compact_seq, compact_tokens, token_count FROM sessions") == [(4, 360, 360)]


def test_growth_in_messages_leaves_half_a_window_verbatim(bench: Bench) -> None:
    bench.apply(*(message(content="hm") for _ in range(24)))
    assert bench.jobs("compact") == [
        ("session:1:6", "pending"),
        ("session:1:12", "pending"),
        ("session:1:18", "pending"),
    ]
    assert bench.rows("SELECT payload FROM jobs WHERE kind = 'compact' AND subject = 'session:1:6'") == [
        ('{"session_pk": 1, "boundary": 6}',)
    ]
    assert bench.rows("SELECT value FROM counters WHERE name = 'compaction_l3_triggered'") == [(3,)]


def test_a_reset_starts_the_growth_anew(bench: Bench) -> None:
    bench.apply(*(message(content="hm") for _ in range(10)), {"type": "session.reset", "session_id": "s1"})
    bench.apply(*(message(content="hm") for _ in range(10)))
    assert bench.jobs("compact") == []
    assert bench.rows("SELECT reset_tokens, compact_tokens FROM sessions") == [(10, 10)]


def test_a_session_that_ends_owes_an_entry_of_the_timeline_once(bench: Bench) -> None:
    bench.apply(message(), message(**ANSWER), {"type": "session.ended", "session_id": "s1"})
    bench.apply({"type": "session.ended", "session_id": "s1", "id": "again"})
    assert bench.jobs("timeline") == [("session:1:2", "pending")]


def test_a_session_has_a_window_at_most_every_gap_unless_it_grows_too_long(bench: Bench) -> None:
    turns = [event for _ in range(2) for event in (message(), message(**ANSWER))]
    bench.apply(*turns)
    bench.now += 29
    bench.apply(*turns)
    assert bench.jobs("extract") == [("turns:1:1-2", "pending")]
    bench.now += 1
    bench.apply(message(), message(**ANSWER))
    assert bench.jobs("extract")[1:] == [("turns:1:3-5", "pending")]
    bench.apply(*turns * 10)
    assert bench.jobs("extract")[2:] == [("turns:1:6-25", "pending")]


def test_a_flush_gives_closed_turns_to_extraction_and_leaves_the_open_one(bench: Bench) -> None:
    flush = {"type": "session.flushed", "session_id": "s1"}
    bench.apply(message(), message(**ANSWER), message(), flush)
    assert bench.jobs("extract") == [("turns:1:1-1", "pending")]
    assert bench.rows("SELECT open_turn, ended_at FROM sessions") == [(2, None)]
    bench.apply(flush)
    assert len(bench.jobs("extract")) == 1


def test_a_reset_starts_the_window_anew(bench: Bench) -> None:
    bench.apply(message(), {"type": "session.reset", "session_id": "s1"}, message(**ANSWER))
    assert bench.rows("SELECT reset_seq, last_seq FROM sessions") == [(1, 2)]


def test_memory_events_are_owed_to_their_handlers(bench: Bench) -> None:
    bench.apply(
        {"type": "memory.remember", "id": "r", "session_id": "s1", "content": "tea, not coffee"},
        {"type": "memory.forget", "id": "f", "session_id": "s1", "key": "drink"},
        {"type": "memory.used", "id": "u", "session_id": "s1", "memory_ids": '["m1"]'},
    )
    assert bench.jobs("remember") == [("event:7:default:r", "pending")]
    assert bench.jobs("forget") == [("event:7:default:f", "pending")]
    assert bench.jobs("feedback") == [("event:7:default:u", "pending")]


def test_memory_events_of_two_namespaces_are_two_jobs(bench: Bench) -> None:
    remember = {"type": "memory.remember", "session_id": "s1", "content": "tea, not coffee"}
    bench.apply({**remember, "namespace": "a", "id": "b:c"}, {**remember, "namespace": "a:b", "id": "c"})
    assert len(bench.jobs("remember")) == 2


def test_a_run_has_its_own_tables_and_its_replies_are_cut(bench: Bench) -> None:
    run = {"session_id": "s1", "run_id": "r1"}
    bench.apply(
        {"type": "subagent.started", "agent_id": "helper", "content": "find it", "parent_id": "e1", **run},
        {"type": "subagent.message", "role": "assistant", "content": "y" * 4_000, **run},
        {"type": "subagent.finished", "content": "found", **run},
    )
    assert bench.rows("SELECT count(*) FROM main_messages") == [(0,)]
    assert bench.rows("SELECT status, report, parent_id FROM subagent_runs") == [("completed", "found", "e1")]
    ((content, cut, tokens),) = bench.rows("SELECT content, cut, token_count FROM subagent_messages")
    assert cut == 1 and tokens <= 101 and "[… cut: 1000 tokens" in content


def test_a_stray_run_message_is_dead_and_makes_no_session(bench: Bench) -> None:
    bench.apply({"type": "subagent.message", "session_id": "s9", "run_id": "r1", "role": "user", "content": "hello"})
    assert bench.rows("SELECT count(*) FROM sessions") == [(0,)]
    assert "not known" in bench.reasons()[0]


def test_a_consumer_that_lost_its_lease_writes_nothing(bench: Bench) -> None:
    bench.now += 100
    assert leases.acquire(bench.db, "consumer", "other", 10.0, bench.now) is not None
    with pytest.raises(LeaseLost):
        bench.apply(message())
    assert bench.rows("SELECT count(*) FROM events") == [(0,)]


def test_a_batch_that_takes_longer_to_read_than_the_lease_keeps_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    rivals = []

    def slowly(entries: list[Entry], now: float, found: None) -> list[Incoming | Refused]:
        bench.now += 4
        rivals.append(leases.acquire(bench.db, "consumer", "rival", 10.0, bench.now))
        return read_entries(entries, now, found)

    monkeypatch.setattr(writing, "read_entries", slowly)
    writer = writing.BatchWriter(bench.ingest, Keys(), Outbox({}), lambda: bench.now)
    writer.store([bench.entry(message()) for _ in range(20)])
    assert rivals == [None] * 5
    assert bench.rows("SELECT count(*) FROM main_messages") == [(20,)]
