"""The nightly run: what is due, once a night, step by step, and what does not stop it."""

from pathlib import Path

import pytest

from memory.nights import Night
from memory.retention import DAY, Policy, Rule
from memory.types import Scope
from store import holds, leases, messages, nightly, summaries
from store.archive import Archive
from store.archive_restore import Wanted, search
from store.db import Database
from store.errors import LeaseLost, StoreBusy, StoreCorrupt
from store.nightly import LEASE, RETRY_AFTER, Context, Nightly, Rules, Slice
from store.nightly_steps import steps
from tests.unit import nightly_support
from tests.unit.nightly_support import NIGHT, archive_in, run_night
from tests.unit.store_support import NOW, Clock, opened, say, summarise

ADA = Scope("ada", session_id="a")
ARCHIVE = Rule("message", "archive", 180)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def db(tmp_path: Path, clock: Clock) -> Database:
    return opened(tmp_path, clock)


@pytest.fixture
def archive(tmp_path: Path, db: Database) -> Archive:
    return archive_in(tmp_path, db)


def stored(db: Database, scope: Scope = ADA) -> list[str]:
    return [m.content for m in messages.window(db, scope, 100)]


def test_a_night_is_due_once(archive: Archive, db: Database, clock: Clock) -> None:
    assert nightly.due(db, NIGHT, NIGHT.moment)
    nightly_support.nightly(archive, clock).run(NIGHT)
    assert not nightly.due(db, NIGHT, NIGHT.moment)
    before = nightly.report(db)
    nightly_support.nightly(archive, clock).run(NIGHT)
    assert nightly.report(db) == before


def test_a_database_younger_than_the_night_has_nothing_for_it(db: Database) -> None:
    assert not nightly.due(db, Night("2023-11-14", NOW - 1), NOW)
    assert nightly.due(db, Night("2023-11-15", NOW + 1), NOW + 1)


def test_missed_nights_are_caught_up_by_one_run(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, "old")
    assert run_night(archive, clock, ARCHIVE, days=200).state == "done"
    assert stored(db) == []
    assert len(nightly.reports(db, 10)) == 1


def test_a_clock_that_jumped_ahead_and_back_stops_no_night(archive: Archive, db: Database, clock: Clock) -> None:
    run_night(archive, clock, days=4_000)
    clock.now = NIGHT.moment
    assert nightly.due(db, NIGHT, clock.now)
    assert nightly_support.nightly(archive, clock).run(NIGHT) is not None
    assert not nightly.due(db, NIGHT, clock.now)


def test_two_at_once_do_it_once(archive: Archive, db: Database, clock: Clock) -> None:
    held = leases.acquire(db, LEASE, "somebody else", 300.0, clock())
    assert held is not None
    assert nightly_support.nightly(archive, clock).run(NIGHT) is None
    leases.release(db, held)
    assert nightly_support.nightly(archive, clock).run(NIGHT) is not None


def test_a_runner_that_lost_its_lease_writes_nothing_more(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, *[f"number {i}" for i in range(30)])
    clock.now = NOW + 400 * DAY

    def steal(moment: str) -> None:
        if moment == "messages.prepared":
            with db.atomic():
                db.run("leases_take", name=LEASE, owner="thief", expires_at=clock() + 300)

    runner = nightly_support.nightly(archive, clock, ARCHIVE, batch=10, reach=steal)
    with pytest.raises(LeaseLost):
        runner.run(Night("n", clock.now))
    assert len(stored(db)) == 30


def test_it_says_beforehand_what_it_will_do(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, "one", "two")
    clock.now = NOW + 400 * DAY
    runner = nightly_support.nightly(archive, clock, ARCHIVE)
    night = Night("n", clock.now)
    assert runner.statistics(night)["messages"] == 2
    assert len(stored(db)) == 2
    assert nightly.report(db) is None
    found = runner.run(night)
    assert found is not None
    assert found.due["messages"] == 2
    assert [(s.seen, s.archived, s.deleted) for s in found.steps if s.step == "messages"] == [(2, 2, 0)]


