"""What is in Redis after a publish; over fake and real servers, sync and async."""

from collections.abc import Callable

import pytest
import redis

from sidestream import (
    InvalidEvent,
    Message,
    Publisher,
    PublishError,
    SessionEnded,
    SessionStarted,
    SubagentFinished,
)
from sidestream.events import parse_entry
from sidestream.ids import new_id
from sidestream.script import RUN
from tests.contract.conftest import Backend, Driver, read_stream

Make = Callable[..., Driver]


def said(number: int, session: str = "s1") -> Message:
    return Message(session_id=session, user_id="ann", role="user", content=f"message {number}")


async def test_an_event_is_in_the_stream_as_its_flat_fields(backend: Backend, driver: Make) -> None:
    event = Message(id="e1", session_id="s1", role="user", content="hi\x00\u2028 你好", meta={"a": "\n"})
    receipt = await driver(backend).publish(event)
    assert (receipt.id, receipt.spooled) == ("e1", False)
    assert backend.entries() == [(receipt.entry_id, event.to_fields())]
    assert parse_entry(backend.entries()[0][1]) == event


async def test_a_message_is_in_its_tail_under_the_same_entry_id(backend: Backend, driver: Make) -> None:
    publisher = driver(backend, tail_ttl=60.0)
    receipts = await publisher.publish_many([said(1), said(2, "s2"), said(3)])
    tail = backend.keys.tail("default", "s1")
    assert [entry for entry, _ in read_stream(backend.look, tail)] == [
        receipts[0].entry_id,
        receipts[2].entry_id,
    ]
    assert read_stream(backend.look, tail) == [backend.entries()[0], backend.entries()[2]]
    ttl = backend.look.pttl(tail)
    assert isinstance(ttl, int) and 0 < ttl <= 60_000


async def test_only_messages_have_a_tail(backend: Backend, driver: Make) -> None:
    await driver(backend).publish_many([SessionStarted(session_id="s1"), SessionEnded(session_id="s1")])
    assert len(backend.entries()) == 2
    assert not backend.look.exists(backend.keys.tail("default", "s1"))


async def test_a_session_s_first_event_says_whose_it_is(backend: Backend, driver: Make) -> None:
    await driver(backend, tail_ttl=60.0).publish_many(
        [
            SubagentFinished(session_id="s1", run_id="stray", content="done"),
            SessionStarted(session_id="s1", user_id="ann"),
            Message(session_id="s1", role="user", content="hi"),
            Message(session_id="s2", role="user", content="hi"),
            SessionStarted(session_id="s2", user_id="bob"),
            SessionStarted(session_id="s3", user_id="cho", shared=True),
        ]
    )
    owners = [backend.look.get(backend.keys.owner("default", name)) for name in ("s1", "s2", "s3")]
    assert owners == [b"own ann", b"own default", b"shared cho"]
    ttl = backend.look.pttl(backend.keys.owner("default", "s1"))
    assert isinstance(ttl, int)
    assert 0 < ttl <= 60_000


async def test_a_tail_keeps_the_newest(backend: Backend, driver: Make) -> None:
    receipts = await driver(backend, tail_max=5).publish_many([said(n) for n in range(30)])
    tail = read_stream(backend.look, backend.keys.tail("default", "s1"))
    assert [entry for entry, _ in tail] == [r.entry_id for r in receipts[-5:]]


async def test_the_receipt_names_entry_and_digest_and_ends(backend: Backend, driver: Make) -> None:
    event = said(1).model_copy(update={"id": "e1", "namespace": "shop"})
    receipt = await driver(backend, receipt_ttl=60.0).publish(event)
    key = backend.keys.receipt("shop", "e1")
    assert backend.look.get(key) == f"{receipt.entry_id} {event.digest()}".encode()
    ttl = backend.look.pttl(key)
    assert isinstance(ttl, int) and 0 < ttl <= 60_000


async def test_a_repeat_is_answered_with_the_first_entry(backend: Backend, driver: Make) -> None:
    publisher = driver(backend)
    event = said(1).model_copy(update={"id": "e1"})
    first = await publisher.publish(event)
    again = await publisher.publish_many([event, said(2), event])
    assert first.entry_id == again[0].entry_id == again[2].entry_id
    assert [fields["content"] for _, fields in backend.entries()] == ["message 1", "message 2"]
    assert len(read_stream(backend.look, backend.keys.tail("default", "s1"))) == 2


