"""Whatever is stored for whom and whatever is asked by whom: no read leaves its scope."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.terms import terms
from memory.types import Scope
from store import fulltext, messages, runs, sessions, spaces, summaries, vectors
from store.db import Database
from tests.unit.store_support import NOW, opened, say, session, summarise, vector

USERS = ("alice", "bob", "s1", 'x" OR "y')
NAMESPACES = ("default", "other")
WORDS = ("tea", "coffee", "s1", "s2", "violin", "NEAR", "OR", "*", '"', "scope", "茶叶")
users = st.sampled_from(USERS)
namespaces = st.sampled_from(NAMESPACES)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
written = st.lists(st.tuples(namespaces, users, st.integers(1, 2), texts), min_size=1, max_size=12)


@contextmanager
def store() -> Iterator[Database]:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as db:
        yield db


def direction(text: str) -> bytes:
    return vector(*(1.0 if word in text.split() else 0.1 for word in WORDS[:8]))


@settings(max_examples=40, deadline=None)
@given(written, namespaces, users, st.sampled_from([None, "1", "2"]), texts)
def test_searches_and_reads_stay_in_scope(
    rows: list[tuple[str, str, int, str]], namespace: str, user: str, number: str | None, query: str
) -> None:
    with store() as db:
        space = spaces.ensure_space(db, "m", 8, NOW)
        owners: dict[tuple[str, int], tuple[str, str, str]] = {}
        for ns, owner, session_number, text in rows:
            # Session ids are unique within a namespace, so each owner has their own.
            scope = Scope(owner, ns, session_id=f"{owner}-{session_number}")
            [message] = say(db, scope, text)
            row = session(db, scope)
            owners["message", message] = (ns, owner, row.session_id)
            vectors.upsert(db, space, [("message", message, row.scope_id, row.id, direction(text))])
            summary = summarise(db, scope, row.last_seq, text)
            assert summary is not None
            owners["summary", summary] = (ns, owner, row.session_id)
            vectors.upsert(db, space, [("summary", summary, row.scope_id, row.id, direction(text))])
            runs.start(
                db,
                session_pk=row.id,
                scope_id=row.scope_id,
                run_id=str(message),
                agent_id="a",
                brief=text,
                started_at=NOW,
            )
        asked = Scope(user, namespace, session_id=None if number is None else f"{user}-{number}")

        def own(found: tuple[str, str, str]) -> bool:
            return found[:2] == (namespace, user) and asked.session_id in (None, found[2])

        mine = {key for key, found in owners.items() if own(found)}
        wanted = terms(query)
        words = {(c.kind, c.id) for c in fulltext.search(db, asked, wanted, 100)}
        assert words <= mine
        near = {(c.kind, c.id) for c in vectors.knn(db, space, asked, direction(query), 100)}
        assert near == mine, "with room for all, all of the scope is found and nothing else"
        for ids in (range(1, 30), [i for _, i in owners]):
            assert {("message", m.id) for m in messages.by_ids(db, asked, list(ids))} <= mine
            assert {("summary", s.id) for s in summaries.by_ids(db, asked, list(ids))} <= mine
        assert {("summary", s.id) for s in summaries.recent(db, asked, 100)} <= mine
        assert {("message", m.id) for m in messages.window(db, asked, 100)} <= mine
        assert {s.session_id for s in sessions.list_sessions(db, asked, 100)} <= {
            f[2] for f in owners.values() if f[:2] == (namespace, user)
        }
        assert {("message", int(r.run_id)) for r in runs.list_runs(db, asked, 100)} <= mine