def test_a_night_goes_on_where_its_time_was_over(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, *[f"number {i}" for i in range(30)])
    clock.now = NOW + 400 * DAY
    ticks = iter(range(10_000))

    def runner() -> Nightly:
        rules = Rules(Policy.of([ARCHIVE]), batch=10, pause=0.0)
        return Nightly(
            archive, steps(), rules, owner="t", clock=clock, sleep=lambda _: None, monotonic=lambda: next(ticks)
        )

    night, rounds = Night("n", clock.now), 0
    while nightly.due(db, night, clock.now):
        runner().run(night, budget=12)
        rounds += 1
    assert rounds > 3
    assert stored(db) == []
    assert archive.totals()["items"] == 30


class Broken:
    """A step that fails as long as it is told to."""

    name = "broken"

    def __init__(self, error: Exception | None) -> None:
        self.error = error

    def due(self, context: Context) -> int:
        return 1

    def prepare(self, context: Context, cursor: str) -> None:
        if self.error is not None:
            raise self.error

    def apply(self, context: Context, cursor: str, prepared: object) -> Slice:
        return Slice(None, 1, 1)


def test_a_step_that_fails_stops_no_other_and_is_tried_again(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, "old")
    clock.now = NOW + 400 * DAY
    night, broken = Night("n", clock.now), Broken(StoreCorrupt("page 7"))
    rules = Rules(Policy.of([ARCHIVE]), pause=0.0)
    runner = Nightly(archive, [broken, *steps()], rules, owner="t", clock=clock, sleep=lambda _: None)
    found = runner.run(night)
    assert found is not None
    assert (found.state, found.failed) == ("running", {"broken": "StoreCorrupt: page 7"})
    assert stored(db) == []
    assert not nightly.due(db, night, clock.now + RETRY_AFTER - 1)
    assert nightly.due(db, night, clock.now + RETRY_AFTER)
    broken.error = None
    again = runner.run(night)
    assert again is not None
    assert (again.state, again.failed) == ("done", {})


def test_a_locked_file_ends_the_task_and_not_the_step(archive: Archive, db: Database, clock: Clock) -> None:
    broken = Broken(StoreBusy("locked"))
    runner = Nightly(archive, [broken], Rules(), owner="t", clock=clock, sleep=lambda _: None)
    with pytest.raises(StoreBusy):
        runner.run(NIGHT)
    assert nightly.due(db, NIGHT, clock.now)


def test_each_namespace_has_its_own_policy(archive: Archive, db: Database, clock: Clock) -> None:
    kept, cold, gone = (Scope("u", namespace, session_id="s") for namespace in ("kept", "cold", "gone"))
    for scope in (kept, cold, gone):
        say(db, scope, "old words")
    rules = (Rule("message", "archive", 100, "cold"), Rule("message", "delete", 100, "gone"))
    run_night(archive, clock, *rules)
    assert [stored(db, s) for s in (kept, cold, gone)] == [["old words"], [], []]
    assert [len(search(archive, Wanted(s), [])) for s in (kept, cold, gone)] == [0, 1, 0]


def test_nothing_younger_than_its_days_is_touched(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, "old words")
    run_night(archive, clock, ARCHIVE, days=179)
    assert stored(db) == ["old words"]
    run_night(archive, clock, ARCHIVE, days=181)
    assert stored(db) == []


def test_a_legal_hold_keeps_everything_where_it_is(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, "old words")
    say(db, Scope("bob", session_id="b"), "old words")
    holds.put(db, "default", "ada", "court", NOW)
    run_night(archive, clock, Rule("message", "delete", 10))
    assert stored(db) == ["old words"]
    assert stored(db, Scope("bob", session_id="b")) == []
    holds.release(db, "default", "ada")
    run_night(archive, clock, Rule("message", "delete", 10), days=401)
    assert stored(db) == []


