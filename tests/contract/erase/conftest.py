"""A database, an archive and a Redis for the tests of erasure."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sidestream.keys import Keys
from store.archive import Archive
from store.archive_folder import LocalArchive
from store.db import Database
from store.erase import Reach
from tests.contract.servers import RedisServer, running
from tests.unit.store_support import Clock, opened


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with running("valkey") as found:
        yield found


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def db(tmp_path: Path, clock: Clock) -> Iterator[Database]:
    with opened(tmp_path, clock) as found:
        yield found


@pytest.fixture
def reach(tmp_path: Path, db: Database, server: RedisServer) -> Iterator[Reach]:
    client = server.connect()
    client.flushall()
    archive = Archive(db, LocalArchive(tmp_path / "archive"))
    yield Reach(db, archive, client, Keys(), tmp_path, tmp_path / "spool", server.folder / "appendonlydir")
    client.close()
