"""A change of embedding model: piece by piece, and searches use the old space until the new one is complete."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import pytest

from memory.types import Scope
from store import embedding_cache, jobs, messages, space_change, spaces, vectors
from store.db import Database
from store.jobs import Job
from store.spaces import Space
from tests.unit.store_support import NOW, opened, say, session, summarise, vector
from workers.outcomes import Done, Failed
from workers.reembed import ReembedHandler, begin, forget_retired

ANN = Scope("ann", session_id="a")


class Model:
    """Embeds a text as its length, in one dimension of many."""

    def __init__(self, model: str, dimensions: int) -> None:
        self.model, self.dimensions = model, dimensions
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[bytes]:
        self.asked += texts
        return [vector(1, len(text), dimensions=self.dimensions) for text in texts]

    async def aclose(self) -> None:
        pass


OLD, NEW = Model("old", 8), Model("new", 16)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path) as opened_db:
        yield opened_db


def embedded(db: Database, count: int = 5) -> Space:
    """Messages of Ann's and one summary, embedded by the old model."""
    space = spaces.ensure_space(db, OLD.model, OLD.dimensions, NOW)
    ids = say(db, ANN, *(f"message {n}" for n in range(count)))
    row = session(db, ANN)
    summary = summarise(db, ANN, 1, "a summary")
    assert summary is not None
    old = vector(1, dimensions=8)
    vectors.upsert(db, space, [("message", i, row.scope_id, row.id, old) for i in ids])
    vectors.upsert(db, space, [("summary", summary, row.scope_id, row.id, old)])
    return space


def drain(db: Database, model: Model, batch: int = 2, most: int = 100, now: float = NOW) -> int:
    """Does pieces until none is due; how many."""
    handler = ReembedHandler(db, model, batch=batch, clock=lambda: now)
    for number in range(most):
        claimed = jobs.claim(db, handler.kind, limit=1, lease=60.0, now=now, token=f"t{now}-{number}-{model.model}")
        if not claimed:
            return number
        outcomes = asyncio.run(handler.work(claimed))
        with db.atomic():
            handler.write([outcome for outcome in outcomes if isinstance(outcome, Done)])
            jobs.finish(db, claimed, now)
    return most


def active(db: Database) -> str | None:
    found = spaces.active_space(db)
    return found.model if found else None


def test_pieces_fill_the_new_space_and_then_it_is_searched(db: Database) -> None:
    old = embedded(db)
    assert begin(db, NEW, NOW) and not begin(db, NEW, NOW)
    assert drain(db, NEW, most=2) == 2
    assert active(db) == "old"
    assert space_change.filling(db) == space_change.Filling("old", 8, "new", 16, 4, 6)
    assert drain(db, NEW) == 2
    assert active(db) == "new" and space_change.filling(db) is None
    new = spaces.active_space(db)
    assert new is not None and vectors.count(db, new) == 6
    assert len(vectors.knn(db, new, Scope("ann"), vector(1, dimensions=16), 10)) == 6
    assert not begin(db, NEW, NOW)
    assert vectors.count(db, old) == 6, "it is deleted later, a little at a time"


def test_what_the_new_model_embedded_already_is_not_embedded_again(db: Database) -> None:
    embedded(db, 2)
    new = spaces.ensure_space(db, NEW.model, NEW.dimensions, NOW)
    row = session(db, ANN)
    vectors.upsert(db, new, [("message", 1, row.scope_id, row.id, vector(1, dimensions=16))])
    embedding_cache.put_many(db, new.id, {embedding_cache.digest("message 1"): vector(0, 1, dimensions=16)})
    model = Model("new", 16)
    begin(db, model, NOW)
    drain(db, model, batch=10)
    assert model.asked == ["a summary"]
    assert vectors.fetch(db, new, "message", [2]) == {2: vector(0, 1, dimensions=16)}


def test_rows_without_a_text_hold_nothing_up(db: Database) -> None:
    old = embedded(db, 2)
    row = session(db, ANN)
    vectors.upsert(db, old, [("message", 900, row.scope_id, row.id, vector(1, dimensions=8))])
    begin(db, NEW, NOW)
    drain(db, NEW)
    assert active(db) == "new"


