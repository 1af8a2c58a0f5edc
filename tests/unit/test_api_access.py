"""Who may call: the key, and without one only this machine."""

from pathlib import Path

import pytest

from api.access import is_loopback
from api.app import create
from api.errors import ExposedWithoutKey
from config.settings import load
from tests.unit.api_app import KEY, message, served

REQUESTS = [
    ("POST", "/v1/events"),
    ("GET", "/v1/events/e1"),
    ("GET", "/v1/sessions/s/context"),
    ("POST", "/v1/memories/search"),
]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
@pytest.mark.parametrize("header", [None, "", KEY, f"Basic {KEY}", "Bearer ", f"Bearer {KEY}x", "Bearer é"])
async def test_every_route_asks_for_the_key(tmp_path: Path, method: str, path: str, header: str | None) -> None:
    headers = {} if header is None else {b"Authorization": header.encode()}
    async with served(tmp_path, api_key=KEY) as client:
        answer = await client.request(method, path, json={}, headers=headers)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "unauthorised"
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_the_key_opens_the_door(tmp_path: Path) -> None:
    async with served(tmp_path, api_key=KEY, host="memory.example") as client:
        body = {"events": [message()]}
        answer = await client.post("/v1/events", json=body, headers={"Authorization": f"bearer {KEY}"})
    assert answer.status_code == 202


async def test_without_a_key_only_this_machine_is_answered(tmp_path: Path) -> None:
    """A web page that resolves its own name to 127.0.0.1 still sends that name."""
    async with served(tmp_path, host="evil.example") as client:
        answer = await client.post("/v1/events", json={"events": [message()]})
    assert answer.status_code == 421
    assert answer.json()["error"]["code"] == "wrong_host"


async def test_a_web_page_cannot_publish_by_a_plain_form(tmp_path: Path) -> None:
    """A page may send text to any address without asking first, but not JSON."""
    body = b'{"events": [{"type": "message", "session_id": "s", "role": "user", "content": "planted"}]}'
    async with served(tmp_path) as client:
        for kind in ("text/plain", "application/x-www-form-urlencoded"):
            answer = await client.post("/v1/events", content=body, headers={"Content-Type": kind})
            assert answer.status_code == 422


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
async def test_this_machine_needs_no_key(tmp_path: Path, host: str) -> None:
    async with served(tmp_path, host=host) as client:
        assert (await client.post("/v1/events", json={"events": [message()]})).status_code == 202


@pytest.mark.parametrize("key", [None, ""])
def test_an_address_beyond_loopback_needs_a_key(tmp_path: Path, key: str | None) -> None:
    with pytest.raises(ExposedWithoutKey, match="SIDESTREAM_API_KEY"):
        create(load(data_dir=tmp_path, api_host="0.0.0.0", api_key=key))


def test_an_address_beyond_loopback_with_a_key_is_fine(tmp_path: Path) -> None:
    assert create(load(data_dir=tmp_path, api_host="0.0.0.0", api_key=KEY)).title == "Sidestream"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "a.localhost"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "10.0.0.1", "localhost.example", "127.0.0.1.example"])
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)


async def test_health_needs_no_key_and_then_gives_no_reasons(tmp_path: Path) -> None:
    async with served(tmp_path, api_key=KEY, host="memory.example") as client:
        assert (await client.get("/health/live")).json()["status"] == "ok"
        bare = (await client.get("/health/ready")).json()
        full = (await client.get("/health/ready", headers={"Authorization": f"Bearer {KEY}"})).json()
    assert {check["detail"] for check in bare["checks"].values()} == {""}
    assert "does not answer" in full["checks"]["redis"]["detail"]
    assert bare["status"] == full["status"] == "failed"
