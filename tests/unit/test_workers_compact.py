"""Compaction as the tasks do it: by rules, by a model that answers well, badly or not at all, and too late."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from llm.errors import Unreachable
from llm.ports import ChatMessage
from memory.compaction.parts import Parts, no_parts
from store import checkpoints, jobs
from store.errors import LeaseLost
from tests.unit.compaction_support import OPTIONS, Session
from tests.unit.scripted_model import Scripted
from workers.outcomes import Done, Failed

GOOD = json.dumps({**no_parts(), "decisions": ["fly on 12 May"]})


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(tmp_path)
    yield made
    made.db.close()


def counters(session: Session) -> dict[str, int]:
    rows = session.rows("SELECT name, value FROM counters WHERE name LIKE 'compaction%'")
    return {name.removeprefix("compaction_l3_"): value for name, value in rows}


def summary(session: Session) -> Parts:
    assert session.active is not None
    return Parts.model_validate_json(session.active.summary)


def test_a_long_session_gets_a_checkpoint_and_the_newest_stay(session: Session) -> None:
    session.say("I'm allergic to peanuts.", "Noted.")
    session.chat(10)
    assert session.active is None
    session.drain()
    found = session.active
    assert found is not None and (found.boundary_seq, found.message_count) == (6, 6)
    assert session.window() == ["m7", "m8", "m9", "m10", "m11", "m12"]
    assert summary(session).preferences == ("I'm allergic to peanuts.",)
    assert counters(session) == {"triggered": 1, "succeeded": 1}


def test_the_next_one_builds_on_it_and_its_tail(session: Session) -> None:
    session.say("I'm allergic to peanuts.", "Noted.")
    session.chat(10)
    session.drain()
    session.chat(6)
    session.drain()
    found = session.active
    assert found is not None and (found.boundary_seq, found.message_count) == (12, 12)
    assert summary(session).preferences == ("I'm allergic to peanuts.",)
    rows = session.rows("SELECT id, base_id, active, method, status FROM session_checkpoints ORDER BY id")
    assert rows == [(1, None, 0, "rules", "success"), (2, 1, 1, "rules", "success")]


def test_the_model_is_shown_the_tail_alone(tmp_path: Path) -> None:
    model = Scripted(GOOD)
    session = Session(tmp_path, model)
    session.chat(12)
    session.drain()
    session.chat(6)
    session.drain()
    first, second = (asked[1]["content"] for asked in model.asked)
    assert "m1\n" in first and "m6" in first and "m7" not in first
    assert "fly on 12 May" in second and "m7\n" in second and "m12" in second and "m6" not in second
    assert summary(session).decisions == ("fly on 12 May",)
    assert session.rows("SELECT method FROM session_checkpoints WHERE active") == [("llm:scripted",)]


def test_several_that_are_due_are_one(session: Session) -> None:
    session.chat(24)
    assert session.drain().done == 3
    assert session.rows("SELECT boundary_seq, message_count, active FROM session_checkpoints") == [(18, 18, 1)]


def test_a_bad_answer_is_repaired_once(tmp_path: Path) -> None:
    model = Scripted("Sure!", GOOD)
    session = Session(tmp_path, model)
    session.chat(12)
    session.drain()
    assert len(model.asked) == 2 and "not accepted" in model.asked[1][-1]["content"]
    assert counters(session) == {"triggered": 1, "succeeded": 1}


def test_an_unusable_answer_fails_with_its_reason_and_rules_step_in_at_last(tmp_path: Path) -> None:
    session = Session(tmp_path, Scripted("no", "no", "no", "no"))
    session.chat(12)
    session.drain()
    assert session.rows("SELECT status, active, attempts, lease_token FROM session_checkpoints") == [
        ("failed", 0, 1, None)
    ]
    assert (
        "not JSON" in session.rows("SELECT reason FROM session_checkpoints")[0][0]
        or "JSON" in session.rows("SELECT reason FROM jobs WHERE kind = 'compact'")[0][0]
    )
    assert session.window()[0] == "m1"
    for _ in range(2):
        session.bench.now += 10
        session.drain()
    assert session.rows("SELECT status, active, attempts, method FROM session_checkpoints") == [
        ("success", 1, 3, "rules")
    ]
    assert counters(session) == {"triggered": 1, "failed": 2, "succeeded": 1}


def test_a_model_that_is_away_is_waited_for_and_then_done_without(tmp_path: Path) -> None:
    session = Session(tmp_path, Scripted(Unreachable("away")))
    session.chat(12)
    session.drain()
    assert session.rows("SELECT status, reason FROM session_checkpoints") == [("failed", "Unreachable: away")]
    for _ in range(2):
        session.bench.now += 10
        session.drain()
    assert session.active is not None


def test_a_model_of_the_next_compaction_builds_on_what_rules_made(tmp_path: Path) -> None:
    session = Session(tmp_path, Scripted(Unreachable("away")))
    session.say("I'm allergic to peanuts.", "Noted.")
    session.chat(10)
    for _ in range(3):
        session.drain()
        session.bench.now += 10
    session.model = model = Scripted(GOOD)
    session.chat(6)
    session.drain()
    assert "allergic to peanuts" in model.asked[0][1]["content"]
    assert session.rows("SELECT method FROM session_checkpoints WHERE active") == [("llm:scripted",)]


def test_a_reset_in_between_makes_it_worthless(session: Session) -> None:
    session.chat(12)
    handler = session.handler()
    claimed = session.claim()
    outcomes = asyncio.run(handler.work(claimed))
    session.reset()
    session.chat(1)
    with session.db.atomic():
        handler.write([o for o in outcomes if isinstance(o, Done)])
        jobs.finish(session.db, claimed, session.bench.now)
    assert session.active is None
    assert session.window() == ["m13"]
    assert session.rows("SELECT status, reason FROM session_checkpoints") == [
        ("failed", "the session was reset meanwhile")
    ]
    assert counters(session) == {"triggered": 1, "late": 1}


def test_after_a_reset_the_summary_begins_anew(session: Session) -> None:
    session.say("I'm allergic to peanuts.", "Noted.")
    session.chat(10)
    session.drain()
    session.reset()
    assert session.active is None and session.window() == []
    session.chat(12)
    session.drain()
    found = session.active
    assert found is not None and (found.boundary_seq, found.message_count) == (18, 6)
    assert "peanuts" not in found.summary


def test_a_worker_that_lost_its_job_switches_nothing(session: Session) -> None:
    session.chat(12)
    stale = session.handler()
    [job] = session.claim()
    outcomes = asyncio.run(stale.work([job]))
    session.bench.now += 11
    session.drain()
    before = session.rows("SELECT id, active, boundary_seq, lease_token FROM session_checkpoints")
    with pytest.raises(LeaseLost), session.db.atomic():
        stale.write([o for o in outcomes if isinstance(o, Done)])
    assert session.rows("SELECT id, active, boundary_seq, lease_token FROM session_checkpoints") == before
    assert before[0][1] == 1


def test_one_that_is_under_way_is_left_to_its_worker(session: Session) -> None:
    session.chat(12)
    [job] = session.claim()
    assert checkpoints.begin(session.db, 1, 6, job.lease_token, session.bench.now, 120.0) == 1
    assert checkpoints.begin(session.db, 1, 6, "other", session.bench.now + 1, 120.0) is None
    session.bench.now += 11
    assert checkpoints.begin(session.db, 1, 6, "other", session.bench.now, 120.0) == 1, "its job's lease has lapsed"
    assert session.rows("SELECT attempts, lease_until - updated_at FROM session_checkpoints") == [(2, 120.0)]


def test_the_later_of_two_stays_active_whichever_comes_last(session: Session) -> None:
    handler = session.handler()
    session.chat(12)
    late = asyncio.run(handler.work(session.claim()))
    session.chat(6)
    early = asyncio.run(handler.work(session.claim()))
    for outcomes in (early, late):
        with session.db.atomic():
            handler.write([o for o in outcomes if isinstance(o, Done)])
    found = session.active
    assert found is not None and (found.boundary_seq, found.message_count) == (12, 12)
    assert session.rows("SELECT boundary_seq, status, reason FROM session_checkpoints ORDER BY boundary_seq") == [
        (6, "failed", "a later checkpoint is active"),
        (12, "success", None),
    ]


def test_one_call_of_the_model_does_for_all_that_was_asked_for(tmp_path: Path) -> None:
    model = Scripted(GOOD)
    session = Session(tmp_path, model)
    session.chat(60)
    assert len(session.rows("SELECT 1 FROM jobs WHERE kind = 'compact'")) == 9
    assert session.drain().done == 9
    found = session.active
    assert len(model.asked) == 1 and found is not None and found.boundary_seq == 54


def test_of_two_workers_the_last_job_waits_for_the_other(session: Session) -> None:
    session.chat(24)
    handler = session.handler()
    busy = session.claim()
    outcomes = asyncio.run(handler.work(busy))
    [between], [last] = asyncio.run(handler.work(session.claim())), asyncio.run(handler.work(session.claim()))
    assert isinstance(between, Done) and between.result is None
    assert isinstance(last, Failed) and last.passing
    with session.db.atomic():
        handler.write([o for o in outcomes if isinstance(o, Done)])
    found = session.active
    assert found is not None and found.boundary_seq == 18


def test_a_long_backlog_is_taken_in_by_steps(tmp_path: Path) -> None:
    def counted(messages: Sequence[ChatMessage]) -> str:
        return json.dumps({**no_parts(), "other": [f"{len(messages[1]['content'].splitlines())} lines"]})

    model = Scripted(counted)
    session = Session(tmp_path, model)
    session.say(*(f"heron {n} " + "x" * 400 for n in range(1, 31)))
    session.db.script("old", "DELETE FROM jobs; UPDATE sessions SET compact_seq = 0")
    session.chat(1)
    session.drain()
    found = session.active
    assert found is not None and (found.boundary_seq, found.message_count) == (25, 25)
    assert len(model.asked) > 3
    assert all(len(asked[1]["content"]) < 4 * OPTIONS.step for asked in model.asked)


def test_old_jobs_name_the_newest_message(session: Session) -> None:
    session.chat(8)
    now = session.bench.now
    jobs.owe(session.db, "compact", "session:1:8", "default", due_at=now, now=now, payload={"session_pk": 1, "seq": 8})
    session.drain()
    found = session.active
    assert found is not None and found.boundary_seq == 6


def test_a_job_that_names_nothing_is_dead(session: Session) -> None:
    jobs.owe(session.db, "compact", "?", "default", due_at=session.bench.now, now=session.bench.now)
    session.drain()
    assert session.bench.reasons() == ["payload: session_pk and boundary are needed"]


def test_few_old_checkpoints_are_kept(session: Session) -> None:
    for _ in range(8):
        session.chat(12)
        session.drain()
    rows = session.rows("SELECT active, count(*) FROM session_checkpoints GROUP BY active ORDER BY active")
    assert rows == [(0, 3), (1, 1)]


def test_what_a_dead_worker_had_begun_and_another_overtook_is_given_up(session: Session) -> None:
    session.chat(12)
    [job] = session.claim()
    assert checkpoints.begin(session.db, 1, 6, job.lease_token, session.bench.now, 120.0) == 1
    session.chat(6)
    session.drain()
    assert session.rows("SELECT boundary_seq, status FROM session_checkpoints ORDER BY 1") == [
        (6, "pending"),
        (12, "success"),
    ]
    session.bench.now += 11
    session.drain()
    assert session.rows("SELECT status, lease_token FROM session_checkpoints WHERE boundary_seq = 6") == [
        ("failed", None)
    ]
