"""The memory tools for any function-calling API: schemas a validator takes, arguments checked, calls carried out."""

import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import jsonschema
import pytest

from sidestream import AsyncClient, Client, MemoryForget, MemoryRemember, RedisUnavailable
from sidestream.errors import InvalidToolCall
from sidestream.memory_tools import ARGUMENTS, RecallArguments, read_call, schema, schemas
from sidestream.testing import AsyncMemoryPublisher, MemoryPublisher
from sidestream.tool_handlers import AsyncMemoryTools, MemoryTools, ToolScope, searches

SCOPE = ToolScope("s1", "ann", agent_id="helper", data_source="erp")
FACT = {
    "kind": "fact", "id": 7, "score": 0.9, "content": "Ann eats no meat.", "occurred_at": "2026-01-02T03:04:05Z",
    "session_id": "s0", "metadata": {"memory_id": "m1", "type": "preference", "tags": [], "weight": 0.5},
}  # fmt: skip
MESSAGE = {
    "kind": "message", "id": 8, "score": 0.4, "content": "no meat for me", "occurred_at": "2026-01-02T03:04:05Z",
    "session_id": "s0", "role": "user",
}  # fmt: skip
Call = Callable[[str, Any], Awaitable[str]]


class Backend:
    """An HTTP API that answers by path, with a publisher beside it."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.publisher = MemoryPublisher()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.path == "/v1/timeline":
            entry = {"level": "day", "period": "2026-01-02", "content": "dinner", "starts_at": FACT["occurred_at"]}
            return httpx.Response(200, json={"entries": [{**entry, "ends_at": FACT["occurred_at"]}]})
        if request.url.path != "/v1/memories/search":
            return httpx.Response(503, json={"error": {"code": "not_available", "message": "the database is away"}})
        kinds = json.loads(request.content)["kinds"]
        return httpx.Response(200, json={"hits": [FACT if kinds == ["fact"] else MESSAGE]})


@pytest.fixture
def backend() -> Backend:
    return Backend()


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest, backend: Backend) -> Call:
    transport = httpx.MockTransport(backend)
    tools: MemoryTools | AsyncMemoryTools
    if request.param == "sync":
        tools = MemoryTools(backend.publisher, Client(transport=transport), SCOPE)
    else:
        double = AsyncMemoryPublisher()
        double.memory = backend.publisher
        tools = AsyncMemoryTools(double, AsyncClient(transport=transport), SCOPE)

    async def run(name: str, arguments: Any) -> str:
        found = tools.call(name, arguments)
        return await found if inspect.isawaitable(found) else found

    return run


@pytest.mark.parametrize("name", ARGUMENTS)
def test_each_schema_is_plain_json_schema_in_every_form(name: str) -> None:
    openai, anthropic, plain = (schema(name, form) for form in ("openai", "anthropic", "plain"))
    parameters = openai["function"]["parameters"]
    assert parameters == anthropic["input_schema"] == plain["parameters"]
    jsonschema.Draft202012Validator.check_schema(parameters)
    text = json.dumps(parameters)
    assert not any(word in text for word in ('"anyOf"', '"$ref"', '"title"', '"null"'))
    assert all(prop["description"] for prop in parameters["properties"].values())
    assert openai["function"]["description"] and openai["type"] == "function"


def test_the_schemas_and_the_arguments_allow_the_same() -> None:
    good = {
        "memory_store": {"content": "Ann eats no meat.", "key": "diet", "type": "preference", "importance": 0.9,
                         "confidence": 1, "tags": ["food"], "expires_at": "2027-01-01T00:00:00Z"},
        "memory_recall": {"query": "food", "kinds": ["fact", "summary"], "as_of": "2026-01-01T00:00:00Z", "limit": 3},
        "memory_forget": {"memory_id": "m1", "hard": True, "reason": "asked"},
        "timeline_recall": {"since": "2026-01-01T00:00:00Z", "level": "week", "limit": 5},
    }  # fmt: skip
    assert [t["function"]["name"] for t in schemas()] == list(good)
    for name, arguments in good.items():
        jsonschema.validate(arguments, schema(name, "plain")["parameters"])
        assert read_call(name, json.dumps(arguments)) == read_call(name, arguments)
        bad = {**arguments, "colour": "red"}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema(name, "plain")["parameters"])
        with pytest.raises(InvalidToolCall, match="colour"):
            read_call(name, bad)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("memory_dream", {}, r"no memory tool is named 'memory_dream'; there are: memory_store"),
        ("memory_store", "{", "not valid JSON"),
        ("memory_store", "[]", "must be a JSON object"),
        ("memory_store", {}, "content: Field required"),
        ("memory_store", {"content": "x", "importance": 2}, "importance: .*less than or equal to 1"),
        ("memory_store", {"content": "x", "expires_at": "tomorrow"}, "expires_at: must be an RFC 3339 time"),
        ("memory_recall", {"query": "x", "kinds": ["dream"]}, "kinds.0: Input should be 'fact', 'message' or"),
        ("memory_forget", {}, "exactly one of memory_id and key"),
        ("memory_forget", {"memory_id": "m", "key": "k"}, "exactly one of memory_id and key"),
        ("timeline_recall", {"since": "2026-02-01T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, "since must not be"),
    ],
)
def test_wrong_arguments_are_named_with_what_is_allowed(name: str, arguments: Any, said: str) -> None:
    with pytest.raises(InvalidToolCall, match=said):
        read_call(name, arguments)


def test_null_means_left_out() -> None:
    assert read_call("memory_recall", {"query": "x", "kinds": None, "as_of": None}) == read_call(
        "memory_recall", {"query": "x"}
    )


async def test_writes_go_as_events_with_the_whole_scope(call: Call, backend: Backend) -> None:
    kept = json.loads(
        await call("memory_store", '{"content": "Ann eats no meat.", "type": "preference", "key": "diet"}')
    )
    gone = json.loads(await call("memory_forget", {"key": "diet", "hard": True, "reason": "she asked"}))
    stored, forgot = backend.publisher.events
    assert isinstance(stored, MemoryRemember) and isinstance(forgot, MemoryForget)
    assert (stored.memory_type, stored.key, stored.content) == ("preference", "diet", "Ann eats no meat.")
    assert (forgot.key, forgot.hard, forgot.reason) == ("diet", True, "she asked")
    for event in (stored, forgot):
        assert (event.session_id, event.user_id, event.agent_id, event.data_source) == ("s1", "ann", "helper", "erp")
    assert (kept["event_id"], gone["event_id"]) == (stored.id, forgot.id)


async def test_a_recall_asks_for_each_kind_and_gives_what_forgetting_needs(call: Call, backend: Backend) -> None:
    found = json.loads(await call("memory_recall", {"query": "food", "types": ["preference"], "limit": 3}))["results"]
    assert [entry["kind"] for entry in found] == ["fact", "message"]
    assert found[0]["memory_id"] == "m1"
    assert found[1]["session_id"] == "s0"
    bodies = [json.loads(r.content) for r in backend.requests]
    assert [b["kinds"] for b in bodies] == [["fact"], ["message"]]
    assert all(b["user_id"] == "ann" and b["limit"] == 3 for b in bodies)
    assert bodies[0]["types"] == ["preference"] and "types" not in bodies[1]


async def test_the_timeline_is_asked_for_a_span(call: Call, backend: Backend) -> None:
    found = json.loads(await call("timeline_recall", {"since": "2026-01-01T00:00:00Z", "level": "day"}))
    assert found["entries"][0]["content"] == "dinner"
    params = backend.requests[0].url.params
    assert (params["since"], params["level"], params["user_id"]) == ("2026-01-01T00:00:00Z", "day", "ann")


async def test_about_a_topic_the_session_comes_first(call: Call, backend: Backend) -> None:
    await call("timeline_recall", {"topic": "the ferry"})
    params = backend.requests[0].url.params
    assert (params["topic"], params["session_id"]) == ("the ferry", "s1")


async def test_every_failure_is_a_text_for_the_model(call: Call, backend: Backend) -> None:
    assert (await call("memory_store", {})).startswith("error: memory_store: content")
    backend.publisher.error = RedisUnavailable("Redis is away")
    assert await call("memory_store", {"content": "x"}) == "error: Redis is away"


def test_a_recall_is_narrowed_to_the_source_of_its_scope() -> None:
    wish = read_call("memory_recall", {"query": "orders", "tags": ["ops"]})
    assert isinstance(wish, RecallArguments)
    of_facts, of_messages = searches(wish, "erp")
    assert (of_facts["data_source"], of_messages["data_source"]) == ("erp", "erp")
    assert (of_facts["tags"], "tags" in of_messages) == (["ops"], False)
    assert all("data_source" not in search for search in searches(wish))
