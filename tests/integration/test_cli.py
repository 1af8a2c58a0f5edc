"""Commands on a real stack: status, dead letters, single processes, and how they fail."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.commands import alone, command, environment, sidestream
from tests.stack import Stack


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with Stack(tmp_path) as stack:
        yield stack


def poison(stack: Stack, **fields: str) -> int:
    """An entry that cannot be stored; the number of its dead letter."""
    entry = stack.redis.xadd(stack.keys.events, {"type": "message", "session_id": "s", "content": "hi", **fields})
    stack.wait(lambda: stack.rows("SELECT id FROM dead_letters WHERE ref = ?", entry), "the dead letter")
    return int(stack.rows("SELECT id FROM dead_letters WHERE ref = ?", entry)[0][0])


def test_status_of_a_running_system(stack: Stack) -> None:
    stack.start_ingest()
    stack.start_tasks(beat=True)
    roles = ("consumer", "embed", "summarise", "maintain", "beat")
    for role in roles:
        stack.wait(lambda role=role: sidestream(stack, "status", "--worker", role).returncode == 0, f"{role} lives")
    shown = json.loads(sidestream(stack, "status", "--json").stdout)
    assert shown["redis"] == {"ok": True, "warnings": []}
    assert shown["stream"] == {"length": 0, "pending": 0}
    assert all(shown["workers"][role]["alive"] for role in roles)
    assert shown["database"]["dead_letters"] == 0
    text = sidestream(stack, "status")
    assert text.returncode == 0
    assert "consumer" in text.stdout
    assert "alive" in text.stdout


def test_status_of_nothing_says_what_is_away(tmp_path: Path) -> None:
    done = alone(tmp_path / "data", "status")
    assert done.returncode == 4
    assert "redis, database" in done.stderr
    assert alone(tmp_path / "data", "status", "--worker", "beat").returncode == 4


def test_a_worker_without_a_heartbeat_is_told_by_the_exit_code(stack: Stack) -> None:
    done = sidestream(stack, "status", "--worker", "embed")
    assert (done.returncode, done.stderr) == (1, "Error: embed: no heartbeat\n")


def test_a_dead_event_is_listed_shown_and_replayed_once(stack: Stack) -> None:
    """Its role was missing in the entry; here the reason is that the session was another user's, until it is shared."""
    stack.start_ingest()
    number = poison(stack)
    [line] = sidestream(stack, "dead", "list").stdout.splitlines()
    assert line.startswith(f"{number} ")
    assert "role" in line
    body = json.loads(sidestream(stack, "dead", "show", str(number)).stdout)
    assert body["body"]["content"] == "hi"
    replayed = sidestream(stack, "dead", "replay", str(number))
    assert replayed.returncode == 0
    assert "back on the stream" in replayed.stdout
    stack.wait(lambda: len(stack.rows("SELECT 1 FROM dead_letters WHERE status = 'dead'")) == 1, "it is dead again")
    [(again,)] = stack.rows("SELECT body FROM dead_letters WHERE status = 'dead'")
    assert json.loads(again)["ts"].endswith("Z")
    second = sidestream(stack, "dead", "replay", str(number))
    assert second.returncode == 1
    assert "replayed already" in second.stderr


def test_a_replayed_event_is_stored_once_its_cause_is_gone(stack: Stack) -> None:
    stack.start_ingest()
    owner = {"type": "message", "session_id": "s", "role": "user", "user_id": "ann", "content": "mine"}
    stack.redis.xadd(stack.keys.events, owner)
    number = poison(stack, role="user", user_id="ben", id="guest-1")
    stack.rows("SELECT 1")
    with stack.database():
        pass
    stack.redis.xadd(
        stack.keys.events, {"type": "session.started", "session_id": "s", "user_id": "ann", "shared": "true"}
    )
    stack.wait(lambda: stack.redis.xlen(stack.keys.events) == 0, "the session is opened")
    assert sidestream(stack, "dead", "replay", str(number)).returncode == 0
    stack.wait(lambda: stack.redis.xlen(stack.keys.events) == 0, "the replay is consumed")
    listed = sidestream(stack, "dead", "list", "--status", "any", "--json").stdout.splitlines()
    assert {json.loads(line)["status"] for line in listed} >= {"replayed"}


def test_a_dead_letter_is_discarded(stack: Stack) -> None:
    stack.start_ingest()
    number = poison(stack)
    assert sidestream(stack, "dead", "discard", str(number)).returncode == 0
    assert sidestream(stack, "dead", "list").stdout == "no dead letters\n"
    assert sidestream(stack, "dead", "list", "--status", "discarded").stdout.startswith(f"{number} ")
    assert sidestream(stack, "dead", "discard", str(number)).returncode == 1


def test_an_unknown_dead_letter_is_an_error_in_one_line(stack: Stack) -> None:
    done = sidestream(stack, "dead", "show", "77")
    assert (done.returncode, done.stderr) == (1, "Error: no dead letter 77\n")


@pytest.mark.parametrize("arguments", [("worker", "ingest"), ("worker", "tasks"), ("beat",)])
def test_single_processes_run_and_stop(stack: Stack, arguments: tuple[str, ...]) -> None:
    role = {"ingest": "consumer", "tasks": None, "beat": "beat"}[arguments[-1]]
    process = stack.start("one", command(*arguments))
    if role is None:
        stack.wait(lambda: "tasks@" in process.log() and "ready" in process.log(), "the worker is ready")
    else:
        stack.wait(lambda: stack.redis.exists(stack.keys.heartbeat(role)), "it shows that it lives")
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
    assert "schema 1" in done.stdout


def test_a_wrong_setting_is_one_line_with_its_exit_code(tmp_path: Path) -> None:
    done = alone(tmp_path, "status", api_port="many")
    assert done.returncode == 3
    assert done.stderr.startswith("Error: api_port:")
    unknown = alone(tmp_path, "status", colour="red")
    assert unknown.returncode == 3
    assert "SIDESTREAM_COLOUR" in unknown.stderr


def test_serve_refuses_to_be_exposed_and_a_taken_port(stack: Stack) -> None:
    variables = environment(stack.folder / "data")
    exposed = alone(stack.folder / "data", "serve", api_host="0.0.0.0")
    assert exposed.returncode == 3
    assert "SIDESTREAM_API_KEY" in exposed.stderr
    assert "Traceback" not in exposed.stderr
    assert variables["SIDESTREAM_API_PORT"] == "0"
