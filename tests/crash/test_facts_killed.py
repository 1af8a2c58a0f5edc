"""A worker is killed in the middle of an extraction, or the data comes twice: the facts are the same."""

from pathlib import Path

import pytest

from tests.crash.workload import marker, publish
from tests.facts_score import DATA, dialogues, drain
from tests.stack import Stack
from tests.unit.workers_support import Bench

_FACTS = (
    "SELECT memory_id, status, content, superseded_by, json_array_length(source_ids) FROM long_term_memories ORDER BY 1"
)
_COVERS = ("update", "contradiction", "correction of a correction", "duplicate", "lists")


def events() -> list[dict[str, str]]:
    """Dialogues of both languages, each a user of its own."""
    found: list[dict[str, str]] = []
    for path in (DATA / "english.jsonl", DATA / "chinese.jsonl"):
        for line in [line for line in dialogues(path) if line["covers"] in _COVERS][:12]:
            for number, session in enumerate(line["sessions"]):
                common = {"user_id": line["id"], "session_id": f"{line['id']}-{number}", "ts": session["at"]}
                for turn, (who, text) in enumerate(session["turns"]):
                    role = "user" if who == "U" else "assistant"
                    name = f"{line['id']}-{number}-{turn}"
                    found.append({"type": "message", "id": name, "role": role, "content": text, **common})
                found.append({"type": "session.ended", "id": f"{line['id']}-{number}-end", **common})
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    """The facts that a run without any fault leaves."""
    bench = Bench(tmp_path_factory.mktemp("expected"))
    bench.apply(*events())
    drain(bench)
    facts = bench.rows(_FACTS)
    bench.db.close()
    assert len({status for _, status, *_ in facts}) > 1
    return facts


@pytest.mark.parametrize("point", ["task.after_claim", "task.before_write", "task.after_write"])
def test_an_extraction_that_is_killed_leaves_the_same_facts(
    point: str, tmp_path: Path, expected: list[tuple[object, ...]]
) -> None:
    fault, reached = marker(tmp_path, point)
    with Stack(tmp_path) as stack:
        publish(stack, events())
        stack.start_ingest()
        stack.start_tasks("armed", queues="extract", fault=fault)
        stack.start_tasks("others", queues="summarise,compact,maintain", beat=True)
        stack.wait(reached.exists, f"{point} reached")
        stack.wait_quiet()
        assert stack.rows(_FACTS) == expected


def test_data_that_comes_twice_leaves_the_same_facts(tmp_path: Path, expected: list[tuple[object, ...]]) -> None:
    with Stack(tmp_path) as stack:
        stack.start_ingest()
        stack.start_tasks("tasks", beat=True)
        for _ in range(2):
            publish(stack, events())
            stack.wait_quiet()
        assert stack.rows(_FACTS) == expected
