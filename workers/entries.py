"""From raw stream entries to events ready to be stored, or to the reason why one cannot be. No database
here."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from config.logging import get_logger
from memory.classify import msg_type
from memory.terms import searchable, terms
from memory.tokens import estimate
from sidestream.errors import InvalidEvent
from sidestream.events import AnyEvent, Message, check_time, parse_entry
from workers.stream import Entry, entry_time

log = get_logger("entries")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# No field may be longer than 1 MiB of content, so one beyond this can never be stored, replayed or not.
_KEPT = 2 * 1024 * 1024
_SHOWN = 64 * 1024


@dataclass(slots=True)
class Incoming:
    """A valid event. `occurred_at` is unix seconds; the last three are filled for messages only."""

    entry_id: str
    event: AnyEvent
    event_id: str
    digest: str
    occurred_at: float
    body: dict[bytes, bytes]
    terms: str = ""
    tokens: int = 0
    msg_type: str = "normal"


@dataclass(frozen=True, slots=True)
class Refused:
    """An entry that cannot be stored, and why. `body` is its fields as text; where some are no text, or too long to
    be kept whole, `altered` in it lists their names, and the entry cannot be replayed."""

    entry_id: str
    namespace: str
    reason: str
    body: dict[str, Any]


def read_entries(entries: list[Entry], now: float) -> list[Incoming | Refused]:
    """Each entry as an event, or as refused; in order."""
    clock = datetime.fromtimestamp(now, UTC)
    return [_read(entry, clock) for entry in entries]


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
        event = parse_entry({name.decode(): value.decode() for name, value in entry.fields.items()})
        if event.ts is not None:
            check_time(event.ts, clock)
        return _incoming(entry, event)
    except (InvalidEvent, UnicodeDecodeError) as error:
        reason = f"not UTF-8: {error}" if isinstance(error, UnicodeDecodeError) else str(error)
        return refuse(entry.id, entry.fields, reason)
    except Exception as error:  # one entry of any shape must not hold up the rest
        log.error("entry_unreadable", entry_id=entry.id, exc_info=error)
        return refuse(entry.id, entry.fields, f"{type(error).__name__}: {error}")


def _incoming(entry: Entry, event: AnyEvent) -> Incoming:
    at = entry_time(entry.id) if event.ts is None else (event.ts - _EPOCH).total_seconds()
    item = Incoming(entry.id, event, event.id or entry.id, event.digest(), at, entry.fields)
    if isinstance(event, Message):
        name = event.meta.get("name")
        text = searchable(name if isinstance(name, str) else None, event.content)
        item.terms = " ".join(terms(text)) if event.role != "system" else ""
        item.tokens = estimate(event.content)
        human = event.meta.get("human") is True
        item.msg_type = event.msg_type or msg_type(event.role, event.content, human=human)
    return item


def _shown(value: bytes, most: int) -> str:
    if len(value) > most:
        return f"{value[:_SHOWN].decode('utf-8', 'backslashreplace')}… [cut: {len(value)} bytes in all]"
    return value.decode("utf-8", "backslashreplace")
