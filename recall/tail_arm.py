"""What is not stored yet, searched by its words; it has negative ids, since it has none of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory.filters import Filter
from memory.terms import searchable, terms
from memory.tokens import estimate
from memory.types import StoredMessage
from store import kinds as kind_codes
from store.features import Features

_QUESTION = ("?", "？")


@dataclass(frozen=True, slots=True)
class Pending:
    """A message of the tail, what ranking needs to know of it, and which of the terms it holds."""

    message: StoredMessage
    features: Features
    held: list[bool]


def pending(tail: Sequence[StoredMessage], wanted: Sequence[str], by: Filter) -> list[Pending]:
    """The tail's messages that hold any of the terms and pass the filter."""
    found: list[Pending] = []
    for place, message in enumerate(tail, 1):
        if not _passes(message, by):
            continue
        words = set(terms(searchable(_name(message), message.content)))
        held = [term in words for term in wanted]
        if any(held):
            numbered = replace(message, id=-place)
            found.append(Pending(numbered, _features(numbered), held))
    return found


def _features(message: StoredMessage) -> Features:
    return Features(
        key=kind_codes.key("message", message.id),
        session_pk=None,
        before=None,
        after=None,
        size=estimate(message.content),
        at=message.occurred_at,
        name=_name(message),
        asks=int(message.content.rstrip().endswith(_QUESTION)),
        prior=0.0,
        confidence=1.0,
    )


def _passes(message: StoredMessage, by: Filter) -> bool:
    """Whether it passes; what is not known of it before it is stored, it does not pass."""
    ends = [end for end in (by.until, by.as_of) if end is not None]
    return (
        (by.since is None or message.occurred_at >= by.since)
        and (not ends or message.occurred_at < min(ends))
        and not by.tags
        and (not by.types or message.msg_type in by.types)
        and by.data_source is None
        and all(name in message.metadata and message.metadata[name] == value for name, value in by.metadata.items())
    )


def _name(message: StoredMessage) -> str | None:
    name = message.metadata.get("name")
    return name if isinstance(name, str) else None
