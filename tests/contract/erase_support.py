"""A person in every store, over a real Redis, for the tests of erasure."""

from memory.retention import Rule
from memory.types import Scope
from store import (
    dead_letters,
    embedding_cache,
    jobs,
    runs,
    spaces,
    vectors,
)
from store.db import Database
from store.erase import Erased, Reach, erase
from tests.unit.nightly_support import run_night
from tests.unit.store_support import NOW, Clock, say, session, summarise, vector

ADA, BOB = Scope("ada", session_id="of-ada"), Scope("bob", session_id="of-bob")
SECRET = "the zanzibar password is xylophone-quartz"
OTHER = "bob likes his kvetching marmalade in the morning"


def erased(reach: Reach, clock: Clock, user: str = "ada") -> Erased:
    return erase(reach, "default", user, actor="test", owner="test", clock=clock)


def fill(reach: Reach, clock: Clock) -> None:
    """Something of both in every store; the older half of it in the archive."""
    db = reach.db
    space = spaces.ensure_space(db, "m", 8, NOW)
    for scope, text in ((ADA, SECRET), (BOB, OTHER)):
        say(db, scope, f"{text}, as it was archived", "short")
    run_night(reach.archive, clock, Rule("message", "archive", 180), days=400)
    for scope, text in ((ADA, SECRET), (BOB, OTHER)):
        ids = say(db, scope, text, f"{text} again")
        owner = session(db, scope)
        vectors.upsert(db, space, [("message", i, owner.scope_id, owner.id, vector(1.0)) for i in ids])
        embedding_cache.put_many(db, space.id, {embedding_cache.digest(text): vector(1.0)})
        summarise(db, scope, 1, f"{text} in short")
        with db.atomic():
            _more(db, scope, text)


def _more(db: Database, scope: Scope, text: str) -> None:
    owner, user = session(db, scope), scope.user_id
    runs.start(
        db, session_pk=owner.id, scope_id=owner.scope_id, run_id="r", agent_id="a", parent_id=None,
        brief=f"{text} for a sub-agent", started_at=NOW, metadata={},
    )  # fmt: skip
    dead_letters.bury(db, "event", f"{user}-1", "default", "why", {"user_id": user, "content": text}, NOW)
    dead_letters.bury(db, "event", f"{user}-2", "default", "why", {"session_id": scope.session_id, "c": text}, NOW)
    jobs.owe(
        db, "remember", f"event:7:default:{user}", "default", due_at=NOW, now=NOW,
        payload={"session_pk": owner.id, "content": text},
    )  # fmt: skip
    db.script(
        "fact",
        "INSERT INTO long_term_memories (memory_id, scope_id, content, memory_type, status, source_type,"
        " valid_from, created_at, updated_at) VALUES"
        f" ('{user}', {owner.scope_id}, '{text} fact', 'fact', 'active', 'manual', 1, 1, 1)",
    )
    db.script(
        "timeline",
        "INSERT INTO timeline (scope_id, session_pk, level, period, content, starts_at, ends_at, created_at)"
        f" VALUES ({owner.scope_id}, {owner.id}, 'day', 'd', '{text} day', 1, 2, 3)",
    )


def everything(db: Database) -> str:
    """All text of all tables."""
    names = db._execute("t", "SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    return "\n".join(
        str(row)
        for (name,) in names
        if not str(name).startswith("memory_fts")
        for row in db._execute("t", f"SELECT * FROM {name}")
    )
