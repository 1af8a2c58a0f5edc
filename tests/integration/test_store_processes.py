"""The store between real processes: opening, forks, kills in mid-transaction, leases of the dead and the stopped."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory.types import Scope
from store import counters, fulltext, jobs, leases, messages
from store.db import Database
from store.errors import ForkedConnection, LeaseLost
from store.migrate import migrations, schema_version
from store.opening import open_database
from tests.unit.store_support import say

ROOT = Path(__file__).resolve().parents[2]
ALICE = Scope("alice", session_id="s")
PRELUDE = """
import os, sys, time
from memory.types import Scope
from store import counters, jobs, leases, messages
from store.opening import open_database
from store.processes import this_process
from tests.unit.store_support import say
path = sys.argv[1]
def ready(text="ready"):
    print(text, flush=True)
    return sys.stdin.readline()
"""


class Child:
    """A Python process that says a line when it is ready, and goes on when it is told to."""

    def __init__(self, code: str, path: Path) -> None:
        command = [sys.executable, "-c", PRELUDE + code, str(path)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.pid = self._process.pid

    def line(self) -> str:
        assert self._process.stdout is not None
        said = self._process.stdout.readline().strip()
        assert said, self._process.communicate()[1]
        return said

    def go_on(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def end(self) -> str:
        """Waits for an orderly end; what it said last."""
        out, err = self._process.communicate(timeout=60)
        assert self._process.returncode == 0, err
        return out.strip()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def child(code: str, path: Path) -> Iterator[Child]:
    started = Child(code, path)
    try:
        yield started
    finally:
        started.kill()


def test_processes_that_open_together_migrate_once(tmp_path: Path) -> None:
    path = tmp_path / "sidestream.db"
    code = "ready()\nwith open_database(path) as db:\n    counters.bump(db, 'opened')\nprint('done')\n"
    children = [Child(code, path) for _ in range(4)]
    for one in children:
        one.line()
    for one in children:
        one.go_on()
    assert [one.end() for one in children] == ["done"] * 4
    with open_database(path) as db:
        assert counters.all_counters(db) == {"opened": 4}
        assert schema_version(db) == len(db.run("schema_records")) == len(migrations())


def test_a_connection_refuses_to_work_in_a_fork(tmp_path: Path) -> None:
    path = tmp_path / "sidestream.db"
    code = """
db = open_database(path)
counters.bump(db, 'parent')
pid = os.fork()
if pid == 0:
    refused = 0
    for use in (lambda: counters.bump(db, 'child'), lambda: db.run('counters_all'), lambda: db.pragma('journal_mode')):
        try:
            use()
        except Exception as error:
            refused += type(error).__name__ == 'ForkedConnection'
    db.close()
    with open_database(path) as own:
        counters.bump(own, 'child')
    os._exit(40 + refused)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
counters.bump(db, 'parent')
print(status, counters.all_counters(db))
"""
    with child(code, path) as forker:
        assert forker.end() == "43 {'child': 1, 'parent': 2}"


def test_the_refusal_names_both_processes(tmp_path: Path) -> None:
    with open_database(tmp_path / "sidestream.db") as db:
        db._pid += 1
        with pytest.raises(ForkedConnection, match=str(os.getpid() + 1)):
            db.run("counters_all")
        db._pid -= 1


def test_a_kill_in_mid_transaction_leaves_nothing_of_it(tmp_path: Path) -> None:
    path = tmp_path / "sidestream.db"
    code = """
db = open_database(path, synchronous='FULL')
alice = Scope('alice', session_id='s')
say(db, alice, 'committed')
with db.atomic():
    say(db, alice, *(f'half done {n}' for n in range(500)))
    ready()
