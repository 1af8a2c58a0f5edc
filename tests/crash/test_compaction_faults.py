"""A worker is killed at each moment of a compaction: one checkpoint is active, and each message stands once."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.compaction.parts import Parts, no_parts
from memory.types import Scope
from store import checkpoints, messages, timeline
from tests.crash.workload import Workload, check, marker, publish, with_models, workload
from tests.fake_openai import FakeOpenAI, Reply
from tests.stack import Stack

POINTS = ["task.after_claim", "task.during_model", "task.before_write", "task.after_write"]
OTHERS = "embed,summarise,extract,maintain"
LABEL = re.compile(r"\b(?:user|assistant) \d+ of s\d")
SMALL: dict[str, Any] = {"window_messages": 12, "compact_keep": 2}


def all_seen(body: dict[str, Any]) -> Reply | None:
    """A checkpoint that says which messages the model was shown, as often as it was; others as by default."""
    system, user = body["messages"][0]["content"], body["messages"][-1]["content"]
    if "ten keys" not in system:
        return None
    return Reply(json.dumps({**no_parts(), "other": LABEL.findall(user)}))


@pytest.fixture
def models() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(dimensions=16, respond=all_seen) as server:
        yield server


def check_sessions(stack: Stack, work: Workload) -> None:
    """Checkpoint and window hold each message once; the timeline tells of each turn once."""
    with stack.database() as db:
        for session, contents in work.contents.items():
            scope = Scope(f"user-of-{session}", session_id=session)
            found = checkpoints.active(db, scope)
            assert found is not None and found.boundary_seq == found.message_count >= 12
            told = list(Parts.model_validate_json(found.summary).other)
            left = [m.content.split(":")[0] for m in messages.window(db, scope, 1_000, found.boundary_seq)]
            assert told + left == [content.split(":")[0] for content in contents]
            entries = timeline.newest(db, scope, level="session", start=0.0, end=1e12, limit=99)[::-1]
            assert [entry.seq_first for entry in entries] == [1, *(1 + (e.seq_last or 0) for e in entries[:-1])]
            assert sum(len(entry.content.splitlines()) for entry in entries) == (entries[-1].seq_last or 0) // 2
    active = stack.rows("SELECT session_pk, count(*) FROM session_checkpoints WHERE active GROUP BY 1")
    assert [count for _, count in active] == [1] * len(work.contents)
    assert stack.rows("SELECT count(*) FROM session_checkpoints WHERE status = 'pending'") == [(0,)]


@pytest.mark.parametrize("point", POINTS)
def test_killed_in_the_middle_of_a_compaction(point: str, tmp_path: Path, models: FakeOpenAI) -> None:
    work = workload(sessions=2, turns=14)
    fault, reached = marker(tmp_path, point)
    with Stack(tmp_path, **SMALL, **with_models(models)) as stack:
        publish(stack, work.events)
        stack.start_ingest()
        armed = stack.start_tasks("armed", queues="compact", fault=fault)
        stack.start_tasks("others", queues=OTHERS, beat=True)
        stack.wait_quiet()
        assert reached.read_text().startswith(point)
        stack.wait(lambda: "SIGKILL" in armed.log(), "the worker has noticed that its child was killed")
        check(stack, work)
        check_sessions(stack, work)


def test_one_that_was_stopped_past_its_lease_switches_nothing(tmp_path: Path, models: FakeOpenAI) -> None:
    work = workload(sessions=2, turns=14)
    fault, reached = marker(tmp_path, "task.before_write", "stop")
    with Stack(tmp_path, job_lease=1.0, **SMALL, **with_models(models)) as stack:
        publish(stack, work.events)
        stack.start_ingest()
        stale = stack.start_tasks("stale", queues="compact", fault=fault)
        stack.wait(reached.exists, "a checkpoint is about to be switched to")
        stack.start_tasks("fresh", beat=True)
        stack.wait_quiet()
        before = stack.rows("SELECT id, boundary_seq, summary FROM session_checkpoints WHERE active")
        stack.wake(int(reached.read_text().split()[1]))
        stack.wait(lambda: "result_dropped" in stale.log(), "the stale worker's result was refused")
        assert stack.rows("SELECT id, boundary_seq, summary FROM session_checkpoints WHERE active") == before
        check_sessions(stack, work)


def test_rules_step_in_for_a_model_that_writes_nothing_usable(tmp_path: Path) -> None:
    work = workload(sessions=1, turns=8)

    def unusable(body: dict[str, Any]) -> Reply | None:
        return Reply("I would rather not.") if "ten keys" in body["messages"][0]["content"] else None

    with (
        FakeOpenAI(dimensions=16, respond=unusable) as server,
        Stack(tmp_path, compact_attempts=2, **SMALL, **with_models(server)) as stack,
    ):
        publish(stack, work.events)
        stack.start_ingest()
        tasks = stack.start_tasks(beat=True)
        stack.wait_quiet()
        check(stack, work)
        assert "compacted_by_rules" in tasks.log()
        assert stack.rows("SELECT status, active, method FROM session_checkpoints") == [("success", 1, "rules")]
        failed = dict(stack.rows("SELECT name, value FROM counters WHERE name LIKE 'compaction%'"))
        assert failed == {"compaction_l3_triggered": 1, "compaction_l3_failed": 2, "compaction_l3_succeeded": 1}
