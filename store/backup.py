"""Online backup into a folder, and restore from there into an empty one.

A backup holds the database (compacted, one moment of it), the archive's files where they are local, the key and list
of tombstones, and a manifest with checksums. Who was erased after it was made is erased again when it is restored.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from store import tombstones
from store.archive import Archive
from store.archive_folder import LocalArchive
from store.db import Database
from store.erase_archive import erase_with_archive, guests
from store.erase_rows import Person, RowEraser, rewrite
from store.errors import NotFound, StoreBusy, StoreCorrupt, StoreError, StoreUnavailable
from store.migrate import schema_version
from store.opening import open_database
from store.tombstones import KEY_FILE, LIST_FILE, Marker

DATABASE: Final = "sidestream.db"
ARCHIVE: Final = "archive"
MANIFEST: Final = "backup.json"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds."""

    folder: Path
    byte_count: int
    archive_files: int
    missing: tuple[str, ...]


def backup(archive: Archive, folder: Path, now: float) -> Backup:
    """Writes a backup into `folder`, which must be new or empty; writers go on meanwhile.

    Files of an archive that lies in a bucket are not copied; `missing` names recorded files that are gone.

    Raises:
        StoreUnavailable: the folder is not empty or cannot be written.
        StoreFull: there is no room for it; what was written is removed.
        StoreBusy: somebody was erased meanwhile; the backup is removed.
    """
    db = archive.db
    made = not folder.exists()
    erased = db.tuples("tombstones_all")
    _need_empty(folder)
    try:
        _private(folder)
        _copy_database(db, folder / DATABASE)
        copied, missing = _copy_archive(folder, archive.folder)
        for name in (KEY_FILE, LIST_FILE):
            if (source := db.path.with_name(name)).exists():
                _copy(source, folder / name)
        _write_manifest(folder, db, now)
    except (StoreError, OSError) as error:
        _remove(folder, made)
        if isinstance(error, OSError):
            raise StoreUnavailable(f"{folder}: cannot be written: {error.strerror}") from error
        raise
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    with db.atomic():
        # An erasure writes its tombstones first and asks for backups later: it reaches this one, or is seen here.
        meanwhile = db.tuples("tombstones_all") != erased
        if not meanwhile:
            db.run(
                "backups_add",
                location=str(folder.resolve()),
                checksum=_checksum(folder / DATABASE),
                byte_count=size,
                now=now,
            )
    if meanwhile:
        _remove(folder, made)
        raise StoreBusy("somebody was erased while the backup was written, and may stand in it; make it again")
    return Backup(folder, size, copied, tuple(missing))


