"""Checks that rows, full text, vectors, jobs and archive agree, and repairs what is safe to repair."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from memory.terms import searchable, terms
from store import fulltext, spaces
from store.archive import Archive
from store.db import Database
from store.errors import ArchiveUnavailable, StoreError
from store.spaces import Space

Row: TypeAlias = tuple[Any, ...]

_SLICE = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be, how often, and whether `repair` mends it."""

    check: str
    count: int
    detail: str
    repairable: bool = False
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class _Wrong:
    """What a check found: rows, and the work that mends a slice of them; None where nothing safe does."""

    check: str
    detail: str
    rows: list[Row]
    mend: Callable[[list[Row]], object] | None = None


def examine(archive: Archive, *, repair: bool) -> list[Finding]:
    """Everything that is wrong; with `repair`, what can be is mended, in short transactions.

    Raises:
        StoreError: SQLite refused; a damaged file is a finding and does not raise.
    """
    db = archive.db
    damaged = _integrity(db)
    if damaged:
        # What else is asked of a damaged file says nothing.
        return damaged
    found = []
    for check in (_references, _unindexed, _orphans, _vectors, _unembedded, _without_job, _unsummarised, _miscounted):
        found += [_mended(db, wrong, repair) for wrong in check(db) if wrong.rows]
    return found + _archive(archive)


def _mended(db: Database, wrong: _Wrong, repair: bool) -> Finding:
    if repair and wrong.mend is not None:
        for start in range(0, len(wrong.rows), _SLICE):
            with db.atomic():
                wrong.mend(wrong.rows[start : start + _SLICE])
    mends = wrong.mend is not None
    return Finding(wrong.check, len(wrong.rows), wrong.detail, repairable=mends, repaired=mends and repair)


def _integrity(db: Database) -> list[Finding]:
    try:
        lines = [text for (text,) in db.tuples("integrity_check")]
    except StoreError as error:
        lines = [str(error)]
    return [] if lines == ["ok"] else [Finding("integrity", len(lines), f"{lines[0]}; restore a backup")]


def _references(db: Database) -> list[_Wrong]:
    return [_Wrong("references", "rows refer to rows that are gone", db.tuples("doctor_foreign_keys"))]


def _unindexed(db: Database) -> list[_Wrong]:
    """What has words, may be searched, and stands in no index."""
    rows: list[Row] = []
    for kind, row_id, scope, content, name in db.tuples("doctor_unindexed"):
        words = " ".join(terms(searchable(name if isinstance(name, str) else None, content)))
        if words:
            rows.append((kind, row_id, scope, words))
    return [_Wrong("full text", "memories are not in the index", rows, lambda part: fulltext.index(db, part))]


def _orphans(db: Database) -> list[_Wrong]:
    keys = db.tuples("orphans_in", {"after": -1, "upto": None}, table="memory_fts")
    detail = "index rows have no row of their own"
    return [_Wrong("full text", detail, keys, lambda part: db.many("fulltext_remove", part))]


def _vectors(db: Database) -> list[_Wrong]:
    found = []
    for space in _spaces(db):
        floats = f"{space.table}_floats"
        mend = partial(_drop_vectors, db, space)
        check = f"vectors of {space.model}"
        lost = db.tuples("orphans_in", {"after": -1, "upto": None}, table=floats)
        found.append(_Wrong(check, "vectors have no row of their own", lost, mend))
        for name, detail in (
            ("doctor_lone_floats", "vectors are without their bits"),
            ("doctor_lone_bits", "bits are without their vector"),
        ):
            found.append(_Wrong(check, detail, db.tuples(name, table=space.table), mend))
    return found


def _drop_vectors(db: Database, space: Space, part: list[Row]) -> None:
    db.many("vectors_delete_bits", part, table=space.table)
    db.many("vectors_delete_floats", part, table=space.table)


def _unembedded(db: Database) -> list[_Wrong]:
    """Messages that say they are embedded and have no vector in the active space."""
    detail = "messages are marked as embedded and have no vector"
    return [
        _Wrong("vectors", detail, db.tuples("doctor_unembedded", table=space.table), partial(_embed_again, db))
        for space in _spaces(db)
        if space.active
    ]


def _without_job(db: Database) -> list[_Wrong]:
    detail = "messages wait for an embedding that no job does"
    return [_Wrong("jobs", detail, db.tuples("doctor_without_job"), partial(_embed_again, db))]


def _unsummarised(db: Database) -> list[_Wrong]:
    """Closed turns in recall. Windows of extraction are not looked for: a session's idle time owes what is open, and
    whether an old one was read cannot be told when its job is gone."""
    detail = "closed turns have no summary, and no job makes one"
    return [_Wrong("jobs", detail, db.tuples("doctor_unsummarised"), partial(_summarise_again, db))]


def _summarise_again(db: Database, part: list[Row]) -> None:
    now = db.clock()
    for session_pk, turn, namespace in part:
        db.run("doctor_owe_summary", session_pk=session_pk, turn=turn, namespace=namespace, now=now)


def _embed_again(db: Database, part: list[Row]) -> None:
    now = db.clock()
    for message_id, namespace in part:
        db.run_on("main_messages", "archive_not_embedded", {"id": message_id})
        db.run("archive_owe_embedding", subject=f"message:{message_id}", namespace=namespace, now=now)


def _miscounted(db: Database) -> list[_Wrong]:
    detail = "sessions count another number of messages than they have"
    return [_Wrong("sessions", detail, db.tuples("doctor_miscounted"), lambda part: db.many("doctor_recount", part))]


def _spaces(db: Database) -> list[Space]:
    known = spaces.all_spaces(db) if db.has_vec else []
    return [space for space in known if db.value("spaces_has_table", table=space.table)]


def _archive(archive: Archive) -> list[Finding]:
    try:
        problems, strays = archive.verify(), archive.strays()
    except ArchiveUnavailable as error:
        return [Finding("archive", 1, str(error))]
    found = [Finding("archive", 1, f"{problem.location}: {problem.reason}") for problem in problems]
    if strays:
        # Left to the nightly run, which knows that nobody is writing one.
        found.append(
            Finding(
                "archive", len(strays), "files are not recorded; the nightly run removes those whose rows stand here"
            )
        )
    return found
