"""What an erasure must not leave: what was made of a guest's words, drafts, cached vectors, letters, snapshots."""

import json
from typing import Any

import pytest

from memory.facts.model import Draft
from memory.retention import Rule
from memory.types import Scope
from sidestream.keys import Keys
from store import (
    dead_letters,
    embedding_cache,
    generations,
    holds,
    jobs,
    leases,
    spaces,
)
from store.archive_file import decode
from store.archive_restore import Wanted, search
from store.db import Database
from store.erase import Reach
from store.erase_rows import RowEraser
from store.errors import LeaseLost, LegalHold
from tests.contract.erase_support import ADA, BOB, OTHER, SECRET, erased, everything, fill
from tests.contract.servers import RedisServer
from tests.unit.nightly_support import run_night
from tests.unit.store_support import NOW, Clock, say, session, summarise, vector


def fact(db: Database, scope: Scope, memory_id: str, text: str, source_ids: list[int]) -> None:
    owner = session(db, scope)
    db.script(
        "fact",
        "INSERT INTO long_term_memories (memory_id, scope_id, content, memory_type, status, source_type,"
        " source_session, source_ids, valid_from, created_at, updated_at) VALUES"
        f" ('{memory_id}', {owner.scope_id}, '{text}', 'fact', 'active', 'auto_consolidation', {owner.id},"
        f" '{source_ids}', 1, 1, 1)",
    )


def guest_spoke(reach: Reach) -> list[int]:
    session(reach.db, BOB, shared=True)
    say(reach.db, BOB, OTHER, turn=1)
    ids = say(reach.db, BOB, SECRET, turn=2, metadata='{"user_id": "ada"}')
    summarise(reach.db, BOB, 1, "about marmalade and toast in the morning")
    summarise(reach.db, BOB, 2, "about zanzibar and its password")
    return ids


def test_what_was_made_of_a_guests_archived_words_goes_too(reach: Reach, clock: Clock) -> None:
    ids = guest_spoke(reach)
    fact(reach.db, BOB, "of-guest", "ada said zanzibar has a password", ids)
    # The summary of the second turn goes into the archive with the messages.
    run_night(reach.archive, clock, Rule("message", "archive", 180), days=400)
    run_night(reach.archive, clock, Rule("summary", "archive", 90), days=401)
    assert reach.archive.totals()["items"] == 4
    found = erased(reach, clock)
    assert (found.left, found.found) == ([], [])
    assert "zanzibar" not in everything(reach.db)
    (message,) = search(reach.archive, Wanted(BOB, kind="message"), [])
    (summary,) = search(reach.archive, Wanted(BOB, kind="summary"), [])
    assert (message["row"]["content"], summary["row"]["content"]) == (OTHER, "about marmalade and toast in the morning")


class Killed(BaseException):
    """The process ends here."""


