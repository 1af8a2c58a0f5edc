"""Feedback, people's decisions and upkeep, from an event in the stream to the rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from memory.weights import WeightPolicy
from store import fact_reading, facts, spaces, vectors
from store.fact_reading import KnownFact
from tests.unit.facts_support import ANN, BOB, fact
from tests.unit.store_support import vector
from tests.unit.workers_support import NOW, Bench, message
from workers.adjust import AdjustHandler
from workers.drain import Drain, Drained, DrainRules, Handler
from workers.feedback import FeedbackHandler
from workers.retry import RetryRules
from workers.upkeep import keep_up

POLICY = WeightPolicy()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def drained(bench: Bench, handler: Handler[Any]) -> Drained:
    rules = DrainRules(lease=10, budget=5, patience=5, retry=RetryRules(3, 1.0, 1.0, 0.0))
    ids = iter(f"token-{n}" for n in range(1_000))
    return await Drain(bench.db, handler, rules, clock=lambda: bench.now, ids=lambda: next(ids)).run()


def known(bench: Bench, memory_id: str, user: Any = ANN) -> KnownFact:
    found = fact_reading.one(bench.db, user, memory_id)
    assert found is not None
    return found


def answered(bench: Bench, answer: str, question: str = "where do I live?") -> None:
    bench.apply(
        message(user_id="ann", content=question, id="q1"),
        message(role="assistant", user_id="ann", content=answer, id="a1"),
    )


def used(*memory_ids: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "memory.used", "session_id": "s1", "id": "u1", "parent_id": "a1",
        "memory_ids": json.dumps(memory_ids), **more,
    }  # fmt: skip


def feedback(bench: Bench) -> FeedbackHandler:
    return FeedbackHandler(bench.db, POLICY, clock=lambda: bench.now)


async def test_what_an_answer_used_grows_heavier_and_the_rest_lighter(bench: Bench) -> None:
    answered(bench, "You live in Trondheim.")
    home = fact(bench.db, "m1", "Ann lives in Trondheim", now=NOW)
    pet = fact(bench.db, "m2", "Ann has a parrot", now=NOW)
    fact(bench.db, "m3", "Ann reads Hamsun", now=NOW)
    bench.apply(used("m1", "m2"), used("m1", "m2"))
    assert await drained(bench, feedback(bench)) == Drained(1, 0)
    assert known(bench, "m1").standing.weight == pytest.approx(home.weight + 0.15 * (1 - home.weight))
    assert known(bench, "m2").standing.weight == pytest.approx(pet.weight * 0.98)
    assert known(bench, "m3").standing.weight == 0.5
    assert [known(bench, m).fact.access_count for m in ("m1", "m2")] == [1, 0]
    assert bench.rows("SELECT memory_id, used, answer_id IS NOT NULL FROM memory_usage_log ORDER BY 1") == [
        ("m1", 1, 1),
        ("m2", 0, 1),
    ]
    assert await drained(bench, feedback(bench)) == Drained()


async def test_meaning_is_asked_where_answer_and_facts_are_embedded(bench: Bench) -> None:
    answered(bench, "At the chess club, I suppose.", "Where to tonight?")
    kept = [
        fact(bench.db, "m1", "Ann plays chess at the club in Ghent", now=NOW),
        fact(bench.db, "m2", "Ann drives a red van to work", now=NOW),
        fact(bench.db, "m3", "Ann hates liquorice and mint", now=NOW),
        fact(bench.db, "m4", "Ann keeps three bees", now=NOW),
    ]
    bench.apply(used("m1", "m2", "m3", "m4"))
    handler = feedback(bench)
    session = bench.rows("SELECT id FROM sessions")[0][0]
    answer = bench.rows("SELECT id FROM main_messages WHERE role = 'assistant'")[0][0]
    with bench.db.atomic():
        space = spaces.ensure_space(bench.db, "m", 8, NOW)
        scope = kept[0].scope_id
        rows: list[vectors.VectorRow] = [("message", answer, scope, session, vector(1.0))]
        rows += [("fact", f.id, scope, session, vector(0.0, 1.0)) for f in kept[1:]]
        rows += [("fact", kept[0].id, scope, session, vector(1.0, 0.1))]
        vectors.upsert(bench.db, space, rows)
    await drained(bench, handler)
    assert [known(bench, f.memory_id).fact.access_count for f in kept] == [1, 0, 0, 0]


async def test_another_users_facts_are_never_moved(bench: Bench) -> None:
    answered(bench, "You live in Trondheim.")
    fact(bench.db, "b1", "Bob lives in Trondheim", BOB, now=NOW)
    bench.apply(used("b1"))
    assert await drained(bench, feedback(bench)) == Drained(1, 0)
    assert known(bench, "b1", BOB).standing.weight == 0.5
    assert bench.rows("SELECT count(*) FROM memory_usage_log") == [(0,)]


async def test_an_answer_that_never_comes_is_told_in_a_dead_letter(bench: Bench) -> None:
    bench.apply(message(user_id="ann", content="hello there", id="q1"))
    fact(bench.db, "m1", "Ann lives in Trondheim", now=NOW)
    bench.apply(used("m1"))
    for _ in range(3):
        assert (await drained(bench, feedback(bench))).failed == 1
        bench.now += 10
    assert bench.reasons() == ["the answer 'a1' is not stored"]


async def test_without_a_named_answer_the_sessions_newest_counts(bench: Bench) -> None:
    answered(bench, "You live in Trondheim.")
    fact(bench.db, "m1", "Ann lives in Trondheim", now=NOW)
    event = used("m1")
    del event["parent_id"]
    bench.apply(event)
    await drained(bench, feedback(bench))
    assert known(bench, "m1").fact.access_count == 1


def adjustment(memory_id: str = "m1", **wish: Any) -> dict[str, Any]:
    return {"type": "memory.adjust", "session_id": "s1", "user_id": "ann", "memory_id": memory_id, **wish}


async def test_a_persons_wishes_are_carried_out_with_their_name_and_reason(bench: Bench) -> None:
    answered(bench, "ok then")
    fact(bench.db, "m1", "Ann lives in Oslo", now=NOW)
    fact(bench.db, "m2", "Do as I say", active=False, now=NOW)
    bench.apply(
        adjustment(pinned="true", weight="0.9", reason="it matters", actor="eve"),
        adjustment("m2", verdict="release", reason="harmless", agent_id="helper"),
    )
    handler = AdjustHandler(bench.db, clock=lambda: bench.now)
    assert await drained(bench, handler) == Drained(2, 0)
    standing = known(bench, "m1").standing
    assert (standing.pinned, standing.held, standing.weight) == (True, True, 0.9)
    last = facts.history(bench.db, ANN, "m1")[-1]
    assert (last.change, last.actor, last.reason) == ("pinned", "eve", "it matters")
    assert known(bench, "m2").fact.status == "active"
    assert facts.history(bench.db, ANN, "m2")[-1].actor == "agent:helper"
    assert handler.embeds == 1
    assert bench.jobs("embed")[-1][0].startswith(f"fact:{known(bench, 'm2').fact.id}:")


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        ({"memory_id": "b1", "pinned": "true"}, "memory_id: no fact 'b1' of this user"),
        ({"memory_id": "m1", "verdict": "refuse"}, "m1 is active; only one that is candidate can be refused"),
    ],
)
async def test_a_wish_that_cannot_be_is_dead_with_its_reason(bench: Bench, wish: dict[str, Any], reason: str) -> None:
    answered(bench, "ok then")
    fact(bench.db, "m1", "Ann lives in Oslo", now=NOW)
    fact(bench.db, "b1", "Bob lives in Oslo", BOB, now=NOW)
    bench.apply(adjustment(**wish))
    assert await drained(bench, AdjustHandler(bench.db, clock=lambda: bench.now)) == Drained(0, 1)
    assert reason in bench.reasons()[0]
    assert not known(bench, "b1", BOB).standing.pinned


def test_upkeep_archives_once_and_says_why(bench: Bench) -> None:
    fact(bench.db, "m1", "Ann lives in Oslo", now=NOW)
    fact(bench.db, "m2", "Ann likes tea", weight=0.1, now=NOW)
    fact(bench.db, "b1", "Bob is on holiday", BOB, expires_at=NOW - 1, now=NOW)
    assert keep_up(bench.db, POLICY, NOW, 10.0) == 2
    assert keep_up(bench.db, POLICY, NOW, 10.0) == 0
    assert [known(bench, m).fact.status for m in ("m1", "m2")] == ["active", "archived"]
    expired = facts.history(bench.db, BOB, "b1")[-1]
    assert (expired.change, expired.actor, expired.reason) == ("archived", "upkeep", "expired")
    assert keep_up(bench.db, POLICY, NOW + 400 * 86_400, 0.0) == 1
