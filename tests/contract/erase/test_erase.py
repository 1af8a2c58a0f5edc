"""A person is erased everywhere, over a real Redis: rows, index, archive, append-only file; and does not come back."""

from pathlib import Path
from typing import Any, cast

import pytest

from memory.retention import DAY
from sidestream.keys import Keys
from store import (
    fulltext,
    holds,
    leases,
    messages,
)
from store.archive_restore import Restored, Wanted, restore, search
from store.erase import Reach
from store.errors import LegalHold, StoreBusy
from tests.contract.erase_support import ADA, BOB, OTHER, SECRET, erased, everything, fill
from tests.contract.servers import running
from tests.unit.store_support import NOW, Clock, say, session, summarise
from tests.unit.workers_support import RULES
from workers.ingest import Ingest
from workers.stream import Entry


def test_nothing_of_the_person_is_left_and_all_of_the_others(reach: Reach, clock: Clock, tmp_path: Path) -> None:
    fill(reach, clock)
    for number, (scope, text) in enumerate(((ADA, SECRET), (BOB, OTHER)), 1):
        fields: dict[Any, Any] = {
            "type": "message",
            "session_id": scope.session_id,
            "content": f"{text} pending",
            "id": f"p{number}",
        }
        fields |= {"user_id": scope.user_id} if scope is BOB else {}
        for key in (Keys().events, Keys().tail("default", str(scope.session_id))):
            reach.client.xadd(key, fields, id=f"{int(clock.now * 1000)}-{number}")
        reach.client.set(Keys().receipt("default", f"p{number}"), "1-1 digest")
        reach.client.set(Keys().owner("default", str(scope.session_id)), f"own {scope.user_id}")
        reach.client.set(Keys().owner("default", f"new-{scope.user_id}"), f"own {scope.user_id}")
    before = len(messages.window(reach.db, BOB, 10))
    found = erased(reach, clock)
    assert (found.left, found.found) == ([], [])
    assert found.counts["messages"] == 2
    assert found.counts["archived_items"] == 2
    assert found.counts["pending_events"] == 1
    assert found.counts["tail_entries"] == 1
    assert sorted(cast(list[bytes], reach.client.keys("*"))) == [
        b"sidestream:events",
        b"sidestream:owner:7:default:new-bob",
        b"sidestream:owner:7:default:of-bob",
        b"sidestream:receipt:7:default:p2",
        b"sidestream:tail:7:default:of-bob",
    ]
    assert "zanzibar" not in everything(reach.db)
    assert "'ada'" not in everything(reach.db)
    for path in [p for folder in (tmp_path, reach.redis_folder) if folder for p in folder.rglob("*") if p.is_file()]:
        assert b"zanzibar" not in path.read_bytes(), path
        assert b"xylophon" not in path.read_bytes(), path
    assert len(messages.window(reach.db, BOB, 10)) == before
    assert len(search(reach.archive, Wanted(BOB, text="marmalade"), [])) == 1
    assert search(reach.archive, Wanted(ADA), []) == []
    assert [c.kind for c in fulltext.search(reach.db, BOB, ["marmalad"], 5)]
    assert reach.archive.verify() == []
    assert reach.client.xlen(Keys().events) == 1


def test_it_is_proven_by_looking(reach: Reach, clock: Clock, tmp_path: Path) -> None:
    fill(reach, clock)
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "spool-1").write_text(f'{{"content": "{SECRET}"}}')
    (reach.client.set("sidestream:stray", SECRET))
    found = erased(reach, clock)
    assert [line.partition(":")[0] for line in found.left] == [str(tmp_path / "spool" / "spool-1")]
    assert any("Redis key sidestream:stray" in line for line in found.found)
    assert not found.complete


def test_what_others_said_too_is_not_taken_for_theirs(reach: Reach, clock: Clock) -> None:
    fill(reach, clock)
    say(reach.db, ADA, OTHER)
    found = erased(reach, clock)
    assert (found.left, found.found) == ([], [])


def entry(number: int, at: float, **fields: str) -> Entry:
    full = {"type": "message", "session_id": "of-ada", "role": "user", "content": SECRET, **fields}
    return Entry(f"{int(at * 1000)}-{number}", {k.encode(): v.encode() for k, v in full.items()})


