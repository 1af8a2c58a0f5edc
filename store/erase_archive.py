"""Erases a person from the archive: files that hold something of theirs are written anew without it."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from store.archive import Archive, ArchiveRow, location_of, text_of
from store.archive_file import Contents, Item, checksum, decode, encode
from store.erase_rows import Person, RowEraser, embedded
from store.migrate import schema_version

_SHARED_FROM = ("message",)


def erase_with_archive(eraser: RowEraser, archive: Archive | None, held: Callable[[], None]) -> list[str]:
    """Erases a person, whom `eraser.learn` knows, from a database and its archive; as `erase_archived`.

    What was made of a guest's words goes before the words: killed anywhere, the next call still knows what was made.
    """
    left: list[str] = []
    if archive is not None:
        learn_archived(archive, eraser.person)
    eraser.forget_made_of()
    if archive is not None:
        left = erase_archived(archive, eraser, eraser.counts, held)
    eraser.run()
    return left


def learn_archived(archive: Archive, person: Person) -> None:
    """Adds what the person said as a guest and is archived by now, and the timeline made of it.

    Raises:
        ArchiveUnavailable: the folder cannot be read.
    """
    for _, item in _items(archive, person.namespace, "message"):
        if item["user_id"] != person.user_id and speaker(item) == person.user_id:
            row = item["row"]
            person.guest_ids.add(row["id"])
            person.guest_turns.add((row["session_pk"], row["turn"]))
    sessions = {session for session, _ in person.guest_turns}
    if sessions:
        entries = [item["row"] for _, item in _items(archive, person.namespace, "timeline")]
        told = {row["id"]: row.get("rolled_into") for row in entries if row["session_pk"] in sessions}
        while told:
            person.timeline_ids |= told.keys()
            above = set(told.values()) - person.timeline_ids - {None}
            person.timeline_ids |= above
            told = {row["id"]: row.get("rolled_into") for row in entries if row["id"] in above}


def erase_archived(archive: Archive, eraser: RowEraser, counts: Counter[str], held: Callable[[], None]) -> list[str]:
    """Writes each file anew that holds something of the person's; what could not be told, in words: a damaged part may
    be theirs.

    The caller holds the nightly run's lease, so that nobody else writes archive files; `held` checks that before each
    file is touched, and extends it.

    Raises:
        ArchiveUnavailable: the folder cannot be read or written; asking again goes on.
        LeaseLost: somebody else has the lease; asking again goes on.
    """
    left, person = [], eraser.person
    for name in archive.strays():
        held()
        _clear_stray(archive, name, person)
    rows = archive.files(namespace=person.namespace)
    # What was made of a guest's messages before these: they tell what was made of them.
    for row in sorted(rows, key=lambda row: row.kind in _SHARED_FROM):
        found = archive.read(row)
        if found.damage:
            left.append(
                f"archive file {row.location} is damaged ({found.damage[0]}): its unreadable part may be theirs"
            )
        theirs = [item for item in found.items if is_theirs(item, person)]
        if theirs:
            for item in theirs:
                person.said(text_of(item))
            with archive.db.atomic():
                eraser.forget_cached([text for item in theirs for text in _embedded(item)])
            held()
            _rewrite(archive, row, found, [item for item in found.items if not is_theirs(item, person)])
            counts["archived_items"] += len(theirs)
            counts["archive_files_rewritten"] += 1
    return left


def is_theirs(item: Item, person: Person) -> bool:
    """The item is the person's, or what they said as a guest in a shared session, or was made of that."""
    if item["namespace"] != person.namespace:
        return False
    if item["kind"] == "dead_letter":
        return _is_their_letter(item["row"], person)
    return person.user_id in (item["user_id"], speaker(item)) or _made_of_guest(item, person)


def speaker(item: Item) -> str | None:
    """The guest who said it, in a session of somebody else's."""
    metadata = item["row"].get("metadata") if item["kind"] == "message" else None
    spoken: Mapping[str, Any] = json.loads(metadata) if isinstance(metadata, str) else {}
    return spoken.get("user_id")


def guests(archive: Archive) -> set[tuple[str, str]]:
    """Namespace and name of all who said something that is archived as a guest.

    Raises:
        ArchiveUnavailable: the folder cannot be read.
    """
    found = ((item["namespace"], speaker(item)) for _, item in _items(archive, None, "message"))
    return {(namespace, user) for namespace, user in found if user is not None}


def _items(archive: Archive, namespace: str | None, kind: Any) -> Iterator[tuple[ArchiveRow, Item]]:
    for row in archive.files(namespace=namespace, kind=kind):
        for item in archive.read(row).items:
            yield row, item


def _made_of_guest(item: Item, person: Person) -> bool:
    row = item["row"]
    if item["kind"] == "summary":
        turns = range(row["turn_first"], row["turn_last"] + 1)
        return any((row["session_pk"], turn) in person.guest_turns for turn in turns)
    if item["kind"] == "fact":
        return not person.guest_ids.isdisjoint(json.loads(row["source_ids"]))
    return item["kind"] == "timeline" and row["id"] in person.timeline_ids


def _is_their_letter(row: Mapping[str, Any], person: Person) -> bool:
    """As `erase_dead_letters` has it: an event that names no user is of its session's owner."""
    try:
        body = json.loads(row["body"])
    except ValueError:
        return False
    if not isinstance(body, dict):
        return False
    if row["source"] == "event":
        user = body.get("user_id")
        return user == person.user_id or (user is None and body.get("session_id") in person.session_ids)
    payload = body.get("payload")
    if not isinstance(payload, dict):
        return False
    return payload.get("user_id") == person.user_id or payload.get("session_pk") in person.session_pks


def _embedded(item: Item) -> list[str]:
    if item["kind"] == "message":
        return [embedded(item["row"])]
    former = [json.loads(past["before"]) for past in item.get("memory_history", ()) if past["before"]]
    texts = [item["row"].get("content"), *(before.get("content") for before in former if isinstance(before, dict))]
    return [text for text in texts if isinstance(text, str)]


def _clear_stray(archive: Archive, name: str, person: Person) -> None:
    """A file that is not recorded goes, unless it may be others' only copy: that stays without what is the person's."""
    found = Contents({}, []) if archive.needless(name) else decode(archive.folder.get(name))
    if not found.header or found.damage:
        archive.folder.delete(name)
        return
    kept = [item for item in found.items if not is_theirs(item, person)]
    if len(kept) == len(found.items):
        return
    for item in found.items:
        if is_theirs(item, person):
            person.said(text_of(item))
    if kept:
        header = {field: found.header[field] for field in ("schema", "namespace", "kind")}
        data = encode(header, kept)
        ids = [item["row"]["id"] for item in kept]
        archive.put(location_of(header["namespace"], header["kind"], ids, data), data)
    archive.folder.delete(name)


def _rewrite(archive: Archive, row: ArchiveRow, found: Contents, kept: list[Item]) -> None:
    if not kept:
        with archive.db.atomic():
            archive.db.run("archive_forget", id=row.id)
    else:
        schema = found.header.get("schema", schema_version(archive.db))
        data = encode({"schema": schema, "namespace": row.namespace, "kind": row.kind}, kept)
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
