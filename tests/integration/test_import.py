"""`sidestream import`: every form goes in once and in order, whatever interrupts it."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.commands import DATA, alone, command, sidestream
from tests.stack import Stack


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with Stack(tmp_path) as stack:
        yield stack


def contents(stack: Stack) -> dict[str, list[str]]:
    """What is said in each session, in order."""
    rows = stack.rows(
        "SELECT s.session_id, m.content FROM main_messages AS m JOIN sessions AS s ON s.id = m.session_pk ORDER BY seq"
    )
    sessions: dict[str, list[str]] = {}
    for session, content in rows:
        sessions.setdefault(session, []).append(content)
    return sessions


def chat(path: Path, count: int) -> Path:
    lines = [
        {"role": ("user", "assistant")[n % 2], "content": f"Barrel {n} stands in row {n % 7}."} for n in range(count)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


@pytest.mark.parametrize(
    ("name", "sessions", "messages"),
    [("messages.jsonl", 2, 6), ("openai.json", 1, 5), ("sharegpt.json", 2, 4), ("coast.jsonl", 5, 14)],
)
def test_every_form_goes_in_and_a_second_time_adds_nothing(
    stack: Stack, name: str, sessions: int, messages: int
) -> None:
    stack.start_ingest()
    stack.start_tasks(beat=True)
    first = sidestream(stack, "import", DATA / name, "--user", "ann", "--wait")
    assert first.returncode == 0, first.stderr
    assert f"{messages} messages published" in first.stdout
    assert "everything is stored and summarised" in first.stdout
    stored = contents(stack)
    assert (len(stored), sum(map(len, stored.values()))) == (sessions, messages)
    events = stack.rows("SELECT count(*) FROM events")
    again = sidestream(stack, "import", DATA / name, "--user", "ann", "--wait")
    assert again.returncode == 0, again.stderr
    assert contents(stack) == stored
    assert stack.rows("SELECT count(*) FROM events") == events
    assert stack.rows("SELECT count(*) FROM sessions WHERE open_turn IS NOT NULL") == [(0,)]


def test_times_and_owners_are_the_files_own(stack: Stack) -> None:
    stack.start_ingest()
    assert sidestream(stack, "import", DATA / "coast.jsonl").returncode == 0
    stack.wait(stack.stored(19), "the conversations are stored")
    owners = stack.rows("SELECT DISTINCT user_id FROM scopes ORDER BY user_id")
    assert owners == [("coast/garden",), ("coast/harbour",)]
    first = stack.rows(
        "SELECT datetime(occurred_at, 'unixepoch') FROM main_messages WHERE event_id = 'coast/harbour/1'"
    )
    assert first == [("2024-04-03 09:05:00",)]
    roles = stack.rows("SELECT DISTINCT role FROM main_messages WHERE content LIKE 'Congrat%' OR content LIKE '我%'")
    assert sorted(roles) == [("assistant",), ("user",)]


def test_bad_lines_are_named_and_nothing_is_imported(stack: Stack, tmp_path: Path) -> None:
    file = chat(tmp_path / "log.jsonl", 4)
    file.write_text(file.read_text() + '{"role": "pilot", "content": "hm"}\n{broken\n')
    done = sidestream(stack, "import", file)
    assert done.returncode == 1
    assert f"{file}:5: role: 'pilot' is not user, assistant, system or tool" in done.stderr
    assert f"{file}:6: not JSON" in done.stderr
    assert "2 lines cannot be read; nothing was imported" in done.stderr
    assert stack.redis.xlen(stack.keys.events) == 0


def test_bad_lines_are_skipped_when_asked_and_nothing_else_is(stack: Stack, tmp_path: Path) -> None:
    file = chat(tmp_path / "log.jsonl", 4)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], "{broken", *lines[1:]]) + "\n")
    stack.start_ingest()
    done = sidestream(stack, "import", file, "--skip-bad")
    assert done.returncode == 0
    assert f"{file}:2: not JSON" in done.stderr
    assert "4 messages published, 1 lines skipped" in done.stdout
    stack.wait(stack.stored(5), "the others are stored")
    assert contents(stack) == {"log": [json.loads(line)["content"] for line in lines]}


def test_what_could_not_be_stored_is_told_and_only_once(stack: Stack, tmp_path: Path) -> None:
    """Two files name one session, which belongs to the first one's user."""
    stack.start_ingest()
    stack.start_tasks(beat=True)
    for user in ("ann", "bob"):
        line = {"session_id": "s1", "user_id": user, "role": "user", "content": f"I am {user}, says the label."}
        (tmp_path / f"{user}.jsonl").write_text(json.dumps(line))
    assert sidestream(stack, "import", tmp_path / "ann.jsonl", "--wait").returncode == 0
    done = sidestream(stack, "import", tmp_path / "bob.jsonl", "--wait")
    assert done.returncode == 1
    assert "2 dead letters came up meanwhile; see `sidestream dead list`" in done.stderr
    assert "everything is" not in done.stdout
    assert contents(stack) == {"s1": ["I am ann, says the label."]}
    again = sidestream(stack, "import", tmp_path / "ann.jsonl", "--wait")
    assert again.returncode == 0, again.stderr


