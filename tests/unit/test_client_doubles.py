"""The doubles that backends test with behave as the real publishers do."""

import inspect
from collections.abc import Callable

import pytest

from sidestream import (
    AsyncPublisher,
    InvalidEvent,
    Message,
    Publisher,
    PublishError,
    RedisUnavailable,
    SessionEnded,
)
from sidestream.testing import AsyncMemoryPublisher, MemoryPublisher

SAID = {"type": "message", "session_id": "s1", "role": "user", "content": "hi"}


def public(kind: type) -> dict[str, inspect.Signature | None]:
    return {
        name: inspect.signature(value) if inspect.isfunction(value) else None
        for name, value in vars(kind).items()
        if not name.startswith("_")
    }


@pytest.mark.parametrize(("double", "real"), [(MemoryPublisher, Publisher), (AsyncMemoryPublisher, AsyncPublisher)])
def test_doubles_have_the_whole_surface(double: type, real: type) -> None:
    missing = {name: s for name, s in public(real).items() if name != "spooled" and public(double).get(name) != s}
    assert missing == {}


def test_events_are_kept_in_order_with_their_ids() -> None:
    with MemoryPublisher(clock=lambda: 7.0, ids=lambda: "new") as publisher:
        receipt = publisher.publish(SAID)
        publisher.publish_many([SessionEnded(id="end", session_id="s1")])
        assert (receipt.id, receipt.entry_id, receipt.spooled) == ("new", "7000-0", False)
        assert publisher.events == [
            Message(id="new", session_id="s1", role="user", content="hi"),
            SessionEnded(id="end", session_id="s1"),
        ]
        assert (publisher.spooled, publisher.flush(1.0)) == (0, 0)
    with pytest.raises(PublishError, match="closed"):
        publisher.publish(SAID)


def test_a_repeat_is_one_event() -> None:
    publisher = MemoryPublisher()
    one, two = publisher.publish({**SAID, "id": "e1"}), publisher.publish({**SAID, "id": "e1"})
    assert one == two and len(publisher.events) == 1


def test_an_outage_can_be_played() -> None:
    publisher = MemoryPublisher()
    publisher.error = RedisUnavailable("away")
    with pytest.raises(RedisUnavailable):
        publisher.publish(SAID)
    publisher.error = None
    publisher.publish(SAID)
    assert len(publisher.events) == 1


async def test_the_asynchronous_double() -> None:
    make: Callable[[], AsyncMemoryPublisher] = AsyncMemoryPublisher
    async with make() as publisher:
        await publisher.publish(SAID)
        await publisher.publish_many([SAID])
        with pytest.raises(InvalidEvent):
            await publisher.publish({"type": "message"})
        assert len(publisher.events) == 2 and publisher.spooled == await publisher.flush() == 0
    with pytest.raises(PublishError, match="closed"):
        await publisher.publish(SAID)
