"""Sessions read again: drafts beside the facts that stand, then in their place; people's own facts stay."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from config.settings import load
from memory.facts.model import Draft
from memory.types import Scope
from store import fact_changes, fact_reading, facts, generations, jobs
from tests.fake_openai import FakeOpenAI
from tests.fake_openai import Reply as Answer
from tests.unit.facts_support import ANN, fact
from tests.unit.workers_support import NOW, Bench, message
from workers.drain import Drain, Drained, DrainRules, Handler
from workers.extract import ExtractHandler, extract_rules
from workers.kinds import REEXTRACT, SWITCH
from workers.readers import Readers
from workers.reextract import PART, ReextractHandler, SwitchHandler
from workers.retry import RetryRules

SCOPE = Scope("ann")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    for number, text in enumerate(["I live in Oslo.", "I have two cats.", "My sister is called Brolvan."]):
        made.apply(
            message(user_id="ann", content=text, id=f"q{number}"),
            message(role="assistant", user_id="ann", content="I see.", id=f"a{number}"),
        )
    return made


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as running:
        yield running


@pytest.fixture
async def readers(bench: Bench, server: FakeOpenAI, tmp_path: Path) -> AsyncIterator[Readers]:
    settings = load(
        data_dir=tmp_path, chat_base_url=server.url, chat_model="usual", llm_retries=0, embed_provider="none"
    )
    made = Readers(bench.db, settings, clock=lambda: bench.now)
    yield made
    await made.aclose()


async def drained(bench: Bench, handler: Handler[Any]) -> Drained:
    rules = DrainRules(lease=10, budget=20, patience=20, retry=RetryRules(1, 1.0, 1.0, 0.0))
    ids = iter(f"{handler.kind}-{n}" for n in range(1_000))
    return await Drain(bench.db, handler, rules, clock=lambda: bench.now, ids=lambda: next(ids)).run()


def begin(bench: Bench, *, model: str | None = None, prompt: str | None = None) -> int:
    """A generation of all of ann's sessions, with its work owed."""
    with bench.db.atomic():
        sessions = list(generations.sessions_of(bench.db, SCOPE, None))
        number = generations.begin(
            bench.db, SCOPE, sessions, model=model, prompt=prompt, actor="eve", reason="better rules", now=NOW
        )
        for pk in sessions:
            owe(bench, REEXTRACT, f"generation:{number}:session:{pk}", {"generation": number, "session_pk": pk})
    return number


def owe(bench: Bench, kind: str, subject: str, payload: dict[str, Any]) -> None:
    jobs.owe(bench.db, kind, subject, "default", due_at=NOW, now=NOW, payload=payload)


async def switched(bench: Bench, number: int, part: int = PART) -> SwitchHandler:
    generations.move(bench.db, number, "switching", NOW, from_states=("ready",))
    owe(bench, SWITCH, f"generation:{number}", {"generation": number})
    handler = SwitchHandler(bench.db, clock=lambda: bench.now, part=part)
    await drained(bench, handler)
    return handler


def active(bench: Bench) -> set[str]:
    return {f.content for f in facts.list_facts(bench.db, SCOPE, 50)}


async def test_rules_read_again_beside_what_stands_and_then_in_its_place(bench: Bench, readers: Readers) -> None:
    (first, *_) = (row[0] for row in bench.rows("SELECT id FROM main_messages ORDER BY id"))
    fact(bench.db, "wrong", "Ann lives on the moon", source_ids=(first,), now=NOW)
    fact(bench.db, "pinned", "Ann has a boat", source_ids=(first,), now=NOW)
    fact(bench.db, "tool", "Ann eats no meat", origin={"source_type": "explicit_tool"}, now=NOW)
    known = fact_reading.one(bench.db, ANN, "pinned")
    assert known is not None
    with bench.db.atomic():
        fact_changes.pin(bench.db, known, True, actor="ann", reason="mine", now=NOW)
    number = begin(bench)
    assert await drained(bench, ReextractHandler(bench.db, readers, clock=lambda: bench.now)) == Drained(1, 0)
    assert generations.get(bench.db, number).state == "ready"
    found = [d.draft.content for d in generations.drafts(bench.db, number)]
    assert any("Oslo" in content for content in found)
    assert active(bench) == {"Ann lives on the moon", "Ann has a boat", "Ann eats no meat"}
    handler = await switched(bench, number)
    assert generations.get(bench.db, number).state == "active"
    assert generations.drafts(bench.db, number) == []
    assert active(bench) == {"Ann has a boat", "Ann eats no meat", *found}
    assert handler.embeds == len(found)
    last = facts.history(bench.db, ANN, "wrong")[-1]
    assert (last.change, last.actor, last.reason) == (
        "archived", "eve", f"generation {number} takes its place: better rules",
    )  # fmt: skip
    again = begin(bench)
    await drained(bench, ReextractHandler(bench.db, readers, clock=lambda: bench.now))
    await switched(bench, again)
    assert active(bench) == {"Ann has a boat", "Ann eats no meat", *found}


