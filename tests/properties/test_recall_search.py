"""Whatever is stored and asked: a search stays within its scope and filter, and finds what plainly fits best.

The reference is a plain list of the same rows, filtered and compared one by one.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.filters import Filter
from memory.terms import query_terms, terms
from memory.types import Kind, Scope
from recall.meaning_arm import QuerySpace
from recall.search import Query, search_store
from store import facts, fulltext, messages, sessions, spaces, vectors
from store.db import Database
from store.messages import EMBEDDED, MessageRow
from tests.unit.facts_support import fact
from tests.unit.store_support import NOW, opened, session, vector

DAY = 86_400.0
USERS, SESSIONS, AGENTS = ("alice", "bob"), ("1", "2"), ("cook", "clerk")
TYPES, SOURCES, COLOURS = ("normal", "decision"), ("erp", "crm"), ("red", "blue")
WORDS = ("tea", "coffee", "violin", "garden", "scope", "OR", "s1", "茶叶")
LIMIT = 5


@dataclass(frozen=True)
class Told:
    """One row, as it was stored."""

    kind: Kind
    user: str
    session: str
    agent: str | None
    type: str
    source: str | None
    colour: str | None
    day: int
    words: tuple[str, ...]
    closed: bool
    tags: tuple[str, ...]


told = st.builds(
    Told,
    kind=st.sampled_from(["message", "message", "fact"]),
    user=st.sampled_from(USERS),
    session=st.sampled_from(SESSIONS),
    agent=st.sampled_from([None, *AGENTS]),
    type=st.sampled_from(TYPES),
    source=st.sampled_from([None, *SOURCES]),
    colour=st.sampled_from([None, *COLOURS]),
    day=st.integers(1, 9),
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True).map(tuple),
    closed=st.booleans(),
    tags=st.sampled_from([(), ("home",), ("home", "work")]),
)
maybe_day = st.one_of(st.none(), st.integers(1, 9).map(lambda day: NOW + day * DAY))
filters = st.builds(
    Filter,
    since=maybe_day,
    until=maybe_day,
    types=st.sampled_from([(), (), ("decision",)]),
    tags=st.sampled_from([(), (), ("home",)]),
    data_source=st.sampled_from([None, None, *SOURCES]),
    metadata=st.sampled_from([{}, {}, {"colour": "red"}]),
    as_of=maybe_day,
    include=st.sampled_from([(), (), ("superseded",)]),
)
scopes = st.builds(
    lambda user, number, agent: Scope(user, session_id=number and f"{user}-{number}", agent_id=agent),
    st.sampled_from(USERS),
    st.sampled_from([None, None, *SESSIONS]),
    st.sampled_from([None, None, *AGENTS]),
)


@contextmanager
def filled(rows: list[Told]) -> Iterator[tuple[Database, dict[tuple[Kind, int], Told]]]:
    """A real database with the rows, and which of them each key is."""
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as db:
        space = spaces.ensure_space(db, "m", 8, NOW)
        known: dict[tuple[Kind, int], Told] = {}
        for number, row in enumerate(rows):
            scope = Scope(row.user, session_id=f"{row.user}-{row.session}")
            content = f"{' '.join(row.words)} n{number}"
            row_id = _message(db, scope, row, content) if row.kind == "message" else _fact(db, scope, row, content)
            owner = session(db, scope)
            known[row.kind, row_id] = row
            if row.kind == "message" or not row.closed:
                vectors.upsert(db, space, [(row.kind, row_id, owner.scope_id, owner.id, direction(row.words))])
        yield db, known


def _message(db: Database, scope: Scope, row: Told, content: str) -> int:
    owner = session(db, scope)
    metadata = json.dumps({} if row.colour is None else {"colour": row.colour})
    with db.atomic():
        new = messages.next_message_id(db)
        owner.last_seq += 1
        owner.message_count += 1
        owner.token_count += 5
        stored = MessageRow(
            new, owner.id, owner.scope_id, f"e{new}", owner.last_seq, 1, None, "user", content, row.type, row.agent,
            row.source, None, None, 5, EMBEDDED, NOW + row.day * DAY, NOW, metadata,
        )  # fmt: skip
        messages.insert_many(db, [stored])
        fulltext.index(db, [("message", new, owner.scope_id, " ".join(terms(content)))])
        sessions.save_many(db, [owner])
    return new


def _fact(db: Database, scope: Scope, row: Told, content: str) -> int:
    origin = {"owner_agent": row.agent, "data_source": row.source}
    kind = "decision" if row.type == "decision" else "fact"
    made = fact(
        db, f"f-{content}", content, scope, said_at=NOW + row.day * DAY, origin=origin, memory_type=kind, tags=row.tags
    )
    if row.closed:
        end = fact(db, f"end-{content}", f"later {made.id}", scope, said_at=NOW + (row.day + 2) * DAY)
        with db.atomic():
            facts.supersede(db, made, end, actor="gate", reason="changed", now=NOW)
            facts.set_status(db, end, "archived", actor="test", reason="only ends the other", now=NOW)
    return made.id


def direction(words: tuple[str, ...]) -> bytes:
    return vector(*(1.0 if word in words else 0.05 for word in WORDS))


def fits(row: Told, scope: Scope, by: Filter, now: float) -> bool:
    """The filter once more, row by row and in other words than the store's."""
    at = NOW + row.day * DAY
    if row.user != scope.user_id or scope.session_id not in (None, f"{row.user}-{row.session}"):
        return False
    if by.data_source is not None and row.source not in (None, by.data_source):
        return False
    if by.since is not None and at < by.since:
        return False
    if by.until is not None and at >= by.until:
        return False
    if row.kind == "message":
        return (
            scope.agent_id in (None, row.agent)
            and (not by.types or row.type in by.types)
            and not by.tags
            and ("colour" not in by.metadata or row.colour == by.metadata["colour"])
            and (by.as_of is None or at < by.as_of)
        )
    return _fact_fits(row, scope, by, at, now)


