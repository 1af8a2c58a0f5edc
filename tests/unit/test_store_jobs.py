"""The job ledger: owed once, claimed by one, fenced, retried, dead, deferred."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from store import counters, dead_letters, jobs
from store.db import Database
from store.errors import LeaseLost, NotFound
from store.jobs import Job, JobRow
from tests.unit.store_support import NOW, opened

LEASE = 60.0


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as opened_db:
        yield opened_db


def owe(db: Database, subject: str, *, due: float = NOW, now: float = NOW, kind: str = "embed") -> bool:
    return jobs.owe(db, kind, subject, "default", due_at=due, now=now, payload={"for": subject})


def claim(db: Database, now: float = NOW, token: str = "t", limit: int = 10, kind: str = "embed") -> list[Job]:
    return jobs.claim(db, kind, limit=limit, lease=LEASE, now=now, token=token)


def test_a_job_is_owed_once_for_good(db: Database) -> None:
    assert owe(db, "1")
    assert not owe(db, "1")
    assert owe(db, "1", kind="summarise")
    jobs.finish(db, claim(db), NOW)
    assert not owe(db, "1")
    assert claim(db) == []


@pytest.mark.parametrize("count", [5, 45])
def test_many_are_owed_at_once_and_counted_if_new(db: Database, count: int) -> None:
    rows = [JobRow("embed", str(n), "default", NOW, NOW) for n in range(10, 10 + count)]
    assert jobs.owe_many(db, rows) == count
    assert jobs.owe_many(db, [*rows, JobRow("embed", "9", "default", NOW, NOW)]) == 1
    assert jobs.owe_many(db, []) == 0


def test_a_claim_takes_the_longest_due_first(db: Database) -> None:
    for number, due in enumerate((NOW - 1, NOW - 3, NOW - 2, NOW + 1)):
        owe(db, str(number), due=due)
    [first, second] = claim(db, limit=2)
    assert [first.subject, second.subject] == ["1", "2"]
    assert (first.attempts, first.payload, first.namespace, first.created_at) == (1, {"for": "1"}, "default", NOW)
    assert [job.subject for job in claim(db, token="u")] == ["0"]
    assert claim(db, token="v") == []
    assert [job.subject for job in claim(db, now=NOW + 1, token="w")] == ["3"]


def test_a_small_batch_waits_until_it_is_old(db: Database) -> None:
    def batch(now: float, minimum: int = 3, limit: int = 10) -> int:
        return len(
            jobs.claim(db, "embed", limit=limit, lease=LEASE, now=now, token=str(now), min_batch=minimum, max_wait=2.0)
        )

    owe(db, "1")
    owe(db, "2")
    assert batch(NOW + 1.9) == 0
    owe(db, "3", now=NOW + 1)
    assert batch(NOW + 1.9) == 3
    owe(db, "4")
    assert batch(NOW + 2.0) == 1
    owe(db, "5")
    assert batch(NOW, minimum=3, limit=1) == 1, "a limit below the least batch must not wait for ever"


def test_a_wait_that_cannot_be_told_is_over(db: Database) -> None:
    owe(db, "1", due=NOW, now=NOW + 10)
    found = jobs.claim(db, "embed", limit=5, lease=LEASE, now=NOW, token="t", min_batch=5, max_wait=2.0)
    assert len(found) == 1, "the clock was set back by ten seconds"


def test_a_lapsed_lease_is_claimed_again_and_the_late_worker_fenced(db: Database) -> None:
    owe(db, "1")
    [slow] = claim(db, token="slow")
    assert claim(db, now=NOW + LEASE - 1, token="early") == []
    [quick] = claim(db, now=NOW + LEASE, token="quick")
    assert quick.attempts == 2
    writes: list[Callable[[], None]] = [
        lambda: jobs.finish(db, [slow], NOW),
        lambda: jobs.renew(db, [slow], LEASE, NOW),
        lambda: jobs.fail(db, slow, "why", NOW, NOW + 1),
        lambda: jobs.fail(db, slow, "why", NOW, None),
        lambda: jobs.release(db, [slow], NOW),
    ]
    for write in writes:
        with pytest.raises(LeaseLost):
            write()
    jobs.finish(db, [quick], NOW)
    with pytest.raises(LeaseLost):
        jobs.finish(db, [quick], NOW)
    assert dead_letters.count(db) == 0


def test_a_lost_lease_undoes_the_result_written_with_it(db: Database) -> None:
    owe(db, "1")
    owe(db, "2")
    slow = claim(db, token="slow", limit=1)
    claim(db, now=NOW + LEASE, token="quick", limit=1)
    mine = claim(db, token="mine", limit=1)
    with pytest.raises(LeaseLost, match="1 of 2"), db.atomic():
        counters.bump(db, "result")
        jobs.finish(db, [*mine, *slow], NOW)
    assert counters.all_counters(db) == {}
    jobs.finish(db, mine, NOW)


def test_a_lapsed_lease_that_nobody_took_still_holds(db: Database) -> None:
    owe(db, "1")
    found = claim(db)
    jobs.finish(db, found, NOW + 10 * LEASE)
    assert jobs.owed(db, NOW + 10 * LEASE) == {}


def test_a_renewed_lease_holds_longer(db: Database) -> None:
    owe(db, "1")
    found = claim(db)
    jobs.renew(db, found, LEASE, NOW + 50)
    assert claim(db, now=NOW + LEASE + 1, token="u") == []
    assert len(claim(db, now=NOW + 50 + LEASE, token="u")) == 1


def test_a_failed_job_comes_back_when_it_is_due_and_says_why(db: Database) -> None:
    owe(db, "1")
    [job] = claim(db)
    assert job.reason is None
    jobs.fail(db, job, "429", NOW, NOW + 30)
    assert claim(db, now=NOW + 29, token="u") == []
    [again] = claim(db, now=NOW + 30, token="u")
    assert (again.attempts, again.reason) == (2, "429")
    jobs.finish(db, [again], NOW + 31)
    assert jobs.stats(db) == {}


def test_a_dead_job_leaves_a_letter_and_can_be_revived(db: Database) -> None:
    owe(db, "1")
    [job] = claim(db)
    jobs.fail(db, job, "no such model", NOW, None)
    assert claim(db, now=NOW + 1_000, token="u") == []
    [letter] = dead_letters.list_dead(db)
    assert (letter.source, letter.ref, letter.reason) == ("job", str(job.id), "no such model")
    assert letter.body == {"kind": "embed", "subject": "1", "payload": {"for": "1"}, "attempts": 1}
    assert jobs.stats(db) == {"embed": {"dead": 1}}
    jobs.revive(db, job.id)
    assert dead_letters.count(db) == 0
    [again] = claim(db, token="v")
    assert again.attempts == 1
    jobs.fail(db, again, "still none", NOW + 1, None)
    assert [x.reason for x in dead_letters.list_dead(db)] == ["still none"]


@pytest.mark.parametrize("known", [True, False])
def test_only_a_dead_job_is_revived(db: Database, known: bool) -> None:
    owe(db, "1")
    with pytest.raises(NotFound):
        jobs.revive(db, 1 if known else 99)


def test_a_released_job_is_due_at_once_and_has_lost_no_attempt(db: Database) -> None:
    owe(db, "1")
    jobs.release(db, claim(db), NOW)
    [again] = claim(db, token="u")
    assert again.attempts == 1


def test_deferred_jobs_wait_for_their_handler(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_RELEASE_BATCH", 2)
    for number in range(5):
        jobs.owe(db, "extract", str(number), "default", due_at=NOW, now=NOW, state="deferred")
    jobs.owe(db, "compact", "1", "default", due_at=NOW, now=NOW, state="deferred")
    assert claim(db, now=NOW + 9_999, kind="extract") == []
    assert jobs.owed(db, NOW + 9_999) == {}
    assert jobs.oldest_due(db, NOW + 9_999) is None
    assert jobs.stats(db) == {"extract": {"deferred": 5}, "compact": {"deferred": 1}}
    assert jobs.release_deferred(db, "extract", NOW + 5) == 5
    assert jobs.release_deferred(db, "extract", NOW + 5) == 0
    assert len(claim(db, now=NOW + 5, kind="extract")) == 5


def test_what_is_owed_and_since_when(db: Database) -> None:
    assert jobs.oldest_due(db, NOW) is None
    assert jobs.next_due(db, "embed", NOW) is None
    owe(db, "1", due=NOW - 5)
    owe(db, "2", due=NOW - 1)
    owe(db, "3", due=NOW + 7)
    owe(db, "4", kind="summarise", due=NOW - 2)
    assert jobs.owed(db, NOW) == {"embed": 2, "summarise": 1}
    assert jobs.oldest_due(db, NOW) == 5.0
    assert jobs.oldest_due(db, NOW, without=["embed"]) == 2.0
    assert jobs.next_due(db, "embed", NOW) == 0.0
    claim(db)
    assert jobs.owed(db, NOW) == {"summarise": 1}
    assert jobs.next_due(db, "embed", NOW) == 7.0
    assert jobs.owed(db, NOW + LEASE) == {"embed": 3, "summarise": 1}, "lapsed ones are owed again"


@pytest.mark.parametrize("step", [2.0, 60.0, 1_800.0, 86_400.0])
def test_a_clock_that_was_set_back_holds_nothing_up(db: Database, step: float) -> None:
    then = NOW + step
    owe(db, "leased", due=then, now=then)
    [held] = claim(db, now=then, limit=1)
    owe(db, "failed", due=then, now=then)
    [failed] = claim(db, now=then, limit=1)
    jobs.fail(db, failed, "429", then, then + 7)
    owe(db, "waiting", due=then, now=then - 0.5)
    owe(db, "later", due=NOW + 100, now=NOW)
    assert jobs.owed(db, NOW) == {}
    assert jobs.heal_clock(db, NOW) == 3
    assert jobs.heal_clock(db, NOW) == 0
    assert jobs.owed(db, NOW + 1) == {"embed": 1}
    assert jobs.owed(db, NOW + 7) == {"embed": 2}, "what failed waits as long as it was to"
    assert jobs.owed(db, NOW + LEASE) == {"embed": 3}, "the lease lasts as long as it was to"
    jobs.renew(db, [held], LEASE, NOW + 1)


def test_a_clock_that_is_set_right_by_a_little_heals_nothing(db: Database) -> None:
    owe(db, "1", due=NOW + 0.9, now=NOW + 0.9)
    assert jobs.heal_clock(db, NOW) == 0


def test_an_empty_claim_takes_no_lock(db: Database, tmp_path: Path) -> None:
    with opened(tmp_path) as writer, writer.atomic():
        assert claim(db) == []