async def test_a_switch_goes_part_by_part_and_session_by_session(bench: Bench, readers: Readers) -> None:
    bench.apply(message("s2", user_id="ann", content="I live in Rome now. I have a boat.", id="later"))
    for n in range(5):
        fact(bench.db, f"wrong{n}", f"Ann lives on moon {n}", now=NOW)
    number = begin(bench)
    await drained(bench, ReextractHandler(bench.db, readers, clock=lambda: bench.now))
    found = len(generations.drafts(bench.db, number))
    handler = await switched(bench, number, part=2)
    assert (generations.get(bench.db, number).state, generations.drafts(bench.db, number)) == ("active", [])
    assert len(bench.jobs(SWITCH)) >= 3 + found // 2
    assert not any("moon" in content or "Oslo" in content for content in active(bench))
    assert any("Rome" in content for content in active(bench))
    assert handler.embeds == found


async def test_what_a_person_let_in_and_what_was_learnt_since_stays(bench: Bench, readers: Readers) -> None:
    held = fact(bench.db, "held", "Ann has a boat", active=False, now=NOW)
    with bench.db.atomic():
        fact_changes.release(bench.db, held, actor="operator:eve", reason="harmless", now=NOW)
    number = begin(bench)
    fact(bench.db, "since", "Ann has a horse", now=NOW + 5)
    await drained(bench, ReextractHandler(bench.db, readers, clock=lambda: bench.now))
    await switched(bench, number)
    assert {"Ann has a boat", "Ann has a horse"} <= active(bench)


async def test_another_model_and_prompt_read_with_no_fact_told(
    bench: Bench, readers: Readers, server: FakeOpenAI
) -> None:
    fact(bench.db, "old", "Ann lives in Oslo with a parrot", now=NOW)
    number = begin(bench, model="finer", prompt="Read closely. {{FACTS}}")
    server.script(Answer('{"facts": []}'))
    await drained(bench, ReextractHandler(bench.db, readers, clock=lambda: bench.now))
    assert generations.get(bench.db, number).state == "ready"
    (asked,) = server.requests("chat")
    assert asked.body["model"] == "finer"
    assert "Read closely." in str(asked.body["messages"])
    assert "parrot" not in str(asked.body["messages"])


async def test_what_a_model_cannot_say_is_dead_with_its_reason(
    bench: Bench, readers: Readers, server: FakeOpenAI
) -> None:
    number = begin(bench, model="finer")
    server.script(Answer("no JSON"), Answer("none either"))
    assert await drained(bench, ReextractHandler(bench.db, readers, clock=lambda: bench.now)) == Drained(0, 1)
    assert "no facts after one repair" in bench.reasons()[0]
    assert generations.get(bench.db, number).state == "building"


async def test_without_a_chat_service_a_model_is_refused_in_words(bench: Bench, tmp_path: Path) -> None:
    settings = load(data_dir=tmp_path, chat_provider="offline", embed_provider="none")
    begin(bench, model="finer")
    handler = ReextractHandler(bench.db, Readers(bench.db, settings, clock=lambda: bench.now), clock=lambda: bench.now)
    assert await drained(bench, handler) == Drained(0, 1)
    assert "needs a chat service" in bench.reasons()[0]


async def test_without_consolidation_nothing_is_extracted_but_sessions_can_be_read_later(
    bench: Bench, tmp_path: Path
) -> None:
    settings = load(data_dir=tmp_path, chat_provider="offline", embed_provider="none", consolidation=False)
    handler = ExtractHandler(bench.db, None, "", extract_rules(settings), clock=lambda: bench.now)
    assert (await drained(bench, handler)).done > 0
    assert active(bench) == set()
    number = begin(bench)
    readers = Readers(bench.db, settings, clock=lambda: bench.now)
    await drained(bench, ReextractHandler(bench.db, readers, clock=lambda: bench.now))
    await switched(bench, number)
    assert any("Oslo" in content for content in active(bench))


async def test_a_dropped_generation_is_neither_read_nor_switched_to(bench: Bench, readers: Readers) -> None:
    number = begin(bench)
    generations.move(bench.db, number, "dropped", NOW, from_states=("building",))
    await drained(bench, ReextractHandler(bench.db, readers, clock=lambda: bench.now))
    assert generations.drafts(bench.db, number) == []
    owe(bench, SWITCH, f"generation:{number}", {"generation": number})
    await drained(bench, SwitchHandler(bench.db, clock=lambda: bench.now))
    assert generations.get(bench.db, number).state == "dropped"


async def test_a_job_of_no_generation_is_dead(bench: Bench, readers: Readers) -> None:
    owe(bench, REEXTRACT, "x", {"generation": 9, "session_pk": 1})
    owe(bench, SWITCH, "x", {"generation": 9})
    await drained(bench, ReextractHandler(bench.db, readers, clock=lambda: bench.now))
    await drained(bench, SwitchHandler(bench.db, clock=lambda: bench.now))
    assert bench.reasons() == ["payload: no generation 9", "payload: no generation 9"]


async def test_another_users_facts_are_never_replaced(bench: Bench, readers: Readers) -> None:
    bench.apply(message("s2", user_id="bob", content="I live in Oslo.", id="b"))
    fact(bench.db, "b1", "Bob lives in Oslo", Scope("bob", session_id="s2"), now=NOW)
    number = begin(bench)
    await drained(bench, ReextractHandler(bench.db, readers, clock=lambda: bench.now))
    await switched(bench, number)
    assert [f.content for f in facts.list_facts(bench.db, Scope("bob"), 5)] == ["Bob lives in Oslo"]
    assert all(isinstance(d.draft, Draft) for d in generations.drafts(bench.db, number))