def test_a_guests_erasure_that_was_killed_goes_on(reach: Reach, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = guest_spoke(reach)
    fact(reach.db, BOB, "of-guest", "ada said zanzibar has a password", ids)

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(RowEraser, "_memories", killed)
        with pytest.raises(Killed):
            erased(reach, clock)
    assert erased(reach, clock).complete
    assert "zanzibar" not in everything(reach.db)
    assert OTHER in everything(reach.db)


def test_drafts_and_work_in_hand_that_hold_a_guests_words_go_too(reach: Reach, clock: Clock) -> None:
    ids = guest_spoke(reach)
    owner = session(reach.db, BOB)
    with reach.db.atomic():
        number = generations.begin(
            reach.db, BOB, [owner.id], model=None, prompt=None, actor="test", reason="test", now=NOW
        )
        drafts = [Draft(f"{SECRET} as a draft", "fact", source_ids=(ids[0],)), Draft(f"{OTHER} as a draft", "fact")]
        generations.put(reach.db, number, owner.id, "rules", drafts)
        jobs.owe(
            reach.db, "summarise", f"turn:{owner.id}:2", "default", due_at=NOW, now=NOW,
            payload={"session_pk": owner.id, "turn": 2},
        )  # fmt: skip
    (held,) = jobs.claim(reach.db, "summarise", limit=1, lease=1e9, now=clock.now, token="t")
    assert erased(reach, clock).complete
    assert [d.draft.content for d in generations.drafts(reach.db, number)] == [f"{OTHER} as a draft"]
    with pytest.raises(LeaseLost), reach.db.atomic():
        jobs.finish(reach.db, [held], now=clock.now)


def test_drafts_of_a_generation_go_with_their_owner(reach: Reach, clock: Clock) -> None:
    fill(reach, clock)
    owner = session(reach.db, ADA)
    with reach.db.atomic():
        number = generations.begin(
            reach.db, ADA, [owner.id], model=None, prompt=None, actor="test", reason="test", now=NOW
        )
        generations.put(reach.db, number, owner.id, "rules", [Draft(f"{SECRET} as a draft", "fact")])
    assert erased(reach, clock).complete
    assert "zanzibar" not in everything(reach.db)


def test_no_vector_of_theirs_stays_in_the_cache(reach: Reach, clock: Clock) -> None:
    """Not of archived messages, nor of what a fact said before it was changed."""
    fill(reach, clock)
    space = spaces.all_spaces(reach.db)[0]
    texts = [f"{SECRET}, as it was archived", f"{SECRET} formerly", f"{SECRET} fact"]
    with reach.db.atomic():
        embedding_cache.put_many(reach.db, space.id, {embedding_cache.digest(text): vector(1.0) for text in texts})
        known = json.dumps({"content": texts[1]})
        scope = session(reach.db, ADA).scope_id
        reach.db.script(
            "history",
            "INSERT INTO memory_history (memory_id, scope_id, version, change, before, actor, reason, at)"
            f" VALUES ('ada', {scope}, 1, 'updated', '{known}', 'a', 'r', 1)",
        )
    erased(reach, clock)
    digests = [embedding_cache.digest(text) for text in (*texts, SECRET, OTHER)]
    assert list(embedding_cache.get_many(reach.db, space.id, digests)) == [embedding_cache.digest(OTHER)]


def test_a_hold_on_the_host_is_on_what_guests_said(reach: Reach, clock: Clock) -> None:
    guest_spoke(reach)
    holds.put(reach.db, "default", "bob", "court", NOW)
    with pytest.raises(LegalHold, match="spoke in a session"):
        erased(reach, clock)
    assert "zanzibar" in everything(reach.db)


def test_archived_letters_go_by_whose_they_are(reach: Reach, clock: Clock) -> None:
    for number, (scope, text) in enumerate(((ADA, SECRET), (BOB, OTHER))):
        say(reach.db, scope, "hello")
        body: dict[str, Any] = {"session_id": scope.session_id, "content": text}
        dead_letters.bury(reach.db, "event", str(number), "default", "why", body, NOW)
    reach.db.script("handled", "UPDATE dead_letters SET status = 'discarded'")
    run_night(reach.archive, clock, Rule("dead_letter", "archive", 30))
    assert reach.archive.totals()["items"] == 2
    assert erased(reach, clock, "default").counts["archived_items"] == 0
    assert erased(reach, clock).counts["archived_items"] == 1
    assert reach.archive.totals()["items"] == 1


def test_a_file_without_its_header_is_cleared_too(reach: Reach, clock: Clock) -> None:
    fill(reach, clock)
    (row,) = reach.archive.files(kind="message")
    data = bytearray(reach.archive.folder.get(row.location))
    data[6] ^= 0xFF
    reach.archive.folder.put(row.location, bytes(data))
    found = erased(reach, clock)
    assert [line.partition(" is damaged")[0] for line in found.left] == [f"archive file {row.location}"]
    assert found.found == []
    (new,) = reach.archive.files(kind="message")
    assert [item["user_id"] for item in reach.archive.read(new).items] == ["bob", "bob"]


def test_it_stops_where_the_night_took_over(reach: Reach, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Held up for longer than its lease, it would take a file that the night has just written for a stray."""
    fill(reach, clock)
    reach.archive.folder.put("default/message/stray.jsonl.zst", b"x")
    learn = RowEraser.learn

    def slow(eraser: RowEraser) -> None:
        learn(eraser)
        clock.now += 301
        assert leases.acquire(reach.db, "nightly", "the night", 300.0, clock.now) is not None

    monkeypatch.setattr(RowEraser, "learn", slow)
    with pytest.raises(LeaseLost):
        erased(reach, clock)
    assert "default/message/stray.jsonl.zst" in reach.archive.folder.names()


def test_a_snapshot_is_written_anew(reach: Reach, clock: Clock, server: RedisServer) -> None:
    client: Any = reach.client
    client.set(Keys().owner("default", "s"), f"own ada {SECRET}")
    client.save()
    snapshot = server.folder / "dump.rdb"
    assert SECRET.encode() in snapshot.read_bytes()
    client.config_set("save", "3600 1")
    try:
        client.set(Keys().owner("default", "s"), "own ada")
        assert erased(reach, clock).counts["snapshots_rewritten"] == 1
    finally:
        client.config_set("save", "")
    assert SECRET.encode() not in snapshot.read_bytes()


def test_a_file_that_a_restored_database_does_not_know_loses_theirs_alone(reach: Reach, clock: Clock) -> None:
    fill(reach, clock)
    (row,) = reach.archive.files(kind="message")
    reach.db.script("restored", "DELETE FROM archives")
    reach.archive.folder.put("default/message/half.jsonl.zst.part", b"x")
    found = erased(reach, clock)
    assert (found.left, found.found) == ([], [])
    (name,) = reach.archive.folder.names()
    items = decode(reach.archive.folder.get(name)).items
    assert (name != row.location, {item["user_id"] for item in items}) == (True, {"bob"})