def check(folder: Path) -> dict[str, Any]:
    """The backup's manifest, once every file in it has its checksum.

    Raises:
        NotFound: there is no backup in the folder.
        StoreCorrupt: names the files that are missing or altered.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise NotFound(f"{folder}: no backup: it has no {MANIFEST}")
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        files: dict[str, str] = manifest["files"]
    except (ValueError, KeyError) as error:
        raise StoreCorrupt(f"{path}: cannot be read: {error}") from error
    wrong = [name for name, told in files.items() if not (folder / name).is_file() or _checksum(folder / name) != told]
    if wrong:
        raise StoreCorrupt(f"{folder}: missing or altered: {', '.join(sorted(wrong))}")
    return manifest


def restore(folder: Path, data_dir: Path, *, erased_in: Path | None, clock: Callable[[], float]) -> int:
    """Puts the backup into `data_dir`, which must be without a database; how many users were erased again.

    `erased_in` is the data folder with the tombstones of erasures after the backup, by default `data_dir` itself where
    it has any: whoever they name is erased from what was restored, before anybody reads it.

    Raises:
        NotFound, StoreCorrupt: as `check`; nothing was written.
        StoreUnavailable: there is a database already, or the folder cannot be written.
    """
    manifest = check(folder)
    if (data_dir / DATABASE).exists():
        raise StoreUnavailable(f"{data_dir / DATABASE}: is there already: restore into an empty folder")
    source = data_dir if erased_in is None else erased_in
    known = tombstones.listed(source)
    key = Marker.of(source).key if known else None
    part = data_dir / f"{DATABASE}.part"
    try:
        _private(data_dir)
        for name in manifest["files"]:
            if name in (KEY_FILE, LIST_FILE) and (data_dir / name).exists():
                # It tells of later erasures than the backup's, or is what a restore that was killed has written.
                continue
            target = part if name == DATABASE else data_dir / name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _copy(folder / name, target)
        if key is not None:
            (data_dir / KEY_FILE).write_bytes(key)
            (data_dir / KEY_FILE).chmod(0o600)
            _sync(data_dir / KEY_FILE)
        again = _erase_again(part, data_dir, known, clock)
        part.replace(data_dir / DATABASE)
    except OSError as error:
        raise StoreUnavailable(f"{data_dir}: cannot be written: {error.strerror}") from error
    return again


def _erase_again(path: Path, data_dir: Path, known: dict[str, float], clock: Callable[[], float]) -> int:
    """Under another name still, so that a restore that was killed leaves no database that looks whole."""
    again = 0
    with open_database(path, clock=clock) as db:
        standing = dict(db.tuples("tombstones_all"))
        new = {digest: at for digest, at in known.items() if standing.get(digest, float("-inf")) < at}
        marker = Marker.of(data_dir) if new else None
        archive = Archive(db, LocalArchive(data_dir / ARCHIVE))
        everybody = {*db.tuples("erase_everybody"), *guests(archive)} if marker is not None else set()
        for namespace, user_id in sorted(everybody):
            if marker is None or marker.user(namespace, user_id) not in new:
                continue
            eraser = RowEraser(db, Person(namespace, user_id))
            eraser.learn()
            erase_with_archive(eraser, archive, lambda: None)
            again += 1
        for digest, at in new.items():
            tombstones.put(db, [digest], at)
        rewrite(db)
        db.tuples("wal_checkpoint")
    tidy(path)
    return again


def tidy(path: Path) -> None:
    """Removes what opening a database left beside it; closed, it is whole without."""
    for suffix in ("-wal", "-shm", ".gate"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _copy_database(db: Database, target: Path) -> None:
    quoted = str(target).replace("'", "''")
    db.script("backup", f"VACUUM INTO '{quoted}'")
    target.chmod(0o600)
    _sync(target)


def _copy_archive(folder: Path, source: Any) -> tuple[int, list[str]]:
    """After the database: what it records is there then, or was written anew by an erasure meanwhile."""
    with open_database(folder / DATABASE) as copy:
        recorded = [location for (location,) in copy.tuples("archive_locations")]
    tidy(folder / DATABASE)
    if not isinstance(source, LocalArchive):
        return 0, []
    missing = []
    for location in recorded:
        path = Path(source.place) / location
        target = folder / ARCHIVE / location
        if path.exists():
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _copy(path, target)
        else:
            missing.append(location)
    return len(recorded) - len(missing), missing


def _write_manifest(folder: Path, db: Database, now: float) -> None:
    files = {p.relative_to(folder).as_posix(): _checksum(p) for p in sorted(folder.rglob("*")) if p.is_file()}
    text = json.dumps({"made_at": now, "schema": schema_version(db), "files": files}, indent=1)
    path = folder / MANIFEST
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    _sync(path)


def rewrite_manifest(folder: Path, db: Database) -> None:
    """After the backup's files were changed: an erasure reaches into backups."""
    made_at = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["made_at"]
    (folder / MANIFEST).unlink()
    _write_manifest(folder, db, made_at)


def _need_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StoreUnavailable(f"{folder}: is not empty: a backup needs a folder of its own")


def _remove(folder: Path, made: bool) -> None:
    for path in folder.iterdir() if folder.is_dir() else ():
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    if made:
        shutil.rmtree(folder, ignore_errors=True)


def _private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o600)
    _sync(target)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
