"""What readers counted reaches the counters once, wherever a worker is killed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fakeredis
import pytest

from sidestream.keys import Keys
from store import counters, read_counts
from store.db import Database
from tests.unit.store_support import opened

KEYS = Keys()


@pytest.fixture
def server() -> fakeredis.FakeServer:
    return fakeredis.FakeServer()


@pytest.fixture
def client(server: fakeredis.FakeServer) -> Any:
    return fakeredis.FakeRedis(server=server)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as database:
        yield database


async def count(server: fakeredis.FakeServer, **counts: int) -> None:
    await read_counts.add(fakeredis.FakeAsyncRedis(server=server), KEYS, counts)


def folded(db: Database) -> dict[str, int]:
    return {name: value for name, value in counters.all_counters(db).items() if name.startswith("compaction")}


async def test_counts_are_folded_in(db: Database, client: Any, server: fakeredis.FakeServer) -> None:
    assert read_counts.fold(client, KEYS, db) == 0
    await count(server, l1_triggered=2, l2_failed=1)
    await count(server, l1_triggered=1)
    assert read_counts.fold(client, KEYS, db) == 4
    assert folded(db) == {"compaction_l1_triggered": 3, "compaction_l2_failed": 1}
    assert read_counts.fold(client, KEYS, db) == 0
    await count(server, l1_triggered=1)
    read_counts.fold(client, KEYS, db)
    assert folded(db)["compaction_l1_triggered"] == 4
    assert client.keys() == []


async def test_a_worker_killed_after_its_commit_counts_nothing_twice(
    db: Database, client: Any, server: fakeredis.FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await count(server, l1_triggered=2)
    monkeypatch.setattr(client, "eval", lambda *_: (_ for _ in ()).throw(ConnectionError("killed")))
    with pytest.raises(ConnectionError):
        read_counts.fold(client, KEYS, db)
    monkeypatch.undo()
    await count(server, l1_triggered=1)
    assert read_counts.fold(client, KEYS, db) == 0
    assert read_counts.fold(client, KEYS, db) == 1
    assert folded(db) == {"compaction_l1_triggered": 3}


async def test_a_worker_killed_before_its_commit_loses_nothing(
    db: Database, client: Any, server: fakeredis.FakeServer
) -> None:
    await count(server, l2_succeeded=5)
    assert read_counts._batch(client, KEYS, db)
    await count(server, l2_succeeded=1)
    assert (read_counts.fold(client, KEYS, db), read_counts.fold(client, KEYS, db)) == (5, 1)
    assert folded(db) == {"compaction_l2_succeeded": 6}


async def test_the_batch_of_another_worker_is_not_deleted(
    db: Database, client: Any, server: fakeredis.FakeServer
) -> None:
    await count(server, l1_triggered=1)
    client.hset(KEYS.read_counts_folding, mapping={"batch": "7", "l1_triggered": "3"})
    assert client.eval(read_counts._DELETE, 1, KEYS.read_counts_folding, "6") == 0
    assert read_counts.fold(client, KEYS, db) == 3
    assert read_counts.fold(client, KEYS, db) == 1
    assert folded(db) == {"compaction_l1_triggered": 4}


async def test_other_names_are_no_counters(db: Database, client: Any) -> None:
    client.hset(KEYS.read_counts, mapping={"l9_triggered": "3", "l1_triggered": "1"})
    read_counts.fold(client, KEYS, db)
    assert folded(db) == {"compaction_l1_triggered": 1}
