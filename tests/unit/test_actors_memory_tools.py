"""The agent's own memory: it keeps, recalls and forgets, and says which facts its answers were given."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from memory.types import Scope
from memory.weights import WeightPolicy
from recall.database import ReadDatabase
from recall.fact_reader import FactReader
from sidestream.events import MemoryForget, MemoryRemember, MemoryUsed
from store import sessions, timeline
from store.db import Database
from store.opening import open_database
from tests.fake_openai import Reply as Answer
from tests.unit.agent_support import SCOPE, Bench, bench
from tests.unit.facts_support import fact
from tests.unit.store_support import NOW, say, session
from tests.unit.test_actors_tools import results

BOB = Scope("bob", session_id="b1")


@asynccontextmanager
async def remembering(folder: Path) -> AsyncIterator[tuple[Bench, Database]]:
    """An agent whose database is there."""
    path = folder / "absent.db"
    facts = FactReader(ReadDatabase(path), WeightPolicy(), clock=lambda: NOW)
    with open_database(path, clock=lambda: NOW) as db:
        async with bench(folder, facts=facts) as agent:
            yield agent, db
    facts.close()


async def test_the_model_keeps_and_forgets_by_events(tmp_path: Path) -> None:
    async with remembering(tmp_path) as (agent, _):
        agent.server.script(
            Answer(
                "", tool_calls=[("memory_store", '{"content": "Ann eats no meat.", "key": "diet", "tags": ["food"]}')]
            ),
            Answer("", tool_calls=[("memory_forget", '{"key": "diet"}')]),
            Answer("Done."),
        )
        assert await agent.say("Remember that I eat no meat. No, forget it.") == "Done."
        kept, gone = (e for e in agent.notebook.events if isinstance(e, MemoryRemember | MemoryForget))
        assert isinstance(kept, MemoryRemember) and isinstance(gone, MemoryForget)
        assert (kept.content, kept.key, kept.tags, kept.user_id) == ("Ann eats no meat.", "diet", ["food"], "ann")
        assert (gone.key, gone.hard) == ("diet", False)
        calls = [e.id for e in agent.notebook.events if e.type == "message" and e.meta.get("tool_calls")]
        assert [kept.parent_id, gone.parent_id] == calls
        assert [json.loads(text)["status"] for text in results(agent)] == ["accepted", "accepted"]


async def test_in_a_session_about_one_source_the_model_recalls_nothing_of_another(tmp_path: Path) -> None:
    async with remembering(tmp_path) as (agent, db):
        for source in ("erp", "crm", None):
            fact(db, f"m-{source}", f"Orders of {source} are in euros", origin={"data_source": source})
        row = session(db, SCOPE)
        row.data_source = "erp"
        with db.atomic():
            sessions.save_many(db, [row])
        agent.server.script(
            Answer("", tool_calls=[("memory_recall", '{"query": "orders", "kinds": ["fact"]}')]), Answer("In euros.")
        )
        await agent.say("How are orders kept?")
        found = json.loads(results(agent)[0])["results"]
        assert {f["memory_id"] for f in found} == {"m-erp", "m-None"}


async def test_the_model_recalls_facts_and_messages_of_its_user_alone(tmp_path: Path) -> None:
    async with remembering(tmp_path) as (agent, db):
        fact(db, "m1", "Ann eats no meat", SCOPE, memory_type="preference")
        fact(db, "b1", "Bob eats meat", BOB)
        say(db, Scope("ann", session_id="s0"), "meat makes me ill")
        agent.server.script(
            Answer("", tool_calls=[("memory_recall", '{"query": "meat"}')]),
            Answer("No meat for you."),
        )
        assert await agent.say("What do I eat?") == "No meat for you."
        found = json.loads(results(agent)[0])["results"]
        assert [(f["kind"], f["content"]) for f in found] == [
            ("fact", "Ann eats no meat"),
            ("message", "meat makes me ill"),
        ]
        assert found[0]["memory_id"] == "m1"


async def test_the_model_looks_at_the_timeline(tmp_path: Path) -> None:
    async with remembering(tmp_path) as (agent, db):
        scope_id = fact(db, "m1", "Ann eats no meat", SCOPE).scope_id
        timeline.put(db, timeline.NewEntry(scope_id, "day", "2023-11-14", "dinner with Bo", NOW - 60, NOW, 14), NOW)
        agent.server.script(
            Answer("", tool_calls=[("timeline_recall", '{"until": "2024-01-01T00:00:00Z"}')]), Answer("Dinner.")
        )
        assert await agent.say("What happened?") == "Dinner."
        (entry,) = json.loads(results(agent)[0])["entries"]
        assert (entry["content"], entry["starts_at"]) == ("dinner with Bo", "2023-11-14T22:12:20Z")


async def test_the_model_asks_the_timeline_about_a_topic(tmp_path: Path) -> None:
    async with remembering(tmp_path) as (agent, db):
        scope_id = fact(db, "m1", "Ann eats no meat", SCOPE).scope_id
        for number, text in enumerate(("dinner with Bo", "a walk with Cleo")):
            entry = timeline.NewEntry(scope_id, "session", f"1:{number}", text, NOW - 60, NOW, 14)
            timeline.put(db, entry, NOW)
        agent.server.script(Answer("", tool_calls=[("timeline_recall", '{"topic": "Bo"}')]), Answer("Dinner."))
        assert await agent.say("What about Bo?") == "Dinner."
        assert [entry["content"] for entry in json.loads(results(agent)[0])["entries"]] == ["dinner with Bo"]


async def test_wrong_arguments_go_back_to_the_model(tmp_path: Path) -> None:
    async with remembering(tmp_path) as (agent, _):
        agent.server.script(Answer("", tool_calls=[("memory_forget", "{}")]), Answer("I cannot."))
        assert await agent.say("Forget it.") == "I cannot."
        assert results(agent) == ["error: memory_forget: arguments: exactly one of memory_id and key is needed"]


async def test_without_a_database_a_recall_is_refused_in_words_and_the_answer_comes(tmp_path: Path) -> None:
    facts = FactReader(ReadDatabase(tmp_path / "absent.db"), WeightPolicy())
    async with bench(tmp_path, facts=facts) as agent:
        agent.server.script(Answer("", tool_calls=[("timeline_recall", "{}")]), Answer("I do not know."))
        assert await agent.say("What happened?") == "I do not know."
        assert results(agent)[0].startswith("error: memory cannot be read now")


async def test_an_answer_says_which_facts_it_was_given(tmp_path: Path) -> None:
    async with remembering(tmp_path) as (agent, db):
        fact(db, "m1", "Ann eats no meat", SCOPE)
        fact(db, "m2", "Ann owns a kayak", SCOPE)
        agent.server.script(Answer("Tofu, since you eat no meat."), Answer("Hello."))
        reply = await agent.host.sessions.say(SCOPE, "Which meat shall I eat?")
        (used,) = [e for e in agent.notebook.events if isinstance(e, MemoryUsed)]
        assert (used.memory_ids, used.parent_id, used.session_id) == (["m1"], reply.event_id, "s1")
        assert agent.notebook.types()[-2:] == ["message:assistant", "memory.used"]
        assert [hit.metadata["memory_id"] for hit in reply.sources if hit.kind == "fact"] == ["m1"]
        await agent.say("Hello there.")
        assert agent.notebook.types()[-1] == "message:assistant"
