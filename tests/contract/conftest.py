"""One suite over fakeredis and real servers, for the sync and the async publisher alike."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import fakeredis
import pytest
import redis

from sidestream.aio import AsyncPublisher
from sidestream.core import Published
from sidestream.keys import Keys
from sidestream.publisher import Publisher
from sidestream.receipts import Receipt
from tests.contract.servers import RedisServer, running

KINDS = ["fakeredis", "valkey", "redis"]


@dataclass
class Backend:
    """A Redis under test: `look` reads it, `sync` and `aio` are what the publishers are given."""

    name: str
    look: "redis.Redis"
    sync: "str | redis.Redis"
    aio: Any
    server: RedisServer | None = None
    keys: Keys = field(default_factory=Keys)

    def entries(self) -> list[tuple[str, dict[str, str]]]:
        """All entries of the event stream."""
        return read_stream(self.look, self.keys.events)


def read_stream(client: "redis.Redis", key: str) -> list[tuple[str, dict[str, str]]]:
    """Entry ids and fields, as text."""
    entries: Any = client.xrange(key)
    return [(i.decode(), {k.decode(): v.decode() for k, v in fields.items()}) for i, fields in entries]


@contextmanager
def backend_of(kind: str) -> Iterator[Backend]:
    """A backend of one kind, for as long as the block lasts."""
    if kind == "fakeredis":
        fake = fakeredis.FakeServer()
        client = fakeredis.FakeRedis(server=fake)
        yield Backend(kind, client, client, fakeredis.FakeAsyncRedis(server=fake))
        return
    with running(kind) as server, server.connect() as client:
        yield Backend(kind, client, server.url, server.url, server)


@pytest.fixture(scope="module", params=KINDS)
def shared_backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """One server a module and kind."""
    with backend_of(request.param) as backend:
        yield backend


@pytest.fixture
def backend(shared_backend: Backend) -> Backend:
    """Emptied for each test."""
    shared_backend.look.flushall()
    return shared_backend


@pytest.fixture(params=KINDS[1:])
def server(request: pytest.FixtureRequest) -> Iterator[RedisServer]:
    """A real server of the test's own, that may be killed."""
    with running(request.param) as server:
        yield server


class Driver:
    """Both publishers behind one asynchronous face."""

    def __init__(self, publisher: Publisher | AsyncPublisher) -> None:
        self._publisher = publisher

    @property
    def spooled(self) -> int:
        return self._publisher.spooled

    async def publish(self, event: Published) -> Receipt:
        receipt: Receipt = await done(self._publisher.publish(event))
        return receipt

    async def publish_many(self, events: list[Any]) -> list[Receipt]:
        receipts: list[Receipt] = await done(self._publisher.publish_many(events))
        return receipts

    async def flush(self, deadline: float) -> int:
        left: int = await done(self._publisher.flush(deadline))
        return left

    async def close(self, deadline: float | None = None) -> None:
        await done(self._publisher.close(deadline))


async def done(outcome: Any) -> Any:
    """The outcome of a call that may have to be awaited."""
    return await outcome if inspect.isawaitable(outcome) else outcome


@pytest.fixture(params=["sync", "async"])
async def driver(request: pytest.FixtureRequest) -> AsyncIterator[Callable[..., Driver]]:
    """Makes a publisher: `driver(backend or url, **options)`; closed when the test ends."""
    made: list[Driver] = []

    def make(target: Backend | str, **options: Any) -> Driver:
        if request.param == "sync":
            where = target if isinstance(target, str) else target.sync
            made.append(Driver(Publisher(where, **options)))
        else:
            where = target if isinstance(target, str) else target.aio
            made.append(Driver(AsyncPublisher(where, **options)))
        return made[-1]

    yield make
    for one in made:
        await one.close(0)
