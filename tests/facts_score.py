"""Scores the extraction of facts on dialogues with the right outcome (tests/data/facts/*.jsonl).

A line: `sessions` of turns (`U` the user, `A` the assistant), each of a `user` at a time `at`; and what must come of
it. A fact is meant by words that its content must hold, each of which may be alternatives separated by `|`:
`active` must stand; `over` are pairs of a fact that must be superseded and the one that must stand for it; `gone` must
not stand any more; `held` must be a candidate with a reason; `may` may stand; `same` may be joined from several
messages; `ended` may be superseded. Whatever else stands is wrong, and so is every other merge and supersession.
"""

import asyncio
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory.facts.extraction import ExtractionRules
from memory.facts.model import TYPES, Fact
from memory.types import Scope
from store import facts
from store.db import Database
from tests.unit.workers_support import Bench
from workers.drain import Drain, DrainRules
from workers.extract import ExtractHandler, ExtractRules
from workers.kinds import EXTRACT
from workers.retry import RetryRules

DATA = Path(__file__).parent / "data" / "facts"
RULES = ExtractRules(0.6, 1_000, ExtractionRules(10, TYPES))
DRAIN = DrainRules(lease=60.0, budget=60.0, patience=60.0, retry=RetryRules(1, 1.0, 1.0, 0.0))
Handle = Callable[[Database, Callable[[], float]], ExtractHandler]


def by_rules(db: Database, clock: Callable[[], float]) -> ExtractHandler:
    """The handler without a model."""
    return ExtractHandler(db, None, "", RULES, clock=clock)


@dataclass
class Score:
    """Counts over a set, and what was wrong by dialogue."""

    durable: int = 0
    found: int = 0
    standing: int = 0
    right: int = 0
    changes: int = 0
    changed: int = 0
    gone: int = 0
    left: int = 0
    held: int = 0
    holds: int = 0
    wrong_merges: int = 0
    wrong_supersessions: int = 0
    duplicates: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Durable facts that stand."""
        return self.found / max(1, self.durable)

    @property
    def precision(self) -> float:
        """Standing facts that may stand."""
        return self.right / max(1, self.standing)

    @property
    def updates(self) -> float:
        """Updates and contradictions that end in a supersession."""
        return self.changed / max(1, self.changes)

    def line(self) -> str:
        """For people."""
        return (
            f"recall {self.recall:.3f} ({self.found}/{self.durable}), updates {self.updates:.3f} "
            f"({self.changed}/{self.changes}), precision {self.precision:.3f} ({self.right}/{self.standing}), "
            f"taken back {self.left}/{self.gone}, held {self.holds}/{self.held}, wrong merges {self.wrong_merges}, "
            f"wrong supersessions {self.wrong_supersessions}, duplicates left {self.duplicates}"
        )


def dialogues(path: Path) -> list[dict[str, Any]]:
    """The lines of a set."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def score(folder: Path, lines: Sequence[dict[str, Any]], handle: Handle = by_rules) -> Score:
    """Loads every dialogue into a database in `folder`, extracts, and counts."""
    bench = Bench(folder)
    total = Score()
    try:
        for line in lines:
            _count(total, line, play(bench, line, handle))
    finally:
        bench.db.close()
    return total


def play(bench: Bench, line: dict[str, Any], handle: Handle = by_rules) -> list[Fact]:
    """Stores a dialogue in a namespace of its own, session by session, each extracted when it ends; all its facts."""
    namespace = str(line["id"])
    for number, session in enumerate(line["sessions"]):
        common = {"namespace": namespace, "user_id": session["user"], "session_id": f"{namespace}-{number}"}
        turns = [
            {
                "type": "message",
                "id": f"{namespace}-{number}-{turn}",
                "role": "user" if who == "U" else "assistant",
                "content": text,
                "ts": session["at"],
                **common,
            }
            for turn, (who, text) in enumerate(session["turns"])
        ]
        bench.apply(*turns, {"type": "session.ended", **common})
        drain(bench, handle)
    users = dict.fromkeys(session["user"] for session in line["sessions"])
    return [f for user in users for f in facts.list_facts(bench.db, Scope(user, namespace), 1_000, None)]


def drain(bench: Bench, handle: Handle = by_rules) -> None:
    """Extracts every window that is due."""
    ids = itertools.count(1)

    def clock() -> float:
        return bench.now

    drained = Drain(
        bench.db, handle(bench.db, clock), DRAIN, clock=clock, ids=lambda: f"t{next(ids)}", in_order=(EXTRACT,)
    )
    asyncio.run(drained.run())


def holds(words: Sequence[str], fact: Fact) -> bool:
    """The fact's content has every word, or an alternative of it."""
    content = fact.content.lower()
    return all(any(part.lower() in content for part in word.split("|")) for word in words)


def _count(total: Score, line: dict[str, Any], found: Sequence[Fact]) -> None:
    active = [f for f in found if f.status == "active"]
    superseded = [f for f in found if f.status == "superseded"]
    pairs = line.get("over", [])
    wrong: list[str] = []
    for words in line.get("active", []):
        standing = [f for f in active if holds(words, f)]
        total.durable += 1
        total.found += bool(standing)
        total.duplicates += max(0, len(standing) - 1)
        wrong += [f"missing {words}"] * (not standing) + [f"twice {words}"] * (len(standing) > 1)
    for old, new in pairs:
        right = any(holds(old, f) for f in superseded) and any(holds(new, f) for f in active)
        total.changes += 1
        total.changed += right
        wrong += [f"no change of {old} to {new}"] * (not right)
    for words in line.get("gone", []):
        left = not any(holds(words, f) for f in active)
        total.gone += 1
        total.left += left
        wrong += [f"still there {words}"] * (not left)
    for words in line.get("held", []):
        held = any(holds(words, f) and f.status == "candidate" and f.status_reason for f in found)
        total.held += 1
        total.holds += held
        wrong += [f"not held {words}"] * (not held)
    wrong += _errors(total, line, active, superseded)
    total.problems += [f"{line['id']} ({line['covers']}): {problem}" for problem in wrong]


def _errors(total: Score, line: dict[str, Any], active: Sequence[Fact], superseded: Sequence[Fact]) -> list[str]:
    pairs = line.get("over", [])
    allowed = [*line.get("active", []), *line.get("may", []), *(new for _, new in pairs)]
    may_end = [*(old for old, _ in pairs), *line.get("gone", []), *line.get("ended", [])]
    extra = [f for f in active if not any(holds(words, f) for words in allowed)]
    merged = [f for f in active if len(f.source_ids) > 1 and not any(holds(w, f) for w in line.get("same", []))]
    ended = [f for f in superseded if not any(holds(words, f) for words in may_end)]
    total.standing += len(active)
    total.right += len(active) - len(extra)
    total.wrong_merges += len(merged)
    total.wrong_supersessions += len(ended)
    named = (("wrong", extra), ("wrong merge", merged), ("wrong supersession", ended))
    return [f"{what}: {fact.content!r}" for what, those in named for fact in those]
