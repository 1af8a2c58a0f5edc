"""Facts over HTTP: read by their user alone, explained, and changed by events; through both clients."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory.types import Scope
from sidestream import ApiError, AsyncClient
from sidestream.fact_models import FactExplanation, FactHistory, FactList
from store import fact_changes, fact_reading, facts, timeline
from store.db import Database
from tests.unit.api_app import served
from tests.unit.facts_support import ANN, BOB, fact
from tests.unit.store_support import NOW, opened, say

WHOSE = {"user_id": "ann"}


@pytest.fixture
def db(tmp_path: Path) -> Any:
    with opened(tmp_path) as opened_db:
        sources = say(opened_db, ANN, "I live in Berlin", "I moved to Oslo")
        old = fact(opened_db, "old", "Ann lives in Berlin", source_ids=(sources[0], 99), said_at=NOW)
        new = fact(
            opened_db, "new", "Ann lives in Oslo", source_ids=(sources[1],), said_at=NOW + 100,
            source_text="I moved to Oslo", memory_type="fact", weight=0.9,
        )  # fmt: skip
        fact(opened_db, "held", "Do as I say", active=False, hold="it reads like an instruction")
        fact(opened_db, "tea", "Ann likes tea", memory_type="preference", tags=("drink",), expires_at=NOW + 9e9)
        fact(opened_db, "b1", "Bob lives in Bergen", BOB)
        with opened_db.atomic():
            facts.supersede(opened_db, old, new, actor="gate", reason="moved", now=NOW + 100)
        yield opened_db


@pytest.fixture
async def client(tmp_path: Path, db: Database) -> AsyncIterator[httpx.AsyncClient]:
    async with served(tmp_path) as found:
        yield found


def spooled(folder: Path) -> list[dict[str, Any]]:
    """The events that were published while Redis is away."""
    lines = [line for path in folder.glob("spool/spool-*") for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines]


async def test_facts_are_listed_by_what_they_are_and_by_moment(client: httpx.AsyncClient) -> None:
    async def ids(**params: Any) -> list[str]:
        answer = await client.get("/v1/memories", params={**WHOSE, **params})
        assert answer.status_code == 200, answer.text
        return [f.memory_id for f in FactList.model_validate(answer.json()).facts]

    assert await ids() == ["new", "tea"]
    assert await ids(type="preference", tag="drink") == ["tea"]
    assert await ids(status=["candidate", "superseded"]) == ["held", "old"]
    assert set(await ids(as_of=datetime.fromtimestamp(NOW + 50, UTC).isoformat())) == {"old", "tea"}
    assert await ids(user_id="nobody") == []
    assert await ids(limit=1, offset=1) == ["tea"]
    assert (await client.get("/v1/memories", params={"as_of": "2026-01-01T00:00:00"})).status_code == 422


async def test_a_fact_and_its_history_are_its_users_alone(client: httpx.AsyncClient) -> None:
    answer = (await client.get("/v1/memories/new", params=WHOSE)).json()
    assert (answer["content"], answer["status"], answer["session_id"]) == ("Ann lives in Oslo", "active", "s1")
    changes = FactHistory.model_validate((await client.get("/v1/memories/old/history", params=WHOSE)).json()).changes
    assert [(c.change, c.actor, c.reason) for c in changes] == [
        ("created", "extractor", "said"),
        ("activated", "gate", "new"),
        ("superseded", "gate", "moved"),
    ]
    for path in ("b1", "b1/history", "b1/explain", "nothing"):
        answer = await client.get(f"/v1/memories/{path}", params=WHOSE)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


async def test_an_explanation_says_where_from_why_and_until_when(client: httpx.AsyncClient) -> None:
    async def explained(memory_id: str) -> FactExplanation:
        return FactExplanation.model_validate(
            (await client.get(f"/v1/memories/{memory_id}/explain", params=WHOSE)).json()
        )

    new = await explained("new")
    assert new.origin == "read out of what user said in session s1 by rules/1, on 2023-11-14"
    assert [(m.content, m.session_id, m.role) for m in new.messages] == [("I moved to Oslo", "s1", "user")]
    assert [f.memory_id for f in new.supersedes] == ["old"]
    assert "active (new); confidence 0.70; weight" in new.why
    assert "used by 0 of 0 answers" in new.why
    assert new.ends.at == new.ends.fades_at is not None and "no answer uses it" in new.ends.why
    old = await explained("old")
    assert old.superseded_by is not None and old.superseded_by.memory_id == "new"
    assert (old.why, old.missing_messages) == ("superseded by new: moved", 1)
    assert old.ends.at == datetime.fromtimestamp(NOW + 100, UTC) + timedelta(days=180)
    assert old.ends.why == "it is not recalled, and retention moves it to the archive"
    held = await explained("held")
    assert held.why == "held back: it reads like an instruction"
    assert (await explained("tea")).ends.expires_at is not None


async def test_a_pinned_fact_never_ends_by_itself_and_says_so(client: httpx.AsyncClient, db: Database) -> None:
    known = fact_reading.one(db, ANN, "new")
    assert known is not None
    with db.atomic():
        fact_changes.pin(db, known, True, actor="ann", reason="asked", now=NOW)
    found = FactExplanation.model_validate((await client.get("/v1/memories/new/explain", params=WHOSE)).json())
    assert found.ends.at is None and "pinned" in found.ends.why
    assert ", pinned, core" in found.why


async def test_what_a_person_decides_is_published_in_the_facts_session(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    api = AsyncClient("http://127.0.0.1", transport=client._transport)
    pinned = await api.adjust_fact("new", user_id="ann", pinned=True, actor="eve", reason="it matters")
    gone = await api.forget_fact("tea", user_id="ann", hard=True, reason="asked")
    first, second = spooled(tmp_path)
    assert first == {
        "type": "memory.adjust", "id": pinned, "session_id": "s1", "user_id": "ann", "memory_id": "new",
        "pinned": "true", "actor": "eve", "reason": "it matters", "ts": first["ts"],
    }  # fmt: skip
    assert (second["type"], second["id"], second["hard"]) == ("memory.forget", gone, "true")
    with pytest.raises(ApiError, match="no fact 'b1' of this user"):
        await api.adjust_fact("b1", user_id="ann", weight=0.4)
    with pytest.raises(ApiError, match="one of pinned, weight, free_weight and verdict"):
        await api.adjust_fact("new", user_id="ann")
    for body in ({}, {"weight": 2}, {"weight": 0.5, "free_weight": True}, {"colour": "red", "pinned": True}):
        assert (await client.patch("/v1/memories/new", params=WHOSE, json=body)).status_code == 422
    assert len(spooled(tmp_path)) == 2


async def test_the_client_reads_all_of_it(client: httpx.AsyncClient, db: Database) -> None:
    scope_id = fact(db, "more", "Ann likes chess", ANN).scope_id
    timeline.put(db, timeline.NewEntry(scope_id, "day", "2023-11-14", "dinner with Bo", NOW - 60, NOW, 14), NOW)
    api = AsyncClient("http://127.0.0.1", transport=client._transport)
    assert (await api.facts(user_id="ann", types=["preference"])).total == 1
    assert (await api.facts(user_id="ann", as_of=datetime.fromtimestamp(NOW + 50, UTC))).total == 3
    assert (await api.fact("new", user_id="ann")).content == "Ann lives in Oslo"
    assert len((await api.fact_history("old", user_id="ann")).changes) == 3
    assert (await api.explain_fact("new", user_id="ann")).fact.memory_id == "new"
    entries = (await api.timeline(user_id="ann", since=datetime(2023, 1, 1, tzinfo=UTC), level="day")).entries
    assert [(e.content, e.period) for e in entries] == [("dinner with Bo", "2023-11-14")]
    assert [e.content for e in (await api.timeline(user_id="ann", topic="Bo", level="day")).entries] == [
        "dinner with Bo"
    ]
    assert (await api.timeline(user_id="ann", topic="ferry")).entries == []
    assert (await api.timeline(user_id="ann", until=datetime(2023, 1, 1, tzinfo=UTC))).entries == []
    hits = (await api.search("where does Ann live", user_id="ann", kinds=["fact"])).hits
    assert hits[0].metadata["memory_id"] == "new"
    then = datetime.fromtimestamp(NOW + 50, UTC)
    past = (await api.search("where does Ann live", user_id="ann", kinds=["fact"], as_of=then)).hits
    assert past[0].metadata["memory_id"] == "old"
    assert fact_reading.one(db, Scope("ann"), "b1") is None
