"""Who was erased, and until when: keyed digests that say nothing to whoever has not the key.

The key lies in `tombstones.key` beside the database, the digests in the database and, for one that is restored from
a backup of before, in `tombstones.jsonl` beside it. What an erased user, or a session of theirs, did up to the
tombstone's moment is not stored again; what comes later is.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from store.db import Database
from store.errors import StoreUnavailable

KEY_FILE, LIST_FILE = "tombstones.key", "tombstones.jsonl"


@dataclass(frozen=True, slots=True)
class Marker:
    """Makes the digests, with the key of one data folder."""

    key: bytes

    @classmethod
    def of(cls, folder: Path, *, create: bool = False) -> "Marker":
        """The folder's own; made first where `create` says so and there is none.

        Raises:
            StoreUnavailable: there is no key, or it cannot be read or written: who was erased cannot be told.
        """
        path = folder / KEY_FILE
        try:
            if create and not path.exists():
                _write_new(path, os.urandom(32))
            return cls(path.read_bytes())
        except OSError as error:
            raise StoreUnavailable(
                f"{path}: {error.strerror}; without it nobody can tell who was erased: put it back from a backup"
            ) from error

    def user(self, namespace: str, user_id: str) -> str:
        """Of a user."""
        return self._digest("user", namespace, user_id)

    def session(self, namespace: str, session_id: str) -> str:
        """Of a session: its events need not name their user."""
        return self._digest("session", namespace, session_id)

    def _digest(self, *parts: str) -> str:
        text = json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return hmac.new(self.key, text, hashlib.sha256).hexdigest()


class Erased:
    """What one write transaction asks: was this user, or this session, erased after that moment? One that finds no
    tombstone at all costs one statement."""

    def __init__(self, db: Database) -> None:
        self._at: dict[str, float] = dict(db.tuples("tombstones_all"))
        self._marker = Marker.of(db.path.parent) if self._at else None

    def since(self, namespace: str, user_id: str | None, session_id: str | None, at: float) -> bool:
        """True for what happened at `at` (unix seconds), at or before the erasure."""
        if self._marker is None:
            return False
        marks = []
        if user_id is not None:
            marks.append(self._marker.user(namespace, user_id))
        if session_id is not None:
            marks.append(self._marker.session(namespace, session_id))
        return any(at <= self._at.get(mark, float("-inf")) for mark in marks)


def put(db: Database, digests: Iterable[str], at: float) -> None:
    """Writes tombstones, beside the database first, so that no crash leaves them there and not here.

    Raises:
        StoreUnavailable: the list cannot be written.
    """
    digests = sorted(set(digests))
    path = db.path.with_name(LIST_FILE)
    lines = "".join(json.dumps({"digest": digest, "at": at}) + "\n" for digest in digests)
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
        path.chmod(0o600)
    except OSError as error:
        raise StoreUnavailable(f"{path}: {error.strerror}") from error
    with db.atomic():
        db.many("tombstones_put", [(digest, at) for digest in digests])


def listed(folder: Path) -> dict[str, float]:
    """The tombstones beside a database, the latest moment of each; none where there is no list.

    Raises:
        StoreUnavailable: it cannot be read.
    """
    path = folder / LIST_FILE
    found: dict[str, float] = {}
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    except OSError as error:
        raise StoreUnavailable(f"{path}: {error.strerror}") from error
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:  # the last line of a writer that was killed, whose tombstone does not stand either
            continue
        found[entry["digest"]] = max(entry["at"], found.get(entry["digest"], 0.0))
    return found


def _write_new(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
