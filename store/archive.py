"""The archive: which files there are, written and verified before their rows are deleted, searched on request.

A file is made outside any transaction and read back; only then one transaction deletes its rows and records it.
Killed in between, the rows still stand and the file is not recorded: the same rows give the same file again, and
`strays` names what was left over.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memory.retention import Type
from store import archive_kinds
from store.archive_file import Contents, Item, checksum, decode, encode
from store.archive_folder import HALF_WRITTEN, ArchiveFolder
from store.archive_kinds import KINDS
from store.db import Database
from store.errors import ArchiveDamaged, StoreError
from store.migrate import schema_version

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class ArchiveRow:
    """One recorded file. `starts_at` to `ends_at` (unix seconds) is what its items are about."""

    id: int
    namespace: str
    kind: Type
    location: str
    checksum: str
    row_count: int
    byte_count: int
    starts_at: float
    ends_at: float
    created_at: float


@dataclass(frozen=True, slots=True)
class Written:
    """A file that stands in the folder, whole, and is not recorded yet."""

    namespace: str
    kind: Type
    ids: tuple[int, ...]
    location: str
    checksum: str
    byte_count: int
    starts_at: float
    ends_at: float


@dataclass(frozen=True, slots=True)
class Problem:
    """A file with which something is wrong."""

    location: str
    reason: str


class Archive:
    """The archive of one database in one folder."""

    def __init__(self, db: Database, folder: ArchiveFolder) -> None:
        self.db = db
        self.folder = folder

    def write(self, kind: Type, namespace: str, ids: Sequence[int]) -> Written:
        """Writes the rows' file and reads it back; outside any transaction.

        Raises:
            ArchiveUnavailable: it cannot be written or read.
            ArchiveDamaged: what came back is not what was written.
            StoreError: a transaction is open, or one of the rows is gone.
        """
        if self.db.in_transaction:
            raise StoreError("an archive file is written outside any transaction: others would wait for it")
        items = archive_kinds.items(self.db, KINDS[kind], ids)
        if len(items) != len(set(ids)):
            raise StoreError(f"{len(set(ids)) - len(items)} of the {kind} rows to archive are gone")
        data = encode({"schema": schema_version(self.db), "namespace": namespace, "kind": kind}, items)
        location = location_of(namespace, kind, ids, data)
        self.put(location, data)
        starts, ends = min(i["starts_at"] for i in items), max(i["ends_at"] for i in items)
        return Written(namespace, kind, tuple(ids), location, checksum(data), len(data), starts, ends)

    def put(self, location: str, data: bytes) -> None:
        """Writes a file and reads it back.

        Raises:
            ArchiveUnavailable, ArchiveDamaged: as `write`.
        """
        self.folder.put(location, data)
        if self.folder.get(location) != data:
            raise ArchiveDamaged(f"{self.folder.place}/{location}: what was read back is not what was written")

    def record(self, written: Written, now: float) -> None:
        """Deletes the rows and records their file; inside one transaction.

        Raises:
            StoreError: some of the rows are gone, or no transaction is open; let it roll back.
        """
        if not self.db.in_transaction:
            raise StoreError("rows are deleted in the transaction that records their file")
        deleted = archive_kinds.delete(self.db, KINDS[written.kind], written.ids)
        if deleted != len(written.ids):
            raise StoreError(f"{len(written.ids) - deleted} of the {written.kind} rows to archive are gone")
        self.db.run(
            "archive_record",
            namespace=written.namespace,
            kind=written.kind,
            location=written.location,
            checksum=written.checksum,
            row_count=len(written.ids),
            byte_count=written.byte_count,
            starts_at=written.starts_at,
            ends_at=written.ends_at,
            now=now,
        )

    def files(
        self,
        *,
        namespace: str | None = None,
        kind: Type | None = None,
        since: float | None = None,
        until: float | None = None,
    ) -> list[ArchiveRow]:
        """Recorded files, oldest first; with times, those that overlap with them (unix seconds)."""
        rows = self.db.run("archive_list", namespace=namespace, kind=kind, since=since, until=until)
        return [ArchiveRow(**row) for row in rows]

    def read(self, row: ArchiveRow) -> Contents:
        """What can be read of a file; a checksum that does not fit is among its damage.

        Raises:
            ArchiveUnavailable: the folder cannot be read.
        """
        try:
            data = self.folder.get(row.location)
        except ArchiveDamaged as error:
            return Contents({}, [], [str(error)])
        found = decode(data)
        if checksum(data) != row.checksum:
            found.damage.append("its checksum is not the recorded one")
        return found

    def items(self, rows: Sequence[ArchiveRow], problems: list[Problem]) -> Iterator[Item]:
        """The files' items, each once though it was archived twice; what cannot be read goes to `problems`."""
        seen: set[str] = set()
        for row in reversed(rows):
            found = self.read(row)
            problems += [Problem(row.location, reason) for reason in found.damage]
            for item in reversed(found.items):
                if item["id"] not in seen:
                    seen.add(item["id"])
                    yield item

    def verify(self) -> list[Problem]:
        """Reads every recorded file; what is wrong with any."""
        problems: list[Problem] = []
        for row in self.files():
            problems += [Problem(row.location, reason) for reason in self.read(row).damage]
        return problems

    def strays(self) -> list[str]:
        """Files in the folder that are not recorded: left by a writer that was killed, their rows still stand."""
        known = {location for (location,) in self.db.tuples("archive_locations")}
        return [name for name in self.folder.names() if name not in known]

    def needless(self, name: str) -> bool:
        """Whether a stray holds nothing but what stands in SQLite or a recorded file too, or was left half-written.

        A database that was restored from a backup knows nothing of what was archived after that: such files may hold
        the only copy, and stay.
        """
        if name.endswith(HALF_WRITTEN):
            return True
        found = decode(self.folder.get(name))
        kind = KINDS.get(found.header.get("kind", ""))
        if kind is None or found.damage:
            return False
        alone = _marks(found.items) - _marks(
            archive_kinds.items(self.db, kind, [item["row"]["id"] for item in found.items])
        )
        if alone:
            alone -= _marks(self.items(self.files(namespace=found.header.get("namespace"), kind=kind.name), []))
        return not alone

    def totals(self) -> dict[str, int]:
        """`files`, `items` and `bytes`."""
        return dict(self.db.run("archive_totals")[0])


def _marks(items: Iterable[Item]) -> set[tuple[str, float, str]]:
    """What tells one item from another, also where a number was given twice."""
    return {(item["id"], item["starts_at"], text_of(item)) for item in items}


def text_of(item: Item) -> str:
    """What a person would read of an item."""
    row: dict[str, Any] = item["row"]
    parts = [str(row[name]) for name in ("content", "brief", "report", "body") if row.get(name)]
    parts += [str(said["content"]) for said in item.get("subagent_messages", [])]
    return "\n".join(parts)


def location_of(namespace: str, kind: Type, ids: Sequence[int], data: bytes) -> str:
    """The name of a file with these rows and bytes."""
    plain = namespace if _PLAIN.fullmatch(namespace) else f"ns-{hashlib.sha256(namespace.encode()).hexdigest()[:16]}"
    return f"{plain}/{kind}/{min(ids):012}-{max(ids):012}-{checksum(data)[:16]}.jsonl.zst"
