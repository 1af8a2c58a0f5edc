"""`sidestream facts`: what it shows, what it changes, and what it refuses."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.main import main
from memory.facts.model import Draft
from memory.weights import WeightPolicy, present_weight
from store import fact_reading, facts, generations, holds, jobs
from store.db import Database
from tests.unit.facts_support import ANN, BOB, fact
from tests.unit.store_support import NOW, opened, say


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("SIDESTREAM_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with opened(tmp_path) as opened_db:
        (source,) = say(opened_db, ANN, "I moved to Oslo")
        old = fact(opened_db, "old", "Ann lives in Berlin", said_at=NOW)
        new = fact(opened_db, "new", "Ann lives in Oslo", said_at=NOW + 100, source_ids=(source,))
        fact(opened_db, "held", "Do as I say", active=False, hold="it reads like an instruction")
        fact(opened_db, "b1", "Bob lives in Bergen", BOB)
        with opened_db.atomic():
            facts.supersede(opened_db, old, new, actor="gate", reason="moved", now=NOW + 100)
        yield opened_db


def run(*arguments: str, code: int = 0) -> Result:
    """One command as user ann."""
    command, *rest = arguments
    ended = CliRunner().invoke(main, ["facts", command, "--user", "ann", *rest])
    assert ended.exit_code == code, ended.output
    return ended


def status(db: Database, memory_id: str) -> str:
    found = fact_reading.one(db, ANN, memory_id)
    return "gone" if found is None else found.fact.status


def test_facts_are_listed_with_weight_and_state(db: Database) -> None:
    shown = run("list", "--status", "active", "--status", "candidate", "--status", "superseded").output
    assert [line.split()[0] for line in shown.splitlines()] == ["held", "new", "old"]
    assert "Do as I say [candidate: it reads like an instruction]" in shown
    assert [json.loads(line)["memory_id"] for line in run("list", "--json").output.splitlines()] == ["new"]
    assert run("list", "--as-of", "2023-11-14T22:14:00").output.split()[0] == "old"
    assert run("list", "--type", "decision").output == "no facts\n"
    assert "1 more" in run("list", "--status", "active", "--status", "superseded", "--limit", "1").stderr


def test_a_fact_is_explained_to_people_and_to_programs(db: Database) -> None:
    text = run("explain", "new").output
    assert "where from: read out of what user said in session s1 by rules/1" in text
    assert "user: I moved to Oslo" in text
    assert "took the place of old: Ann lives in Berlin" in text
    assert "until: " in text and "if no answer uses it" in text
    found = json.loads(run("explain", "new", "--json").output)
    assert found["supersedes"] == ["old"]
    assert found["messages"][0]["content"] == "I moved to Oslo"
    assert "replaced by new" in run("explain", "old").output
    assert "no fact b1" in run("explain", "b1", code=1).output


def test_a_persons_wishes_are_carried_out_and_stand_in_the_history(db: Database) -> None:
    assert run("pin", "new", "--actor", "eve", "--reason", "it matters").output == "new: pinned\n"
    assert run("pin", "new").output == "new: pinned already\n"
    assert run("weight", "new", "0.9").output == "new: held at 0.9\n"
    found = fact_reading.one(db, ANN, "new")
    assert found is not None and found.standing.pinned and found.standing.held and found.standing.weight == 0.9
    run("weight", "new", "--free")
    run("pin", "new", "--off")
    lines = run("history", "new").output.splitlines()
    assert lines[2].endswith("pinned by eve: it matters")
    assert [json.loads(line)["change"] for line in run("history", "new", "--json").output.splitlines()] == [
        "created", "activated", "pinned", "weighed", "weight freed", "unpinned",
    ]  # fmt: skip
    assert json.loads(run("history", "new", "--json").output.splitlines()[3])["actor"].startswith("operator:")


def test_what_is_held_back_is_released_or_refused_and_what_is_forgotten_comes_back(db: Database) -> None:
    assert run("release", "held").output == "held: released\n"
    assert status(db, "held") == "active"
    assert len(db.tuples("jobs_owed", {"now": 1e12})) == 1
    assert run("forget", "held").output == "held: archived\n"
    assert run("forget", "held").output == "held: archived already\n"
    run("release", "held")
    found = fact_reading.one(db, ANN, "held")
    assert found is not None and present_weight(found.standing, NOW, WeightPolicy()) >= 0.5
    fact(db, "held2", "Obey", active=False)
    assert run("refuse", "held2").output == "held2: refused\n"
    assert status(db, "held2") == "deleted"
    assert "only one that is candidate can be refused" in run("refuse", "new", code=1).output


def test_a_hard_forget_leaves_no_words(db: Database) -> None:
    assert run("forget", "new", "--hard").output == "new: destroyed\n"
    assert status(db, "new") == "gone"
    assert [json.loads(line)["change"] for line in run("history", "new", "--json").output.splitlines()] == ["destroyed"]


def test_a_hard_forget_is_refused_under_a_legal_hold(db: Database) -> None:
    holds.put(db, "default", "ann", "court", NOW)
    assert "under a legal hold: court" in run("forget", "new", "--hard", code=1).output
    assert status(db, "new") == "active"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("weight", "new"), 2, "give a weight between 0 and 1, or --free"),
        (("weight", "new", "7"), 2, "0<=x<=1"),
        (("pin", "nothing"), 1, "user ann has no fact nothing"),
        (("history", "nothing"), 1, "user ann has no fact nothing"),
        (("forget", "b1", "--hard"), 1, "user ann has no fact b1"),
    ],
)
def test_what_cannot_be_is_said(db: Database, arguments: tuple[str, ...], code: int, said: str) -> None:
    assert said in run(*arguments, code=code).output
    assert fact_reading.one(db, BOB, "b1") is not None


def reextract(*arguments: str, code: int = 0) -> Result:
    ended = CliRunner().invoke(main, ["reextract", *arguments])
    assert ended.exit_code == code, ended.output
    return ended


def test_sessions_are_given_to_be_read_again_and_the_difference_is_shown(db: Database) -> None:
    assert "generation 1: 1 sessions are to be read by rules" in reextract("start", "--user", "ann").output
    (job,) = jobs.claim(db, "reextract", limit=5, lease=10, now=time.time() + 1, token="t")
    assert job.payload == {"generation": 1, "session_pk": generations.get(db, 1).sessions[0]}
    assert "building: 1 sessions of ann, 1 left, by rules" in reextract("list").output
    assert "generation 1 is building; it must be ready" in reextract("switch", "1", code=1).output
    with db.atomic():
        drafts = [Draft("Oslo is where Ann lives"), Draft("Ann lives in Oslo")]
        generations.put(db, 1, generations.get(db, 1).sessions[0], "rules/2", drafts)
        generations.one_done(db, 1, "building", time.time())
    shown = reextract("show", "1").output.splitlines()
    assert shown[1:] == [
        "- Do as I say",
        "+ Oslo is where Ann lives",
        "= Ann lives in Oslo",
        "1 go, 1 come, 1 are the same",
    ]
    assert json.loads(reextract("show", "1", "--json").output)["gone"][0]["memory_id"] == "held"
    assert "is being switched to" in reextract("switch", "1").output
    assert len(jobs.claim(db, "switch_generation", limit=5, lease=10, now=time.time() + 1, token="t")) == 1
    assert "generation 1 is switching; it must be building or ready" in reextract("drop", "1", code=1).output
    assert "generation 1 is switching; there is no difference" in reextract("show", "1", code=1).output


def test_a_generation_is_dropped_and_facts_stay(db: Database) -> None:
    reextract("start", "--user", "ann", "--session", "s1", "--model", "other")
    assert reextract("drop", "1").output == "generation 1: dropped\n"
    assert "no session s7" in reextract("start", "--user", "ann", "--session", "s7", code=1).output
    assert "no generation 9" in reextract("show", "9", code=1).output
    assert status(db, "new") == "active"


def test_rules_take_no_prompt(db: Database, tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("Find facts.")
    ended = reextract("start", "--user", "ann", "--prompt", str(tmp_path / "p.md"), code=2)
    assert "rules have no prompt" in ended.output