"""
    with child(code, path) as victim:
        victim.line()
        os.kill(victim.pid, signal.SIGKILL)
    with open_database(path) as db:
        assert [m.content for m in messages.window(db, ALICE, 10)] == ["committed"]
        assert fulltext.search(db, ALICE, ["half"], 10) == []
        assert messages.next_message_id(db) == 2
        assert len(say(db, ALICE, "next")) == 1


@pytest.mark.parametrize("gate", [False, True])
def test_a_killed_writer_leaves_no_lock(tmp_path: Path, gate: bool) -> None:
    path = tmp_path / "sidestream.db"
    code = f"db = open_database(path, gate={gate})\nwith db.atomic():\n    counters.bump(db, 'lost')\n    ready()\n"
    with open_database(path, gate=gate, busy_timeout=30.0) as db, child(code, path) as victim:
        victim.line()
        os.kill(victim.pid, signal.SIGKILL)
        counters.bump(db, "kept")
        assert counters.all_counters(db) == {"kept": 1}


def test_a_killed_holder_is_replaced_at_once(tmp_path: Path) -> None:
    path = tmp_path / "sidestream.db"
    code = "db = open_database(path)\nready(leases.acquire(db, 'ingest', this_process(), 3600.0, time.time()).owner)\n"
    with open_database(path) as db, child(code, path) as holder:
        owner = holder.line()
        assert leases.acquire(db, "ingest", "us", 3600.0, time.time()) is None
        assert leases.holder(db, "ingest", time.time()) == owner
        os.kill(holder.pid, signal.SIGKILL)
        os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)
        lease = leases.acquire(db, "ingest", "us", 3600.0, time.time())
        assert lease is not None and lease.fence == 2


def test_a_stopped_holder_is_replaced_after_its_lease_and_fenced_when_it_wakes(tmp_path: Path) -> None:
    path = tmp_path / "sidestream.db"
    code = """
db = open_database(path)
lease = leases.acquire(db, 'ingest', this_process(), 10.0, time.time())
ready()
try:
    with db.atomic():
        counters.bump(db, 'written late')
        leases.hold(db, lease, time.time())
except Exception as error:
    print(type(error).__name__)
"""
    with open_database(path) as db, child(code, path) as holder:
        holder.line()
        os.kill(holder.pid, signal.SIGSTOP)
        assert leases.acquire(db, "ingest", "us", 10.0, time.time()) is None
        lease = leases.acquire(db, "ingest", "us", 10.0, time.time() + 10)
        assert lease is not None
        os.kill(holder.pid, signal.SIGCONT)
        holder.go_on()
        assert holder.end() == LeaseLost.__name__
        with db.atomic():
            leases.hold(db, lease, time.time())
        assert counters.all_counters(db) == {}


def test_workers_in_several_processes_do_each_job_once(tmp_path: Path) -> None:
    path = tmp_path / "sidestream.db"
    count = 300
    code = """
import uuid
db = open_database(path, gate=True, busy_timeout=60.0)
ready()
while claimed := jobs.claim(db, 'embed', limit=7, lease=600.0, now=time.time(), token=uuid.uuid4().hex):
    with db.atomic():
        for job in claimed:
            counters.bump(db, job.subject)
        jobs.finish(db, claimed, time.time())
"""
    with open_database(path) as db:
        jobs.owe_many(db, [jobs.JobRow("embed", f"job {n}", "default", 0.0, 0.0) for n in range(count)])
        workers = [Child(code, path) for _ in range(3)]
        for worker in workers:
            worker.line()
        for worker in workers:
            worker.go_on()
        for worker in workers:
            worker.end()
        assert counters.all_counters(db) == {f"job {n}": 1 for n in range(count)}
        assert jobs.stats(db) == {}


def test_a_reader_never_waits_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "sidestream.db"
    code = (
        "db = open_database(path)\nwith db.atomic():\n    say(db, Scope('alice', session_id='s'), 'x')\n    ready()\n"
    )
    with open_database(path) as first:
        say(first, ALICE, "before")
    with Database.open(path, readonly=True, busy_timeout=0.05) as db, child(code, path) as writer:
        writer.line()
        assert [m.content for m in messages.window(db, ALICE, 10)] == ["before"]
        writer.go_on()
        writer.end()
        assert len(messages.window(db, ALICE, 10)) == 2
