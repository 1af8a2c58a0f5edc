"""However claims, results, failures, lapses and a wandering clock are mixed: no job is lost, none is done twice."""

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from store import counters, dead_letters, jobs
from store.errors import LeaseLost, NotFound
from store.jobs import Job
from tests.unit.store_support import NOW, opened

LEASE = 60.0


class Ledger(RuleBasedStateMachine):
    """Workers that claim, finish, fail, renew, give back or die, checked against a plain model of the ledger."""

    claims = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.db = opened(Path(self.folder.name))
        self.now = NOW
        self.tokens = 0
        self.owed: set[str] = set()
        self.done: dict[str, int] = {}
        self.dead: set[str] = set()
        self.deferred: set[str] = set()
        self.leases: dict[str, tuple[str, float]] = {}

    def teardown(self) -> None:
        """Everything that was owed can still be finished, once."""
        jobs.release_deferred(self.db, "embed", self.now)
        for letter in dead_letters.list_dead(self.db, limit=1_000):
            jobs.revive(self.db, int(letter.ref), self.now)
        jobs.heal_clock(self.db, self.now)
        self.now += 2 * LEASE
        while found := self._claim(limit=50):
            self._do(found)
        assert self.done == dict.fromkeys(self.owed, 1)
        assert jobs.stats(self.db) == {}
        assert counters.all_counters(self.db) == self.done
        self.db.close()
        self.folder.cleanup()

    @rule(subject=st.sampled_from("abcdefgh"), delay=st.sampled_from([0.0, 5.0, 100.0]), deferred=st.booleans())
    def owe(self, subject: str, delay: float, deferred: bool) -> None:
        new = jobs.owe(
            self.db,
            "embed",
            subject,
            "default",
            due_at=self.now + delay,
            now=self.now,
            state="deferred" if deferred else "pending",
        )
        assert new == (subject not in self.owed)
        self.owed.add(subject)
        if new and deferred:
            self.deferred.add(subject)

    @rule(target=claims, limit=st.integers(1, 5), least=st.integers(1, 3))
    def claim(self, limit: int, least: int) -> list[Job]:
        found = self._claim(limit=limit, least=least)
        assert len(found) <= limit
        for job in found:
            assert job.subject in self.owed
            assert job.subject not in self.done, "done jobs are never claimed"
            assert job.subject not in self.dead | self.deferred
            assert self.leases.get(job.subject, ("", 0.0))[1] <= self.now, "a live lease is never taken away"
            self.leases[job.subject] = (job.lease_token, self.now + LEASE)
        return found

    @rule(found=consumes(claims))
    def finish(self, found: list[Job]) -> None:
        held = self._held(found)
        try:
            self._do(found)
        except LeaseLost:
            assert not held
            return
        assert held
        self._let_go(found)
        if found:
            with pytest.raises(LeaseLost):
                jobs.finish(self.db, found, self.now)

    @rule(found=claims)
    def renew(self, found: list[Job]) -> None:
        if self._held(found):
            jobs.renew(self.db, found, LEASE, self.now)
            self.leases |= {job.subject: (job.lease_token, self.now + LEASE) for job in found}
        else:
            with pytest.raises(LeaseLost):
                jobs.renew(self.db, found, LEASE, self.now)

    @rule(found=consumes(claims), retry=st.sampled_from([None, 0.0, 30.0]))
    def fail(self, found: list[Job], retry: float | None) -> None:
        for job in found:
            try:
                jobs.fail(self.db, job, "why", self.now, None if retry is None else self.now + retry)
            except LeaseLost:
                assert not self._held([job])
                continue
            self._let_go([job])
            if retry is None:
                self.dead.add(job.subject)

    @rule(found=consumes(claims))
    def give_back(self, found: list[Job]) -> None:
        with suppress(LeaseLost):
            jobs.release(self.db, found, self.now)
            self._let_go(found)

    @rule(found=consumes(claims))
    def die(self, found: list[Job]) -> None:
        """The worker is gone; its lease lapses some day."""

    @rule(seconds=st.sampled_from([0.5, 10.0, LEASE, 10 * LEASE]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(seconds=st.sampled_from([1.0, 100.0, 86_400.0]))
    def set_the_clock_back(self, seconds: float) -> None:
        self.now -= seconds
        jobs.heal_clock(self.db, self.now)
        for subject, (token, until) in self.leases.items():
            if until - LEASE > self.now + jobs.STEP_BACK:
                self.leases[subject] = (token, self.now + LEASE)

    @rule(number=st.integers(1, 8))
    def revive(self, number: int) -> None:
        try:
            jobs.revive(self.db, number, self.now)
        except NotFound:
            return
        [subject] = [s for s in self.dead if s not in self._dead_now()]
        self.dead.discard(subject)

    @rule()
    def the_handler_comes(self) -> None:
        assert jobs.release_deferred(self.db, "embed", self.now) == len(self.deferred)
        self.deferred.clear()

    @invariant()
    def nothing_is_lost(self) -> None:
        states = jobs.stats(self.db).get("embed", {})
        assert sum(states.values()) == len(self.owed) - len(self.done)
        assert states.get("dead", 0) == len(self.dead) == dead_letters.count(self.db)
        assert states.get("deferred", 0) == len(self.deferred)

    def _held(self, found: list[Job]) -> bool:
        return all(self.leases.get(job.subject, ("",))[0] == job.lease_token for job in found)

    def _let_go(self, found: list[Job]) -> None:
        for job in found:
            del self.leases[job.subject]

    def _claim(self, limit: int, least: int = 1) -> list[Job]:
        self.tokens += 1
        return jobs.claim(
            self.db,
            "embed",
            limit=limit,
            lease=LEASE,
            now=self.now,
            token=str(self.tokens),
            min_batch=least,
            max_wait=2.0,
        )

    def _do(self, found: list[Job]) -> None:
        with self.db.atomic():
            for job in found:
                counters.bump(self.db, job.subject)
            jobs.finish(self.db, found, self.now)
        for job in found:
            self.done[job.subject] = self.done.get(job.subject, 0) + 1

    def _dead_now(self) -> set[str]:
        return {letter.body["subject"] for letter in dead_letters.list_dead(self.db, limit=100)}


Ledger.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestLedger = Ledger.TestCase
