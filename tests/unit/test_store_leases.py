"""The lease: one holder, a growing fence, takeover of the dead, the stopped and the clock that jumped."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from store import counters, leases, processes
from store.db import Database
from store.errors import LeaseLost, StoreError
from store.leases import Lease
from tests.unit.store_support import NOW, opened

TTL = 10.0


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as opened_db:
        yield opened_db


def acquire(db: Database, owner: str, now: float = NOW, *, alive: bool = True) -> Lease | None:
    return leases.acquire(db, "ingest", owner, TTL, now, lambda _: alive)


def held(db: Database, lease: Lease, now: float) -> None:
    with db.atomic():
        leases.hold(db, lease, now)


def test_one_holds_it_until_it_lapses(db: Database) -> None:
    first = acquire(db, "a")
    assert first is not None and first.fence == 1
    assert acquire(db, "b", NOW + TTL - 0.1) is None
    assert leases.holder(db, "ingest", NOW) == "a"
    assert leases.holder(db, "ingest", NOW + TTL) is None
    second = acquire(db, "b", NOW + TTL)
    assert second is not None and second.fence == 2


def test_holding_extends_it(db: Database) -> None:
    lease = acquire(db, "a")
    assert lease is not None
    held(db, lease, NOW + 8)
    assert acquire(db, "b", NOW + 17) is None
    assert acquire(db, "b", NOW + 18) is not None


def test_a_stopped_holder_that_wakes_up_cannot_commit(db: Database) -> None:
    stopped = acquire(db, "a")
    assert stopped is not None
    assert acquire(db, "b", NOW + TTL) is not None
    with pytest.raises(LeaseLost), db.atomic():
        counters.bump(db, "written late")
        leases.hold(db, stopped, NOW + TTL + 1)
    assert counters.all_counters(db) == {}


def test_a_late_holder_whom_nobody_replaced_goes_on(db: Database) -> None:
    lease = acquire(db, "a")
    assert lease is not None
    held(db, lease, NOW + 5 * TTL)
    assert acquire(db, "b", NOW + 5 * TTL) is None


def test_a_dead_holder_is_replaced_at_once(db: Database) -> None:
    acquire(db, "a")
    second = acquire(db, "b", alive=False)
    assert second is not None and second.fence == 2


def test_the_same_owner_gets_it_anew_with_a_new_fence(db: Database) -> None:
    first, second = acquire(db, "a"), acquire(db, "a")
    assert first is not None and second is not None and second.fence == first.fence + 1
    with pytest.raises(LeaseLost):
        held(db, first, NOW)
    held(db, second, NOW)


def test_a_clock_that_was_set_back_does_not_keep_it_for_ever(db: Database) -> None:
    acquire(db, "a", NOW + 86_400)
    assert acquire(db, "b", NOW) is not None


def test_a_clock_that_was_set_forward_frees_it_and_the_old_holder_is_fenced(db: Database) -> None:
    first = acquire(db, "a")
    second = acquire(db, "b", NOW + 86_400)
    assert first is not None and second is not None
    with pytest.raises(LeaseLost):
        held(db, first, NOW)


def test_a_released_lease_is_free_and_its_fence_still_grows(db: Database) -> None:
    first = acquire(db, "a")
    assert first is not None
    leases.release(db, first)
    second = acquire(db, "b")
    assert second is not None and second.fence == 2
    leases.release(db, first)
    assert acquire(db, "c") is None, "a release by an older holder changes nothing"


def test_holding_needs_a_transaction(db: Database) -> None:
    lease = acquire(db, "a")
    assert lease is not None
    with pytest.raises(StoreError, match="atomic"):
        leases.hold(db, lease, NOW)


def test_this_process_is_alive_and_a_dead_one_is_not() -> None:
    assert processes.process_alive(processes.this_process())
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    host, started = processes.this_host(), processes.start_time(child.pid)
    owner = f"{host}:{child.pid}:{started}"
    assert started is not None and processes.process_alive(owner)
    assert not processes.process_alive(f"{host}:{child.pid}:1"), "the pid is used again by another process"
    assert processes.process_alive(f"{host}:{child.pid}:unknown")
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not processes.process_alive(owner), "a zombie is dead"
    child.communicate()
    assert not processes.process_alive(owner)


@pytest.mark.parametrize(
    "owner", ["elsewhere:1:1", "no colons", "", "a:b", f"{processes.this_host()}:x:1", f"{socket.gethostname()}/1:1:1"]
)
def test_an_owner_that_cannot_be_asked_counts_as_alive(owner: str) -> None:
    assert processes.process_alive(owner)


def test_without_proc_the_process_list_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    by_ps = processes._start_time_by_ps
    assert by_ps(2**22 + 1) is None
    started = by_ps(os.getpid())
    assert started is None or ":" not in started