async def test_a_repeat_at_another_time_is_a_repeat(backend: Backend, driver: Make) -> None:
    publisher = driver(backend)
    for ts in (None, "2026-01-31T09:00:00Z"):
        await publisher.publish(
            {"type": "message", "id": "e1", "session_id": "s1", "role": "user", "content": "hi", "ts": ts}
        )
    assert len(backend.entries()) == 1


async def test_other_content_under_the_same_id_goes_to_the_consumer_alone(backend: Backend, driver: Make) -> None:
    publisher = driver(backend)
    first = await publisher.publish(said(1).model_copy(update={"id": "e1"}))
    second = await publisher.publish(said(2).model_copy(update={"id": "e1"}))
    assert [entry for entry, _ in backend.entries()] == [first.entry_id, second.entry_id]
    kept = backend.look.get(backend.keys.receipt("default", "e1"))
    assert isinstance(kept, bytes) and kept.decode().split()[0] == first.entry_id
    assert [e for e, _ in read_stream(backend.look, backend.keys.tail("default", "s1"))] == [first.entry_id]


async def test_ids_are_unique_within_a_namespace(backend: Backend, driver: Make) -> None:
    publisher = driver(backend)
    for namespace in ("a", "b"):
        await publisher.publish(said(1).model_copy(update={"id": "e1", "namespace": namespace}))
    assert len(backend.entries()) == 2


@pytest.mark.parametrize("size", [1, RUN, RUN + 1, 1_201])
async def test_a_batch_keeps_its_order(backend: Backend, driver: Make, size: int) -> None:
    receipts = await driver(backend).publish_many([said(n, f"s{n % 7}") for n in range(size)])
    assert [fields["content"] for _, fields in backend.entries()] == [f"message {n}" for n in range(size)]
    assert [entry for entry, _ in backend.entries()] == [r.entry_id for r in receipts]
    assert len({r.id for r in receipts}) == size


async def test_a_wrong_event_stops_the_whole_batch(backend: Backend, driver: Make) -> None:
    with pytest.raises(InvalidEvent, match=r"events\[1\]: role: "):
        await driver(backend).publish_many([said(1), {**said(2).model_dump(), "role": "robot"}])
    assert backend.entries() == []


async def test_a_broken_tail_is_begun_anew(backend: Backend, driver: Make) -> None:
    """Its ids are ahead of the stream's after the stream was deleted."""
    tail = backend.keys.tail("default", "s1")
    backend.look.xadd(tail, {"a": "b"}, id="99999999999999-0")
    receipt = await driver(backend).publish(said(1))
    assert [entry for entry, _ in read_stream(backend.look, tail)] == [receipt.entry_id]


async def test_a_part_whose_predecessor_failed_is_not_accepted(backend: Backend, driver: Make) -> None:
    """A receipt of another type makes one part of the pipeline fail; what follows must not overtake it."""
    events = [said(n).model_copy(update={"id": f"e{n}"}) for n in range(3 * RUN)]
    broken = backend.keys.receipt("default", f"e{RUN}")
    backend.look.rpush(broken, "no receipt")
    publisher = driver(backend)
    with pytest.raises(PublishError) as caught:
        await publisher.publish_many(events)
    assert [r.id for r in caught.value.accepted] == [f"e{n}" for n in range(RUN)]
    assert caught.value.ids == [f"e{n}" for n in range(RUN, 3 * RUN)]
    assert len(backend.entries()) == RUN
    backend.look.delete(broken)
    await publisher.publish_many(events)
    assert [fields["id"] for _, fields in backend.entries()] == [e.id for e in events]


async def test_a_large_batch_is_sent_in_parts(backend: Backend, driver: Make) -> None:
    content = "x" * 1_000_000
    events = [said(n).model_copy(update={"content": content}) for n in range(10)]
    assert len(await driver(backend).publish_many(events)) == 10
    assert len(backend.entries()) == 10


async def test_clients_that_decode_replies_do_too(backend: Backend) -> None:
    if backend.server is None:
        pytest.skip("fakeredis shares one client")
    with redis.Redis.from_url(backend.server.url, decode_responses=True) as client:
        receipt = await Driver(Publisher(client)).publish(said(1).model_copy(update={"id": new_id()}))
    assert [entry for entry, _ in backend.entries()] == [receipt.entry_id]


async def test_a_closed_publisher_refuses(backend: Backend, driver: Make) -> None:
    publisher = driver(backend)
    await publisher.close()
    with pytest.raises(PublishError, match="closed"):
        await publisher.publish(said(1))
