"""From raw stream entries to events ready to be stored, or to the reason why one cannot be. No database
here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

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


class Analysis(NamedTuple):
    """What costs most to find out of an event; the last three are found of messages only."""

    digest: str
    terms: str = ""
    tokens: int = 0
    msg_type: str = "normal"


@dataclass(slots=True)
class Incoming:
    """A valid event. `occurred_at` is unix seconds."""

    entry_id: str
    event: AnyEvent
    event_id: str
    occurred_at: float
    body: dict[bytes, bytes]
    found: Analysis


@dataclass(frozen=True, slots=True)
class Refused:
    """An entry that cannot be stored, and why. `body` is its fields as text; where some are no text, or too long to
    be kept whole, `altered` in it lists their names, and the entry cannot be replayed."""

    entry_id: str
    namespace: str
    reason: str
    body: dict[str, Any]


def read_entries(
    entries: list[Entry], now: float, found: Sequence[Analysis | None] | None = None
) -> list[Incoming | Refused]:
    """Each entry as an event, or as refused; in order. `found`: what `analyse_entries` made of them, if it has."""
    clock = datetime.fromtimestamp(now, UTC)
    ready: Sequence[Analysis | None] = found if found is not None else [None] * len(entries)
    return [_read(entry, clock, analysis) for entry, analysis in zip(entries, ready, strict=True)]


def analyse_entries(entries: list[Entry]) -> list[Analysis | None]:
    """What costs most of reading each entry; None for those that reading refuses, or may refuse."""
    found: list[Analysis | None] = []
    for entry in entries:
        try:
            found.append(analyse(_event(entry)))
        except (InvalidEvent, UnicodeDecodeError):
            found.append(None)
        except Exception as error:  # one entry of any shape must not hold up the rest
            log.error("entry_unreadable", entry_id=entry.id, exc_info=error)
            found.append(None)
    return found


def analyse(event: AnyEvent) -> Analysis:
    """The event's digest and, of a message, its terms, tokens and type."""
    if not isinstance(event, Message):
        return Analysis(event.digest())
    name = event.meta.get("name")
    text = searchable(name if isinstance(name, str) else None, event.content)
    human = event.meta.get("human") is True
    return Analysis(
        event.digest(),
        " ".join(terms(text)) if event.role != "system" else "",
        estimate(event.content),
        event.msg_type or msg_type(event.role, event.content, human=human),
    )


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


def _read(entry: Entry, clock: datetime, found: Analysis | None) -> Incoming | Refused:
    try:
        event = _event(entry)
        if event.ts is not None:
            check_time(event.ts, clock)
        at = entry_time(entry.id) if event.ts is None else (event.ts - _EPOCH).total_seconds()
        return Incoming(entry.id, event, event.id or entry.id, at, entry.fields, found or analyse(event))
    except (InvalidEvent, UnicodeDecodeError) as error:
        reason = f"not UTF-8: {error}" if isinstance(error, UnicodeDecodeError) else str(error)
        return refuse(entry.id, entry.fields, reason)
    except Exception as error:  # one entry of any shape must not hold up the rest
        log.error("entry_unreadable", entry_id=entry.id, exc_info=error)
        return refuse(entry.id, entry.fields, f"{type(error).__name__}: {error}")


def _event(entry: Entry) -> AnyEvent:
    return parse_entry({name.decode(): value.decode() for name, value in entry.fields.items()})


def _shown(value: bytes, most: int) -> str:
    if len(value) > most:
        return f"{value[:_SHOWN].decode('utf-8', 'backslashreplace')}… [cut: {len(value)} bytes in all]"
    return value.decode("utf-8", "backslashreplace")
