"""The HTTP clients: what they ask, and what they make of every answer. Sync and async over one transport."""

import inspect
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from sidestream import ApiError, ApiUnavailable, AsyncClient, Client, InvalidEvent, Message
from sidestream.api_models import EventState

Answer = Callable[[httpx.Request], httpx.Response]
Make = Callable[..., Any]
STATE = {"id": "e1", "state": "stored", "namespace": "default"}


class Server:
    """Answers from a list and keeps the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


class Face:
    """Either client behind one asynchronous face."""

    def __init__(self, client: Client | AsyncClient) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def call(*args: Any, **more: Any) -> Any:
            outcome = getattr(self._client, name)(*args, **more)
            return await outcome if inspect.isawaitable(outcome) else outcome

        return call


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest) -> Make:
    def make(server: Answer, pauses: list[float] | None = None, **more: Any) -> Face:
        waits = [] if pauses is None else pauses
        if request.param == "sync":
            return Face(Client(transport=httpx.MockTransport(server), sleep=waits.append, **more))

        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        return Face(AsyncClient(transport=httpx.MockTransport(server), sleep=sleep, **more))

    return make


def answer(body: Any, status: int = 200) -> httpx.Response:
    return httpx.Response(status, json=body)


async def test_publish_sends_events_with_ids(client: Make) -> None:
    server = Server(answer({"ids": ["e1", "x"], "spooled": 0}, 202))
    said = Message(id="e1", session_id="s1", role="user", content="hi", meta={"a": 1})
    ids = await client(server, api_key="k").publish([said, {"type": "session.ended", "session_id": "s1"}])
    assert ids == ["e1", "x"]
    request = server.requests[0]
    assert (request.method, request.url.path) == ("POST", "/v1/events")
    assert request.headers["authorization"] == "Bearer k"
    first, second = json.loads(request.content)["events"]
    assert first == {
        "type": "message",
        "id": "e1",
        "session_id": "s1",
        "role": "user",
        "content": "hi",
        "meta": {"a": 1},
    }
    assert len(second.pop("id")) == 36
    assert second == {"type": "session.ended", "session_id": "s1"}


async def test_a_long_list_goes_in_several_requests(client: Make) -> None:
    server = Server(answer({"ids": ["a"] * 1_000}), answer({"ids": ["b"]}))
    events = [Message(session_id="s1", role="user", content=str(n)) for n in range(1_001)]
    assert await client(server).publish(events) == ["a"] * 1_000 + ["b"]
    assert [len(json.loads(r.content)["events"]) for r in server.requests] == [1_000, 1]


async def test_a_wrong_event_is_not_sent(client: Make) -> None:
    server = Server(answer({}))
    for wrong in ({"type": "message"}, "text"):
        with pytest.raises(InvalidEvent):
            await client(server).publish([wrong])
    assert server.requests == []


async def test_context_asks_for_all_that_was_said(client: Make) -> None:
    server = Server(answer({"messages": [{"role": "user", "content": "hi"}], "lag": {"owed": {"embed": 2}}}))
    found = await client(server).context("a/b c", "who?", tokens=500, user_id="ann", namespace="n", wait_for="e1")
    assert found.messages == [{"role": "user", "content": "hi"}] and found.lag.owed == {"embed": 2}
    url = server.requests[0].url
    assert url.raw_path.startswith(b"/v1/sessions/a%2Fb%20c/context?")
    assert dict(url.params) == {
        "query": "who?",
        "user_id": "ann",
        "namespace": "n",
        "tokens": "500",
        "wait_for": "e1",
        "wait_timeout": "2.0",
    }


async def test_a_wait_on_the_server_is_no_timeout_here(client: Make) -> None:
    server = Server(answer({"messages": []}))
    await client(server, timeout=1.0).context("s1", wait_for="e1", wait_timeout=20.0)
    assert server.requests[0].extensions["timeout"]["read"] == 21.0


@pytest.mark.parametrize("name", [".", ".."])
async def test_an_id_of_dots_is_no_folder(client: Make, name: str) -> None:
    server = Server(answer(STATE))
    await client(server).event(name)
    assert server.requests[0].url.raw_path.split(b"?")[0] == b"/v1/events/" + b"%2E" * len(name)


async def test_search(client: Make) -> None:
    hit = {
        "kind": "message",
        "id": 3,
        "score": 0.5,
        "content": "c",
        "occurred_at": "2026-01-31T09:00:00Z",
        "session_id": "s",
        "new_field": 1,
    }
    server = Server(answer({"hits": [hit]}))
    found = await client(server).search("q", user_id="ann", limit=3, kinds=["message"])
    assert found.hits[0].occurred_at.isoformat() == "2026-01-31T09:00:00+00:00"
    body = json.loads(server.requests[0].content)
    assert body == {"query": "q", "user_id": "ann", "namespace": "default", "limit": 3, "kinds": ["message"]}


async def test_a_filtered_search(client: Make) -> None:
    server = Server(answer({"hits": []}))
    await client(server).search("q", agent_id="a", as_of=datetime(2026, 1, 31, tzinfo=UTC), explain=True)
    body = json.loads(server.requests[0].content)
    assert (body["agent_id"], body["explain"], body["as_of"]) == ("a", True, "2026-01-31T00:00:00Z")
    with pytest.raises(ApiError, match=r"since: .*timezone"):
        await client(server).search("q", since="2026-01-31T00:00:00")
    with pytest.raises(ApiError, match=r"colour: Extra inputs"):
        await client(server).search("q", colour="red")


async def test_a_wrong_search_is_not_sent(client: Make) -> None:
    server = Server(answer({}))
    with pytest.raises(ApiError, match=r"limit: .*less than or equal to 100"):
        await client(server).search("q", limit=101)
    assert server.requests == []


async def test_health(client: Make) -> None:
    assert (await client(Server(answer({"status": "ok", "version": "1"}))).live()).version == "1"
    failed = {"status": "failed", "checks": {"redis": {"status": "failed", "detail": "away"}}}
    found = await client(Server(answer(failed, 503))).ready()
    assert (found.status, found.checks["redis"].detail) == ("failed", "away")


@pytest.mark.parametrize(
    ("response", "status", "words"),
    [
        (answer({"error": {"code": "not_found", "message": "no event 'e1'"}}, 404), 404, "no event 'e1'"),
        (answer({"detail": "other"}, 422), 422, '"other"}'),
        (httpx.Response(502, text="<html>bad gateway</html>"), 502, "<html>bad gateway</html>"),
        (httpx.Response(500), 500, "Internal Server Error"),
        (httpx.Response(200, text="hello"), 200, "did not answer as Sidestream's API does"),
        (answer({"id": "e1", "state": "lost"}), 200, "did not answer as Sidestream's API does"),
    ],
)
async def test_errors_say_what_the_server_said(client: Make, response: httpx.Response, status: int, words: str) -> None:
    with pytest.raises(ApiError) as caught:
        await client(Server(response)).event("e1")
    assert caught.value.status == status and words in caught.value.detail
    assert not isinstance(caught.value, ApiUnavailable)


async def test_a_proxy_s_503_is_no_readiness(client: Make) -> None:
    with pytest.raises(ApiError, match="HTTP 503: upstream away"):
        await client(Server(httpx.Response(503, text="upstream away"))).ready()


@pytest.mark.parametrize("error", [httpx.ConnectError("refused"), httpx.ReadTimeout(""), httpx.ReadError("cut")])
async def test_no_answer_is_an_error_of_its_own(client: Make, error: Exception) -> None:
    with pytest.raises(ApiUnavailable, match=r"http://127.0.0.1:8700 does not answer: .+") as caught:
        await client(Server(error)).live()
    assert caught.value.status == 0 and caught.value.__cause__ is error


def state(name: str) -> httpx.Response:
    return answer({**STATE, "state": name})


MISSING = answer({"error": {"code": "not_found", "message": "not known"}}, 404)


async def test_wait_for_looks_until_it_is_so(client: Make) -> None:
    pauses: list[float] = []
    server = Server(MISSING, state("accepted"), state("stored"), state("embedded"))
    found: EventState = await client(server, pauses).wait_for("e1", 10.0, state="embedded")
    assert found.state == "embedded"
    assert pauses == [0.02, 0.04, 0.08]


@pytest.mark.parametrize("name", ["dead", "summarised", "stored"])
async def test_wait_for_is_over_when_it_went_further_or_died(client: Make, name: str) -> None:
    found: EventState = await client(Server(state(name))).wait_for("e1")
    assert found.state == name


async def test_wait_for_ends_at_its_deadline(client: Make) -> None:
    pauses: list[float] = []
    found: EventState = await client(Server(state("accepted")), pauses).wait_for("e1", 1.5)
    assert found.state == "accepted" and sum(pauses) == pytest.approx(1.5)
    with pytest.raises(ApiError, match="HTTP 404: not known"):
        await client(Server(MISSING)).wait_for("e1", 0.1)
    with pytest.raises(ApiError, match="HTTP 500"):
        await client(Server(httpx.Response(500))).wait_for("e1", 0.1)


async def test_clients_are_context_managers() -> None:
    server = Server(answer({"status": "ok"}))
    with Client(transport=httpx.MockTransport(server)) as client:
        client.live()
    async with AsyncClient(transport=httpx.MockTransport(server)) as other:
        await other.live()
    with pytest.raises(RuntimeError, match="closed"):
        client.live()