def test_old_events_do_not_bring_the_person_back_and_new_ones_may(reach: Reach, clock: Clock) -> None:
    fill(reach, clock)
    erased(reach, clock)
    at = clock.now
    lease = leases.acquire(reach.db, "consumer", "test", 10.0, clock.now)
    assert lease is not None
    ingest = Ingest(reach.db, lease, RULES, clock)
    ingest.apply(
        [
            entry(1, at - 5, user_id="ada"),
            entry(2, at - 5),
            entry(3, at - 5, user_id="ada", session_id="elsewhere"),
            entry(4, at - 5, user_id="ada", role="nobody"),
            entry(5, at + 1, user_id="ada", ts="2020-01-01T00:00:00Z"),
        ]
    )
    assert "zanzibar" not in everything(reach.db)
    assert reach.db._execute("t", "SELECT value FROM counters WHERE name = 'events_erased'").fetchall() == [(5,)]
    clock.now += 10
    ingest.apply([entry(6, at + 1, user_id="ada", content="a new beginning")])
    assert [m.content for m in messages.window(reach.db, ADA, 10)] == ["a new beginning"]


def test_an_archive_from_before_does_not_bring_them_back(reach: Reach, clock: Clock, tmp_path: Path) -> None:
    fill(reach, clock)
    (row,) = reach.archive.files(kind="message")
    data = reach.archive.folder.get(row.location)
    erased(reach, clock)
    (new,) = reach.archive.files(kind="message")
    reach.archive.folder.put(new.location, data)
    found = run_restore(reach, clock)
    assert (found.restored, {p.reason for p in found.refused}) == (0, {"its user was erased"})


def run_restore(reach: Reach, clock: Clock) -> Restored:
    return restore(reach.archive, Wanted(ADA), [], until=clock.now + DAY, now=clock.now, embed_min_chars=10)


def test_a_guest_leaves_others_sessions_and_what_was_made_of_their_words(reach: Reach, clock: Clock) -> None:
    session(reach.db, BOB, shared=True)
    say(reach.db, BOB, OTHER, turn=1)
    say(reach.db, BOB, SECRET, turn=2, metadata='{"user_id": "ada"}')
    summarise(reach.db, BOB, 1, "about marmalade")
    summarise(reach.db, BOB, 2, "about zanzibar")
    found = erased(reach, clock)
    assert (found.left, found.found) == ([], [])
    assert "zanzibar" not in everything(reach.db)
    assert [m.content for m in messages.window(reach.db, BOB, 10)] == [OTHER]


def test_a_legal_hold_refuses_it(reach: Reach, clock: Clock) -> None:
    fill(reach, clock)
    holds.put(reach.db, "default", "ada", "court", NOW)
    with pytest.raises(LegalHold, match="court"):
        erased(reach, clock)
    assert len(messages.window(reach.db, ADA, 10)) == 2


def test_it_waits_for_the_nightly_run(reach: Reach, clock: Clock) -> None:
    lease = leases.acquire(reach.db, "nightly", "somebody", 300.0, clock.now)
    assert lease is not None
    with pytest.raises(StoreBusy, match="nightly"):
        erased(reach, clock)


def test_with_redis_away_the_rest_is_erased_and_that_is_said(reach: Reach, clock: Clock) -> None:
    fill(reach, clock)
    with running("valkey") as gone:
        away = gone.connect()
    found = erased(Reach(reach.db, reach.archive, away, Keys(), reach.data_dir, reach.spool), clock)
    assert any(line.startswith("Redis:") for line in found.left)
    assert "zanzibar" not in everything(reach.db)
    assert erased(reach, clock).complete


def test_the_audit_and_the_tombstone_name_nobody(reach: Reach, clock: Clock, tmp_path: Path) -> None:
    fill(reach, clock)
    erased(reach, clock)
    ((action, detail),) = reach.db._execute("t", "SELECT action, detail FROM audit_log").fetchall()
    assert action == "erase"
    assert "ada" not in str(detail).replace("data", "")
    assert b"of-ada" not in (tmp_path / "tombstones.jsonl").read_bytes()
    assert (tmp_path / "tombstones.key").stat().st_mode & 0o077 == 0


def test_someone_who_never_was_is_erased_too(reach: Reach, clock: Clock) -> None:
    assert erased(reach, clock, "nobody").complete
