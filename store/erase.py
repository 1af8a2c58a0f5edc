"""Erases a person everywhere that can be reached, says what cannot be, and looks for what might be left.

First the tombstones, so that nothing that is on its way comes in behind the erasure; then rows, archive, Redis, listed
backups; then the files themselves are written anew. Every part may be repeated: erasing again goes on where a crash
stopped it.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import redis

from sidestream.keys import Keys
from store import holds, leases, tombstones
from store.archive import Archive
from store.archive_folder import LocalArchive
from store.backup import ARCHIVE, DATABASE, rewrite_manifest, tidy
from store.db import Database
from store.erase_archive import erase_with_archive
from store.erase_proof import Search, folder_files
from store.erase_redis import RedisEraser
from store.erase_rows import Person, RowEraser, rewrite
from store.errors import StoreBusy, StoreError
from store.nightly import LEASE, LEASE_SECONDS
from store.opening import open_database
from store.redis_client import REDIS_ERRORS
from store.tombstones import Marker

_REFUSALS: tuple[type[Exception], ...] = (*REDIS_ERRORS, StoreError)


@dataclass(frozen=True, slots=True)
class Reach:
    """What an erasure can reach. `redis_folder` is the embedded server's, `spool` that of this host's publishers."""

    db: Database
    archive: Archive
    client: "redis.Redis"
    keys: Keys
    data_dir: Path
    spool: Path
    redis_folder: Path | None = None


@dataclass(slots=True)
class Erased:
    """What was erased, by kind; `left`: what could not be reached or told; `found`: where something still stands."""

    counts: Counter[str] = field(default_factory=Counter)
    left: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Nothing is left and nothing was found."""
        return not self.left and not self.found


def erase(reach: Reach, namespace: str, user_id: str, *, actor: str, owner: str, clock: Callable[[], float]) -> Erased:
    """Erases a user of a namespace.

    Raises:
        LegalHold: a hold stands on the user, on the namespace, or on somebody in whose sessions they spoke; nothing
            was erased.
        LeaseLost: the nightly run took over, after this had been held up for long; ask again.
        StoreBusy: the nightly run is at work, or the file stayed locked; ask again.
        StoreError: SQLite or the archive refused; what was erased before stays so.
    """
    db, person, result = reach.db, Person(namespace, user_id), Erased()
    holds.refuse_erasure(db, namespace, user_id)
    lease = leases.acquire(db, LEASE, owner, LEASE_SECONDS, clock())
    if lease is None:
        raise StoreBusy("the nightly run is at work on the archive; ask again when it is done")

    def held() -> None:
        with db.atomic():
            leases.hold(db, lease, clock())

    try:
        at = clock()
        marker = Marker.of(reach.data_dir, create=True)
        _stored(db, reach.archive, person, marker, at, result, held)
        _redis(reach, person, at, result)
        # Sessions that only Redis knew of are known now.
        tombstones.put(db, _digests(person, marker), at)
        for place in [place for (place,) in db.tuples("backups_places")]:
            held()
            _backup(Path(place), reach.db, person, marker, at, result, held)
        if not rewrite(db):
            result.left.append(f"{db.path}-wal: a reader kept the write-ahead log from being cut; erase again")
    finally:
        leases.release(db, lease)
    _prove(reach, person, result)
    detail = {"user": marker.user(namespace, user_id), "complete": result.complete}
    with db.atomic():
        db.run("audit_note", actor=actor, action="erase", namespace=namespace, detail=json.dumps(detail), now=at)
    return result


def _stored(
    db: Database,
    archive: Archive | None,
    person: Person,
    marker: Marker,
    at: float,
    result: Erased,
    held: Callable[[], None],
) -> None:
    eraser = RowEraser(db, person)
    eraser.learn()
    tombstones.put(db, _digests(person, marker), at)
    result.left += erase_with_archive(eraser, archive, held)
    result.counts += eraser.counts


def _digests(person: Person, marker: Marker) -> list[str]:
    sessions = [marker.session(person.namespace, session_id) for session_id in person.session_ids]
    return [marker.user(person.namespace, person.user_id), *sessions]


def _redis(reach: Reach, person: Person, at: float, result: Erased) -> None:
    eraser = RedisEraser(reach.client, reach.keys, person, at)
    try:
        eraser.run()
    except _REFUSALS as error:
        result.left.append(f"Redis: {error}; erase again when it answers")
    result.counts += eraser.counts


def _backup(
    folder: Path,
    own: Database,
    person: Person,
    marker: Marker,
    at: float,
    result: Erased,
    held: Callable[[], None],
) -> None:
    if not (folder / DATABASE).exists():
        result.left.append(f"backup {folder} is not where it was made: erase it there by hand, or delete it")
        return
    try:
        with open_database(folder / DATABASE, clock=own.clock) as db:
            archive = Archive(db, LocalArchive(folder / ARCHIVE)) if (folder / ARCHIVE).exists() else None
            _stored(db, archive, person, marker, at, result, held)
            rewrite(db)
        tidy(folder / DATABASE)
        rewrite_manifest(folder, own)
        result.counts["backups"] += 1
    except StoreError as error:
        result.left.append(f"backup {folder}: {error}")


def _prove(reach: Reach, person: Person, result: Erased) -> None:
    search = Search(reach.db, person)
    path = reach.db.path
    result.found += search.files([path, path.with_name(path.name + "-wal")])
    result.found += search.archive(reach.archive.folder)
    spooled = search.files(folder_files([reach.spool]))
    result.left += [f"{line}; it comes in when Redis takes it: erase again then" for line in spooled]
    backups = [Path(place) for (place,) in reach.db.tuples("backups_places")]
    result.found += search.files(folder_files(backups))
    for backup in backups:
        result.found += search.archive(LocalArchive(backup / ARCHIVE))
    try:
        result.found += search.redis(reach.client, reach.keys.prefix)
    except REDIS_ERRORS as error:
        result.left.append(f"Redis: {error}; it could not be searched")
    if reach.redis_folder is not None:
        result.found += search.files(folder_files([reach.redis_folder]))
