"""Looks for what was erased in every store and file that can be reached: the proof that nothing is left."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import redis

from store.archive_file import decode
from store.archive_folder import ArchiveFolder
from store.db import Database
from store.erase_rows import Person
from store.errors import ArchiveDamaged

_CHUNK = 8 << 20
_PIECE = 48
_PAGE = 500


class Search:
    """Looks for the person's texts, a piece of each, as they are and as JSON writes them."""

    def __init__(self, db: Database, person: Person) -> None:
        self._db = db
        self._pieces = sorted({text.strip()[:_PIECE] for text in person.needles})
        self._forms = {form: piece for piece in self._pieces for form in _forms(piece)}
        self._longest = max((len(form) for form in self._forms), default=0)
        self._shared: dict[str, bool] = {}

    def files(self, paths: Iterable[Path]) -> list[str]:
        """Files in whose bytes one of the texts stands."""
        return [f"{path}: a text of theirs stands in it" for path in paths if path.is_file() and self._in_file(path)]

    def archive(self, folder: ArchiveFolder) -> list[str]:
        """Archive files in whose text one of the texts stands."""
        found = []
        for name in folder.names():
            try:
                items = decode(folder.get(name)).items
            except ArchiveDamaged:  # it went away between the two calls
                continue
            if self._in(json.dumps(items, ensure_ascii=False).encode("utf-8", "surrogatepass")):
                found.append(f"{folder.place}/{name}: a text of theirs stands in it")
        return found

    def redis(self, client: "redis.Redis", prefix: str) -> list[str]:
        """Keys in whose value one of the texts stands."""
        found = []
        for key, value in _values(client, prefix):
            if self._in(value):
                found.append(f"Redis key {key.decode('utf-8', 'replace')}: a text of theirs stands in it")
        return found

    def _in_file(self, path: Path) -> bool:
        with path.open("rb") as file:
            before = b""
            while chunk := file.read(_CHUNK):
                if self._in(before + chunk):
                    return True
                before = chunk[-self._longest :]
        return False

    def _in(self, data: bytes) -> bool:
        return any(form in data and not self._is_shared(piece) for form, piece in self._forms.items())

    def _is_shared(self, piece: str) -> bool:
        """Somebody else, who stays, said the same."""
        if piece not in self._shared:
            self._shared[piece] = self._db.value("erase_others_hold", text=piece) is not None
        return self._shared[piece]


def folder_files(folders: Sequence[Path]) -> Iterator[Path]:
    """Every file below the folders, in order."""
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*") if path.is_file())


def _forms(piece: str) -> set[bytes]:
    written = (piece, json.dumps(piece, ensure_ascii=False)[1:-1], json.dumps(piece)[1:-1])
    return {text.encode("utf-8", "surrogatepass") for text in written}


def _values(client: Any, prefix: str) -> Iterator[tuple[bytes, bytes]]:
    for key in client.scan_iter(match=f"{prefix}*", count=_PAGE):
        kind = client.type(key)
        if kind == b"stream":
            yield key, b"\n".join(value for _, fields in client.xrange(key) for value in fields.values())
        elif kind == b"string":
            yield key, client.get(key) or b""
        elif kind == b"list":
            yield key, b"\n".join(client.lrange(key, 0, -1))