def _fact_fits(row: Told, scope: Scope, by: Filter, at: float, now: float) -> bool:
    moment = now if by.as_of is None else by.as_of
    held = at <= moment and (not row.closed or moment < at + 2 * DAY)
    if by.as_of is None:
        held = (not row.closed and at <= now) or "superseded" in by.include
    return (
        held
        and (scope.agent_id is None or row.agent in (None, scope.agent_id))
        and (not by.types or (row.type == "decision" and "decision" in by.types))
        and set(by.tags) <= set(row.tags)
        and not by.metadata
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(told, min_size=1, max_size=14),
    scopes,
    filters,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
    st.booleans(),
)
def test_a_search_stays_within_and_misses_nothing_that_plainly_fits(
    rows: list[Told], scope: Scope, by: Filter, asked: list[str], embeds: bool
) -> None:
    now = NOW + 20 * DAY
    text = " ".join(asked)
    with filled(rows) as (db, known):
        query = QuerySpace(direction(tuple(asked)), "m", 8) if embeds else None
        wanted = Query(text, LIMIT, ("message", "fact"), query, filter=by)
        with db.snapshot():
            found = [(hit.kind, hit.id) for hit in search_store(db, scope, wanted, (), now).hits]
        allowed = {key for key, row in known.items() if fits(row, scope, by, now)}
        assert set(found) <= allowed
        needed = set(query_terms(text))
        shares = {key: len(needed & set(terms(" ".join(known[key].words)))) for key in allowed}
        best = [key for key, held in shares.items() if held == len(needed)]
        others = [held for key, held in shares.items() if key not in best]
        if len(best) == 1 and not any(others):
            assert best[0] in found, f"{best[0]} alone holds {needed}"
        if not embeds:
            assert all(shares[key] for key in found), "by words alone nothing is found that holds none"
        elif allowed:
            assert found, "with vectors something is nearest"
