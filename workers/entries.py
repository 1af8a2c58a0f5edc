"""From raw stream entries to events ready to be stored, or to the reason why one cannot be. No database
here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from config.logging import get_logger
from sidestream.errors import InvalidEvent
from sidestream.events import MAX_FUTURE_SECONDS, AnyEvent, Message, check_time, parse_entry
from workers.stream import Entry, entry_time
from workers.utterance import Utterance, utter

log = get_logger("entries")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# No field may be longer than 1 MiB of content, so one beyond this can never be stored, replayed or not.
_KEPT = 2 * 1024 * 1024
_SHOWN = 64 * 1024


@dataclass(slots=True)
class Incoming:
    """A valid event. `occurred_at` is unix seconds."""

    entry_id: str
    body: dict[bytes, bytes]
    event: AnyEvent | Utterance
    event_id: str
    occurred_at: float
    digest: str


@dataclass(frozen=True, slots=True)
class Refused:
    """An entry that cannot be stored, and why. `body` is its fields as text; where some are no text, or too long to
    be kept whole, `altered` in it lists their names, and the entry cannot be replayed."""

    entry_id: str
    namespace: str
    reason: str
    body: dict[str, Any]


def read_entries(
    entries: list[Entry], now: float, found: Sequence[Utterance | None] | None = None
) -> list[Incoming | Refused]:
    """Each entry as an event, or as refused; in order. `found`: what `find_utterances` made of them, if it has."""
    clock = datetime.fromtimestamp(now, UTC)
    if found is None:
        return [_read(entry, clock) for entry in entries]
    latest = now + MAX_FUTURE_SECONDS
    return [
        # Whoever finds utterances knows no clock, so that a time ahead of it is looked at here.
        _read(entry, clock) if said is None or said.occurred_at > latest else _incoming(entry, said)
        for entry, said in zip(entries, found, strict=True)
    ]


def find_utterances(entries: list[Entry]) -> list[Utterance | None]:
    """The messages among the entries; None for other events, and for those that reading refuses, or may refuse."""
    found: list[Utterance | None] = []
    for entry in entries:
        try:
            event = _event(entry)
            found.append(_utterance(entry, event) if isinstance(event, Message) else None)
        except (InvalidEvent, UnicodeDecodeError):
            found.append(None)
        except Exception as error:  # one entry of any shape must not hold up the rest
            log.error("entry_unreadable", entry_id=entry.id, exc_info=error)
            found.append(None)
    return found


def refuse(entry_id: str, fields: dict[bytes, bytes], reason: str) -> Refused:
    """A dead letter of the entry, whatever its bytes are."""
    most = _KEPT if sum(map(len, fields.values())) <= 2 * _KEPT else _SHOWN
    flat: dict[str, Any] = {}
    altered: list[str] = []
    for raw_name, raw_value in fields.items():
        name, value = _shown(raw_name, most), _shown(raw_value, most)
        flat[name] = value
        if (name.encode(), value.encode()) != (raw_name, raw_value):
            altered.append(name)
    namespace = flat.get("namespace") or "default"
    return Refused(entry_id, namespace, reason, {**flat, "altered": altered} if altered else flat)


def tail_of(fields: dict[bytes, bytes]) -> tuple[str, str] | None:
    """Namespace and session whose tail the publisher may have put this entry into; None if it is no
    message."""
    if fields.get(b"type") != b"message":
        return None
    namespace = fields.get(b"namespace", b"") or b"default"
    session = fields.get(b"session_id", b"")
    return namespace.decode("utf-8", "replace"), session.decode("utf-8", "replace")


def _read(entry: Entry, clock: datetime) -> Incoming | Refused:
    try:
        event = _event(entry)
        if event.ts is not None:
            check_time(event.ts, clock)
        if isinstance(event, Message):
            return _incoming(entry, _utterance(entry, event))
        return Incoming(entry.id, entry.fields, event, event.id or entry.id, _occurred_at(entry, event), event.digest())
    except (InvalidEvent, UnicodeDecodeError) as error:
        reason = f"not UTF-8: {error}" if isinstance(error, UnicodeDecodeError) else str(error)
        return refuse(entry.id, entry.fields, reason)
    except Exception as error:  # one entry of any shape must not hold up the rest
        log.error("entry_unreadable", entry_id=entry.id, exc_info=error)
        return refuse(entry.id, entry.fields, f"{type(error).__name__}: {error}")


def _incoming(entry: Entry, said: Utterance) -> Incoming:
    return Incoming(entry.id, entry.fields, said, said.event_id, said.occurred_at, said.digest)


def _utterance(entry: Entry, event: Message) -> Utterance:
    return utter(event, event.id or entry.id, _occurred_at(entry, event))


def _occurred_at(entry: Entry, event: AnyEvent) -> float:
    return entry_time(entry.id) if event.ts is None else (event.ts - _EPOCH).total_seconds()


def _event(entry: Entry) -> AnyEvent:
    return parse_entry({name.decode(): value.decode() for name, value in entry.fields.items()})


def _shown(value: bytes, most: int) -> str:
    if len(value) > most:
        return f"{value[:_SHOWN].decode('utf-8', 'backslashreplace')}… [cut: {len(value)} bytes in all]"
    return value.decode("utf-8", "backslashreplace")