def test_a_hold_on_a_namespace_is_on_each_of_its_users(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, "old words")
    holds.put(db, "default", None, "audit", NOW)
    run_night(archive, clock, Rule("message", "delete", 10))
    assert stored(db) == ["old words"]
    assert [(h.namespace, h.user_id, h.reason) for h in holds.all_holds(db)] == [("default", None, "audit")]


def test_summaries_in_recall_stay_and_the_others_go_to_the_archive(
    archive: Archive, db: Database, clock: Clock
) -> None:
    say(db, ADA, "something")
    for turn in range(1, 15):
        summarise(db, ADA, turn, f"turn {turn}", keep=10)
    run_night(archive, clock, days=1)
    assert [s.turn_first for s in summaries.recent(db, ADA, 20)] == list(range(5, 15))
    assert [i["row"]["turn_first"] for i in search(archive, Wanted(ADA, kind="summary"), [])] == [4, 3, 2, 1]


def test_the_important_is_archived_where_the_policy_deletes(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, "hello")
    for number, importance in enumerate((0.9, 0.5)):
        db.script(
            "fact",
            "INSERT INTO long_term_memories (memory_id, scope_id, content, memory_type, status, importance,"
            " source_type, valid_from, created_at, updated_at) VALUES"
            f" ('m{number}', 1, 'fact {number}', 'fact', 'superseded',"
            f" {importance}, 'manual', {NOW}, {NOW}, {NOW})",
        )
    run_night(archive, clock, Rule("fact", "delete", 180))
    assert db._execute("test", "SELECT count(*) FROM long_term_memories").fetchall() == [(0,)]
    assert [i["row"]["memory_id"] for i in search(archive, Wanted(Scope("ada")), [])] == ["m0"]


def test_free_pages_are_given_back(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, *[f"{i} " * 300 for i in range(300)])
    before = db.pragma("page_count")
    run_night(archive, clock, ARCHIVE, batch=50)
    assert db.pragma("freelist_count") == 0
    assert db.pragma("page_count") < before / 2


def test_summaries_do_not_outlive_their_sessions_last_message(archive: Archive, db: Database, clock: Clock) -> None:
    say(db, ADA, "something")
    summarise(db, ADA, 1, "about something")
    run_night(archive, clock, ARCHIVE, days=181)
    assert summaries.recent(db, ADA, 20) == []
    assert [i["row"]["content"] for i in search(archive, Wanted(ADA, kind="summary"), [])] == ["about something"]


def test_a_file_that_a_restored_database_knows_nothing_of_stays(archive: Archive, db: Database, clock: Clock) -> None:
    """It was archived after the backup, and may be the only copy."""
    say(db, ADA, "one", "two", "three")
    run_night(archive, clock, Rule("message", "archive", 180))
    (row,) = archive.files(kind="message")
    data = archive.folder.get(row.location)
    db.script("restored", "DELETE FROM archives")
    archive.folder.put("default/message/half.jsonl.zst.part", data[:10])
    found = run_night(archive, clock, days=401)
    (step,) = [s for s in found.steps if s.step == "stray_archive_files"]
    assert (step.kept, step.deleted) == (1, 1)
    assert archive.folder.names() == [row.location]
    assert archive.read(row).damage == []


def test_a_stray_whose_items_stand_elsewhere_goes(archive: Archive, db: Database, clock: Clock) -> None:
    ids = say(db, ADA, "one", "two", "three")
    archive.write("message", "default", ids[:2])
    run_night(archive, clock, Rule("message", "archive", 180))
    (row,) = archive.files(kind="message")
    assert archive.folder.names() == [row.location]
    archive.write("fact", "default", [_fact(db)])
    run_night(archive, clock, days=401)
    assert archive.folder.names() == [row.location]


def _fact(db: Database) -> int:
    db.script(
        "fact",
        "INSERT INTO long_term_memories (memory_id, scope_id, content, memory_type, status, source_type, valid_from,"
        " created_at, updated_at) VALUES ('f', 1, 'a fact', 'fact', 'active', 'manual', 1, 1, 1)",
    )
    return int(db.tuples("orphans_range", {"after": 0, "limit": 9}, table="long_term_memories")[0][0])
