"""Commands that look at a real stack and mend it: status and dead letters."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from store import dead_letters, jobs
from store.opening import open_database
from tests.integration.commands import alone, sidestream
from tests.stack import Stack


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack(tmp_path_factory.mktemp("cli")) as stack:
        stack.start_ingest()
        stack.start_tasks(beat=True)
        stack.wait(lambda: stack.redis.exists(stack.keys.alive("consumer")), "the consumer lives")
        yield stack


def poison(stack: Stack, **fields: str) -> int:
    """An entry that cannot be stored; the number of its dead letter."""
    fields = {"type": "message", "session_id": "s", "content": "hi", **fields}
    entry = stack.redis.xadd(stack.keys.events, dict(fields.items()))
    stack.wait(lambda: dead(stack, str(entry)), "the dead letter")
    return int(dead(stack, str(entry))[0][0])


def dead(stack: Stack, entry: str) -> list[tuple[int, str]]:
    return stack.rows("SELECT id, body FROM dead_letters WHERE ref = ?", entry)


def test_status_of_a_running_system(stack: Stack) -> None:
    roles = ("consumer", "embed", "summarise", "maintain", "beat")
    for role in roles:
        stack.wait(lambda r=role: stack.redis.exists(stack.keys.alive(r)), f"{role} lives")  # type: ignore[misc] # mypy cannot tell a default's type in a lambda
    assert sidestream(stack, "status", "--worker", "embed").returncode == 0
    shown = json.loads(sidestream(stack, "status", "--json").stdout)
    assert shown["redis"] == {"ok": True, "warnings": []}
    assert shown["stream"] == {"length": 0, "pending": 0}
    assert all(shown["workers"][role]["alive"] for role in roles)
    text = sidestream(stack, "status")
    assert text.returncode == 0
    assert "consumer" in text.stdout
    assert "alive" in text.stdout


def test_status_of_nothing_says_what_is_away(tmp_path: Path) -> None:
    done = alone(tmp_path / "data", "status")
    assert done.returncode == 4
    assert "redis, database" in done.stderr
    assert alone(tmp_path / "data", "status", "--worker", "beat").returncode == 4


def test_a_worker_without_a_heartbeat_is_told_by_the_exit_code(tmp_path: Path) -> None:
    with Stack(tmp_path) as idle:
        done = sidestream(idle, "status", "--worker", "embed")
    assert (done.returncode, done.stderr) == (1, "Error: embed: no heartbeat\n")


def test_a_dead_event_is_listed_and_shown(stack: Stack) -> None:
    number = poison(stack)
    [line] = [x for x in sidestream(stack, "dead", "list").stdout.splitlines() if x.startswith(f"{number} ")]
    assert "event message" in line
    assert "role" in line
    assert json.loads(sidestream(stack, "dead", "show", str(number)).stdout)["body"]["content"] == "hi"


def test_a_dead_event_is_replayed_last_and_with_its_own_time(stack: Stack) -> None:
    """It was too far ahead of the clock; later it no longer is."""
    ahead = datetime.now(UTC) + timedelta(seconds=306)
    number = poison(stack, role="user", session_id="early", ts=ahead.isoformat(), content="from tomorrow")
    stack.redis.xadd(
        stack.keys.events, {"type": "message", "session_id": "early", "role": "user", "content": "from today"}
    )
    right = ahead - timedelta(seconds=299)
    stack.wait(lambda: datetime.now(UTC) >= right, "its time is near enough")
    done = sidestream(stack, "dead", "replay", str(number))
    assert done.returncode == 0
    assert "back on the stream" in done.stdout
    said = (
        "SELECT content, occurred_at FROM main_messages AS m JOIN sessions AS s ON s.id = m.session_pk "
        "WHERE s.session_id = 'early' ORDER BY seq"
    )
    stack.wait(lambda: len(stack.rows(said)) == 2, "it is stored")
    (first, _), (second, occurred_at) = stack.rows(said)
    assert (first, second) == ("from today", "from tomorrow")
    assert occurred_at == pytest.approx(ahead.timestamp())
    again = sidestream(stack, "dead", "replay", str(number))
    assert again.returncode == 1
    assert "replayed already" in again.stderr


def test_a_replay_without_id_and_time_keeps_those_of_the_entry(stack: Stack) -> None:
    number = poison(stack)
    [(entry, created)] = stack.rows("SELECT ref, created_at FROM dead_letters WHERE id = ?", number)
    assert sidestream(stack, "dead", "replay", str(number)).returncode == 0
    later = "SELECT body FROM dead_letters WHERE event_id = ? AND ref <> ?"
    stack.wait(lambda: stack.rows(later, entry, entry), "it is dead again, under its own id")
    [(body,)] = stack.rows(later, entry, entry)
    assert datetime.fromisoformat(json.loads(body)["ts"]).timestamp() == pytest.approx(created, abs=60)


def test_a_dead_job_is_due_again(stack: Stack) -> None:
    with open_database(stack.settings.database) as db:
        now = time.time()
        # A kind that no worker of this stack does, or one would do it before it is looked at.
        jobs.owe(db, "later", "1", "default", due_at=now, now=now)
        [job] = jobs.claim(db, "later", limit=1, lease=60, now=now, token="t")
        jobs.fail(db, job, "the model refused", now, None)
        [letter] = [x for x in dead_letters.list_dead(db) if x.ref == str(job.id)]
        done = sidestream(stack, "dead", "replay", str(letter.id))
        assert (done.returncode, done.stdout) == (0, f"{letter.id}: due again\n")
        assert jobs.stats(db)["later"] == {"pending": 1}
        jobs.claim(db, "later", limit=1, lease=600, now=time.time(), token="t2")


def test_a_dead_letter_is_discarded(stack: Stack) -> None:
    number = poison(stack)
    assert sidestream(stack, "dead", "discard", str(number)).returncode == 0
    assert f"{number} " not in sidestream(stack, "dead", "list").stdout
    assert sidestream(stack, "dead", "list", "--status", "discarded").stdout.startswith(f"{number} ")
    assert sidestream(stack, "dead", "discard", str(number)).returncode == 1


def test_an_unknown_dead_letter_is_an_error_in_one_line(stack: Stack) -> None:
    done = sidestream(stack, "dead", "show", "77")
    assert (done.returncode, done.stderr) == (1, "Error: no dead letter 77\n")
