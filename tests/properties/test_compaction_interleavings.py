"""Whatever comes between a compaction's start and its end, checkpoint and window together hold each message once."""

import asyncio
import json
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from llm.errors import Unreachable
from llm.ports import ChatMessage
from memory.compaction.parts import Parts, no_parts
from store import jobs
from store.errors import LeaseLost
from tests.unit.compaction_support import Session
from tests.unit.scripted_model import Scripted
from workers.compact import CompactHandler, CompactOptions
from workers.outcomes import Done, Outcome

OPTIONS = CompactOptions(
    tokens=20_000, step=250, lease=120.0, cut=2_000, attempts=99, keep=2, template="{words} {language}"
)


def all_seen(asked: Sequence[ChatMessage]) -> str:
    """A model that says which messages it was shown, in the summary before or in the dialogue, as often as it was."""
    return json.dumps({**no_parts(), "other": re.findall(r"\bm\d+\b", asked[1]["content"])})


class Interleavings(RuleBasedStateMachine):
    """One session; compactions of several workers that begin, end, fail and die in any order."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.model = Scripted(all_seen)
        self.session = Session(Path(self._folder.name), self.model, OPTIONS)
        self.under_way: list[tuple[CompactHandler, list[Outcome[Any]]]] = []
        self.alive: list[str] = []

    def teardown(self) -> None:
        self.session.db.close()
        self._folder.cleanup()

    @rule(count=st.integers(1, 14))
    def say(self, count: int) -> None:
        self.alive += [f"m{self.session.said + n + 1}" for n in range(count)]
        self.session.chat(count)

    @rule()
    def reset(self) -> None:
        self.session.reset()
        self.alive.clear()

    @rule(limit=st.integers(1, 3), answers=st.booleans())
    def begin(self, limit: int, answers: bool) -> None:
        claimed = self.session.claim(limit)
        handler = self.session.handler()
        self.model.answers = [all_seen if answers else Unreachable("away")]
        try:
            outcomes = asyncio.run(handler.work(claimed))
        except Unreachable as error:
            for job in claimed:
                jobs.fail(self.session.db, job, str(error), self.session.bench.now, self.session.bench.now)
            return
        if claimed:
            self.under_way.append((handler, outcomes))

    @rule(which=st.integers(0, 5))
    def end(self, which: int) -> None:
        """As workers.drain writes it: result and job together, or neither."""
        if not self.under_way:
            return
        handler, outcomes = self.under_way.pop(which % len(self.under_way))
        done = [o for o in outcomes if isinstance(o, Done)]
        with suppress(LeaseLost), self.session.db.atomic():
            handler.write(done)
            jobs.finish(self.session.db, [o.job for o in done], self.session.bench.now)

    @rule(which=st.integers(0, 5))
    def die(self, which: int) -> None:
        if self.under_way:
            self.under_way.pop(which % len(self.under_way))

    @rule(seconds=st.sampled_from([1.0, 11.0, 130.0]))
    def wait(self, seconds: float) -> None:
        self.session.bench.now += seconds

    @invariant()
    def each_message_stands_once(self) -> None:
        with self.session.db.snapshot():
            found, window = self.session.active, self.session.window()
        told = list(Parts.model_validate_json(found.summary).other) if found else []
        assert told + window == self.alive
        assert found is None or found.message_count == len(told)

    @invariant()
    def at_most_one_is_active(self) -> None:
        assert self.session.rows("SELECT count(*) FROM session_checkpoints WHERE active")[0][0] <= 1

    @invariant()
    def what_is_left_is_owed(self) -> None:
        """Nothing is given up: once all that is owed is done, less than a window stands verbatim."""
        (owed,) = self.session.rows(
            "SELECT count(*) FROM jobs WHERE kind = 'compact' AND state IN ('pending', 'running')"
        )[0]
        assert owed or len(self.session.window()) < 12


TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
