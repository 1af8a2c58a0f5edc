"""Erases a person from the archive: files that hold something of theirs are written anew without it."""

import json
from collections import Counter
from collections.abc import Mapping

from store.archive import Archive, ArchiveRow, location_of, text_of
from store.archive_file import Contents, Item, checksum, encode
from store.erase_rows import Person

_HEADER = ("schema", "namespace", "kind")


def erase_archived(archive: Archive, person: Person, counts: Counter[str]) -> list[str]:
    """Writes each file anew that holds something of the person's; what could not be told, in words: a damaged part may
    be theirs.

    The caller holds the nightly run's lease, so that nobody else writes archive files.

    Raises:
        ArchiveUnavailable: the folder cannot be read or written; asking again goes on.
    """
    left = []
    for name in archive.strays():
        archive.folder.delete(name)
    for row in archive.files(namespace=person.namespace):
        found = archive.read(row)
        if found.damage:
            left.append(
                f"archive file {row.location} is damaged ({found.damage[0]}): its unreadable part may be theirs"
            )
            if not found.header:
                continue
        theirs = [item for item in found.items if is_theirs(item, person)]
        if theirs:
            for item in theirs:
                person.said(text_of(item))
            _rewrite(archive, row, found, [item for item in found.items if not is_theirs(item, person)])
            counts["archived_items"] += len(theirs)
            counts["archive_files_rewritten"] += 1
    return left


def is_theirs(item: Item, person: Person) -> bool:
    """The item is the person's, or what they said as a guest in a shared session."""
    if item["namespace"] != person.namespace:
        return False
    if item["user_id"] == person.user_id:
        return True
    metadata = item["row"].get("metadata")
    spoken: Mapping[str, object] = json.loads(metadata) if isinstance(metadata, str) else {}
    return spoken.get("user_id") == person.user_id


def _rewrite(archive: Archive, row: ArchiveRow, found: Contents, kept: list[Item]) -> None:
    if not kept:
        with archive.db.atomic():
            archive.db.run("archive_forget", id=row.id)
    else:
        data = encode({name: found.header[name] for name in _HEADER}, kept)
        location = location_of(row.namespace, row.kind, [item["row"]["id"] for item in kept], data)
        archive.put(location, data)
        with archive.db.atomic():
            archive.db.run(
                "archive_replace",
                id=row.id,
                location=location,
                checksum=checksum(data),
                row_count=len(kept),
                byte_count=len(data),
            )
    archive.folder.delete(row.location)