def test_what_is_written_to_the_old_space_meanwhile_is_not_left_behind(db: Database) -> None:
    old = embedded(db, 2)
    begin(db, NEW, NOW)
    drain(db, NEW, batch=10, most=1)
    [late] = say(db, ANN, "said to a worker with the old model")
    row = session(db, ANN)
    vectors.upsert(db, old, [("message", late, row.scope_id, row.id, vector(1, dimensions=8))])
    # Behind the piece that comes next, as if its key were a smaller one.
    [job] = jobs.claim(db, "reembed", limit=1, lease=60.0, now=NOW, token="x")
    jobs.release(db, [job], NOW)
    db.script("skip", f"UPDATE jobs SET subject = subject || '9' WHERE id = {job.id}")
    assert drain(db, NEW) >= 2
    new = spaces.active_space(db)
    assert new is not None and new.model == "new"
    assert list(vectors.fetch(db, new, "message", [late])) == [late]


def test_going_back_to_the_old_model_ends_it(db: Database) -> None:
    embedded(db)
    begin(db, NEW, NOW)
    drain(db, NEW, most=1)
    assert drain(db, OLD) == 1
    assert active(db) == "old" and space_change.filling(db) is None and not begin(db, OLD, NOW)
    model = Model("new", 16)
    assert begin(db, model, NOW + 1)
    drain(db, model, batch=10, now=NOW + 1)
    assert active(db) == "new" and len(model.asked) == 4, "two were done before"


def test_the_old_space_goes_little_by_little(db: Database) -> None:
    old = embedded(db)
    embedding_cache.put_many(db, old.id, {embedding_cache.digest("x"): vector(1, dimensions=8)})
    begin(db, NEW, NOW)
    drain(db, NEW, batch=10)
    assert space_change.forget_retired(db, 4) == 5
    assert spaces.active_space(db) is not None and vectors.count(db, old) == 2
    assert forget_retired(db) == 2
    assert [space.model for space in spaces.all_spaces(db)] == ["new"]
    assert db.value("spaces_has_table", table=old.table) is None
    assert forget_retired(db) == 0


def test_a_model_that_comes_back_finds_what_is_left(db: Database) -> None:
    embedded(db)
    begin(db, NEW, NOW)
    drain(db, NEW, batch=10)
    space_change.forget_retired(db, 2)
    model = Model("old", 8)
    assert begin(db, model, NOW)
    drain(db, model, batch=10)
    assert active(db) == "old" and len(model.asked) == 2


def test_without_memories_the_new_space_is_used_at_once(db: Database) -> None:
    spaces.ensure_space(db, OLD.model, OLD.dimensions, NOW)
    begin(db, NEW, NOW)
    drain(db, NEW)
    assert active(db) == "new"


def test_nothing_begins_without_a_model_or_a_space(db: Database) -> None:
    assert not begin(db, NEW, NOW)
    embedded(db)
    assert not begin(db, None, NOW) and not begin(db, OLD, NOW)
    assert ReembedHandler(db, None, batch=1, clock=lambda: NOW).ready() == "no embedding model is configured"
    assert ReembedHandler(db, NEW, batch=1, clock=lambda: NOW).ready() is None


def test_a_subject_that_names_no_piece_fails_for_good(db: Database) -> None:
    handler = ReembedHandler(db, NEW, batch=1, clock=lambda: NOW)
    [outcome] = asyncio.run(handler.work([Job(1, "reembed", "2:x", "")]))
    assert isinstance(outcome, Failed) and outcome.why == "lasting"


def test_a_dead_piece_is_not_begun_again_by_itself(db: Database) -> None:
    embedded(db)
    begin(db, NEW, NOW)
    [job] = jobs.claim(db, "reembed", limit=1, lease=60.0, now=NOW, token="x")
    jobs.fail(db, job, "no such model", NOW, None)
    assert not begin(db, NEW, NOW)
    assert space_change.filling(db) is not None
    jobs.revive(db, job.id, NOW)
    drain(db, NEW)
    assert active(db) == "new"


def test_messages_keep_saying_that_they_are_embedded(db: Database) -> None:
    embedded(db, 1)
    messages.mark_embedded(db, [1])
    begin(db, NEW, NOW)
    drain(db, NEW)
    assert [m.id for m in messages.by_ids(db, Scope("ann"), [1])] == [1]
