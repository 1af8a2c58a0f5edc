"""Workers are killed while they move weights and carry wishes out: each effect is there once."""

import time
from pathlib import Path

import pytest

from sidestream import MemoryAdjust, MemoryUsed, Message, Publisher
from store import fact_reading, facts
from store.opening import open_database
from tests.crash.workload import marker
from tests.stack import TASK_QUEUES, Stack
from tests.unit.facts_support import ANN, fact

POINTS = ["task.after_claim", "task.before_write", "task.after_write"]


def tell(stack: Stack) -> None:
    """An answer that used one of the two facts it was given, and a wish; with two facts in the database."""
    with open_database(stack.settings.database) as db:
        fact(db, "m1", "Ann lives in Trondheim", now=time.time())
        fact(db, "m2", "Ann has a parrot", now=time.time())
    with Publisher(stack.server.url, spool_dir=None) as publisher:
        publisher.publish_many(
            [
                Message(id="q", session_id="s1", user_id="ann", role="user", content="where do I live?"),
                Message(id="a", session_id="s1", role="assistant", content="You live in Trondheim."),
                MemoryUsed(id="u", session_id="s1", parent_id="a", memory_ids=["m1", "m2"]),
                MemoryAdjust(id="w", session_id="s1", user_id="ann", memory_id="m2", pinned=True, reason="asked"),
            ]
        )


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_over_facts_leaves_each_effect_once(point: str, tmp_path: Path) -> None:
    fault, reached = marker(tmp_path, point)
    others = ",".join(name for name in TASK_QUEUES.split(",") if name != "maintain")
    with Stack(tmp_path) as stack:
        tell(stack)
        stack.start_ingest()
        armed = stack.start_tasks("armed", queues="maintain", fault=fault)
        stack.start_tasks("others", queues=others, beat=True)
        stack.wait(stack.stored(4), "all is stored")
        stack.wait_quiet()
        assert reached.read_text().startswith(point)
        stack.wait(lambda: "SIGKILL" in armed.log(), "the worker has noticed that its child was killed")
        with stack.database() as db:
            used, pinned = (fact_reading.one(db, ANN, memory_id) for memory_id in ("m1", "m2"))
            assert used is not None and pinned is not None
            assert (used.fact.access_count, pinned.fact.access_count) == (1, 0)
            assert used.standing.weight == pytest.approx(0.575, abs=0.001)
            assert pinned.standing.pinned
            assert [c.change for c in facts.history(db, ANN, "m2")] == ["created", "activated", "pinned"]
            assert fact_reading.uses(db, ANN, "m1").given == 1
