"""Commands that run one process in the foreground, and how commands fail."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.retention import Rule
from memory.types import Scope
from store import messages
from store.migrate import migrations
from tests.integration.commands import DATA, alone, command
from tests.stack import Stack
from tests.unit.nightly_support import archive_in, run_night
from tests.unit.store_support import Clock, opened, say


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with Stack(tmp_path) as stack:
        yield stack


@pytest.mark.parametrize("arguments", [("worker", "ingest"), ("worker", "tasks"), ("beat",)])
def test_single_processes_run_and_stop(stack: Stack, arguments: tuple[str, ...]) -> None:
    role = {"ingest": "consumer", "tasks": None, "beat": "beat"}[arguments[-1]]
    process = stack.start("one", command(*arguments))
    if role is None:
        stack.wait(lambda: "tasks@" in process.log() and "ready" in process.log(), "the worker is ready")
    else:
        stack.wait(lambda: stack.redis.exists(stack.keys.alive(role)), "it shows that it lives")
    assert process.stop() == 0


def test_the_embedded_redis_in_the_foreground(tmp_path: Path) -> None:
    with Stack(tmp_path) as stack:
        other = tmp_path / "other"
        process = stack.start("redis", command("redis"), SIDESTREAM_DATA_DIR=str(other))
        stack.wait(lambda: f"unix://{other}/redis/redis.sock" in process.log(), "it prints its address")
        process.send(signal.SIGTERM)
        assert process.wait() == 0
        assert not (other / "redis" / "redis.sock").exists()


def test_migrate_says_the_schema(tmp_path: Path) -> None:
    done = alone(tmp_path / "data", "migrate")
    assert done.returncode == 0
    assert done.stdout.endswith(f": schema {len(migrations())}\n")


def test_a_wrong_setting_is_one_line_with_its_exit_code(tmp_path: Path) -> None:
    done = alone(tmp_path, "status", api_port="many")
    assert done.returncode == 3
    assert done.stderr.startswith("Error: api_port:")
    unknown = alone(tmp_path, "status", colour="red")
    assert unknown.returncode == 3
    assert "SIDESTREAM_COLOUR" in unknown.stderr


def test_serve_refuses_to_be_exposed_without_a_key(tmp_path: Path) -> None:
    exposed = alone(tmp_path, "serve", api_host="0.0.0.0")
    assert exposed.returncode == 3
    assert "SIDESTREAM_API_KEY" in exposed.stderr
    assert "Traceback" not in exposed.stderr


def test_serve_says_in_a_line_that_its_folder_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    done = alone(tmp_path / "data", "serve")
    assert done.returncode == 4
    assert done.stderr == f"Error: {tmp_path / 'data' / 'spool'}: cannot be written: Not a directory\n"
    assert "Traceback" not in done.stdout


def test_vacuum_gives_back_what_was_deleted(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        db.script("as it was", "PRAGMA auto_vacuum = 0; VACUUM")
        say(db, Scope("ada", session_id="a"), *[f"{number} {'long ' * 400}" for number in range(200)])
        db.script("gone", "DELETE FROM main_messages")
    size = (tmp_path / "sidestream.db").stat().st_size
    done = alone(tmp_path, "maintain", "vacuum")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sidestream.db").stat().st_size < size / 2
    with opened(tmp_path) as db:
        assert db.pragma("auto_vacuum") == 2
        assert db.tuples("integrity_check") == [("ok",)]


@pytest.mark.parametrize(("most", "back"), [("10", 2), ("1", 0), ("0", 0)])
def test_what_a_search_in_the_archive_finds_is_warm_again(tmp_path: Path, most: str, back: int) -> None:
    ada = Scope("ada", session_id="a")
    with opened(tmp_path) as db:
        say(db, ada, "green tea", "black tea", "coffee")
        run_night(archive_in(tmp_path, db), Clock(), Rule("message", "archive", 180))
        assert messages.window(db, ada, 10) == []
    done = alone(tmp_path, "archive", "search", "--user", "ada", "--text", "tea", archive_warm_on_search=most)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2
    with opened(tmp_path) as db:
        assert [m.content for m in messages.window(db, ada, 10)] == ["green tea", "black tea"][:back]


def test_serve_refuses_a_taken_port(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = alone(tmp_path, "serve", api_port=str(taken.getsockname()[1]))
    assert done.returncode == 5
    assert "is taken" in done.stderr


@pytest.mark.parametrize(
    "arguments", [("up",), ("run",), ("migrate",), ("redis",), ("dead", "list"), ("import", DATA / "coast.jsonl")]
)
@pytest.mark.parametrize("under", ["", "data"])
def test_a_folder_that_cannot_be_written_is_one_line(
    tmp_path: Path, arguments: tuple[str | Path, ...], under: str
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file stands here")
    done = alone(taken / under, *arguments)
    assert done.returncode == 4
    assert done.stderr.startswith("Error: ")
    assert str(taken) in done.stderr
    assert "Traceback" not in done.stderr