def noted(stack: Stack) -> int:
    """How many events the import in progress has noted as accepted."""
    files = list((stack.folder / "data" / "imports").glob("*.json"))
    return int(json.loads(files[0].read_text())["events"]) if files else 0


def test_a_killed_import_goes_on_where_it_stopped(stack: Stack, tmp_path: Path) -> None:
    """Without a consumer it pauses when the stream is full; there it is killed."""
    file = chat(tmp_path / "log.jsonl", 1_500)
    first = stack.start("import", command("import", file, "--max-backlog", "600"))
    stack.wait(lambda: noted(stack) == 600, "the stream is full and the progress is noted")
    first.send(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    stack.start_ingest()
    second = sidestream(stack, "import", file, "--max-backlog", "600")
    assert second.returncode == 0, second.stderr
    assert "going on after 600 of 1501 events" in second.stderr
    stack.wait(stack.stored(1_501), "all of it is stored")
    assert contents(stack) == {"log": [f"Barrel {n} stands in row {n % 7}." for n in range(1_500)]}


def test_an_interrupted_import_says_so_by_its_exit_code(stack: Stack, tmp_path: Path) -> None:
    process = stack.start("import", command("import", chat(tmp_path / "log.jsonl", 500), "--max-backlog", "200"))
    stack.wait(lambda: stack.redis.xlen(stack.keys.events) == 200, "the stream is full")
    process.send(signal.SIGINT)
    assert process.wait() == 130
    assert "Traceback" not in process.log()


def test_an_import_that_nobody_consumes_gives_up_and_says_why(stack: Stack, tmp_path: Path) -> None:
    file = chat(tmp_path / "log.jsonl", 500)
    done = sidestream(stack, "import", file, "--max-backlog", "200", "--patience", "1")
    assert done.returncode == 1
    assert "200 events wait in Redis and no worker has taken one for 1 s" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_redis_it_says_so(stack: Stack) -> None:
    stack.server.kill()
    done = sidestream(stack, "import", DATA / "messages.jsonl")
    assert done.returncode == 4
    assert "does not answer" in done.stderr
    assert "Traceback" not in done.stderr


def test_two_files_of_one_name_are_refused(stack: Stack, tmp_path: Path) -> None:
    done = sidestream(stack, "import", DATA / "messages.jsonl", chat(tmp_path / "messages.jsonl", 2))
    assert done.returncode == 1
    assert "--source" in done.stderr


def test_where_nothing_runs_workers_are_started_for_the_import(tmp_path: Path) -> None:
    done = alone(tmp_path / "data", "import", DATA / "messages.jsonl")
    assert done.returncode == 0, done.stderr
    assert "everything is stored and summarised" in done.stdout
    assert json.loads((tmp_path / "data" / "up.json").read_text()) == {}
    shown = json.loads(alone(tmp_path / "data", "status", "--json").stdout)
    assert shown["redis"]["ok"] is False
    assert shown["database"]["counters"]["events_stored"] == 8
