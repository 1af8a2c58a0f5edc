"""The tail in Redis: a session's messages that are accepted and not committed to SQLite yet.

It is a stream with the same entry ids as the event stream. A partial or lost tail costs nothing but
moments, so an entry that cannot be read is skipped and counted, never raised on the reply path. Redis
errors are the caller's. The client should not decode by itself (`decode_responses`): it would raise where
bytes are no text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import redis
import redis.asyncio

from memory.types import StoredMessage
from sidestream.errors import InvalidEvent
from sidestream.events import Message, parse_entry
from sidestream.keys import Keys

DEFAULT_USER = "default"

Entry: TypeAlias = tuple[str | bytes, Mapping[str | bytes, str | bytes]]


@dataclass(frozen=True, slots=True)
class Tail:
    """Messages, oldest first, and how many entries could not be read."""

    messages: list[StoredMessage]
    broken: int = 0


@dataclass(frozen=True, slots=True)
class Opened:
    """Whose a session is, and whether other users are let in."""

    user_id: str
    shared: bool


async def read_tail(
    client: "redis.asyncio.Redis",
    keys: Keys,
    namespace: str,
    session_id: str,
    limit: int,
    *,
    user_id: str | None = None,
    owner: str | None = None,
) -> list[StoredMessage]:
    """The newest `limit` messages of the tail, oldest first.

    Where `user_id` is given, only that user's. Messages that name no user are the session's `owner`'s: "" for
    nobody's, None where nothing of the session is stored, so that the tail's first message says whose it is.
    """
    return (await pending_tail(client, keys, namespace, session_id, limit, user_id=user_id, owner=owner)).messages


async def pending_tail(
    client: "redis.asyncio.Redis",
    keys: Keys,
    namespace: str,
    session_id: str,
    limit: int,
    *,
    user_id: str | None = None,
    owner: str | None = None,
) -> Tail:
    """As `read_tail`, with the count of broken entries."""
    entries = await tail_entries(client, keys, namespace, session_id, limit)
    return parse_tail(entries, namespace, session_id, user_id, owner)


async def tail_entries(
    client: "redis.asyncio.Redis", keys: Keys, namespace: str, session_id: str, limit: int
) -> list[Entry]:
    """The newest `limit` raw entries of the tail, oldest first, for `parse_tail`."""
    if limit < 1:
        return []
    entries: Any = await client.xrevrange(keys.tail(namespace, session_id), count=limit)
    return list(reversed(entries))


def read_tail_sync(
    client: "redis.Redis",
    keys: Keys,
    namespace: str,
    session_id: str,
    limit: int,
    *,
    user_id: str | None = None,
    owner: str | None = None,
) -> list[StoredMessage]:
    """As `read_tail`, with a synchronous client."""
    return pending_tail_sync(client, keys, namespace, session_id, limit, user_id=user_id, owner=owner).messages


def pending_tail_sync(
    client: "redis.Redis",
    keys: Keys,
    namespace: str,
    session_id: str,
    limit: int,
    *,
    user_id: str | None = None,
    owner: str | None = None,
) -> Tail:
    """As `pending_tail`, with a synchronous client."""
    if limit < 1:
        return Tail([])
    entries: Any = client.xrevrange(keys.tail(namespace, session_id), count=limit)
    return parse_tail(reversed(entries), namespace, session_id, user_id, owner)


async def opened_by(client: "redis.asyncio.Redis", keys: Keys, namespace: str, session_id: str) -> Opened | None:
    """Whose the session became by its first event through a publisher; None where Redis does not know."""
    kind, _, user_id = _text(await client.get(keys.owner(namespace, session_id)) or "").partition(" ")
    return Opened(user_id, kind == "shared") if user_id else None


async def receipt(client: "redis.asyncio.Redis", keys: Keys, namespace: str, event_id: str) -> str | None:
    """The stream entry's id under which Redis accepted the event; None where its receipt is gone or never
    was."""
    return _entry_id(await client.get(keys.receipt(namespace, event_id)))


def receipt_sync(client: "redis.Redis", keys: Keys, namespace: str, event_id: str) -> str | None:
    """As `receipt`, with a synchronous client."""
    return _entry_id(client.get(keys.receipt(namespace, event_id)))


def parse_tail(
    entries: Iterable[Entry],
    namespace: str,
    session_id: str,
    user_id: str | None = None,
    owner: str | None = None,
) -> Tail:
    """Messages of raw stream entries, in their order; whose is said at `read_tail`."""
    messages, broken = [], 0
    for raw_id, raw in entries:
        try:
            entry_id = _text(raw_id)
            event = parse_entry({_text(name): _text(value) for name, value in raw.items()})
        except (InvalidEvent, UnicodeDecodeError):
            broken += 1
            continue
        if not isinstance(event, Message) or (event.namespace, event.session_id) != (namespace, session_id):
            broken += 1
            continue
        owner = (event.user_id or DEFAULT_USER) if owner is None else owner
        if user_id is None or (event.user_id or owner) == user_id:
            messages.append(_message(entry_id, event))
    return Tail(messages, broken)


def _message(entry_id: str, event: Message) -> StoredMessage:
    occurred_at = event.ts.timestamp() if event.ts is not None else int(entry_id.partition("-")[0]) / 1000
    return StoredMessage(
        event_id=event.id or entry_id,
        session_id=event.session_id,
        role=event.role,
        content=event.content,
        occurred_at=occurred_at,
        msg_type=event.msg_type or "normal",
        metadata=event.meta,
    )


def _entry_id(value: Any) -> str | None:
    return _text(value).partition(" ")[0] if value else None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
