"""Existing chats to events: JSON Lines of messages, OpenAI `messages`, ShareGPT, and conversations with turns.

Ids are made from what a message says and where it stands, so that reading a file again, or after it grew,
makes the same events for the same messages.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic import ValidationError

from memory.chatfields import content_of, first_text, reason, role_of, time_of
from memory.conversations import conversation_events
from memory.records import BadLine, records
from memory.times import to_datetime
from sidestream.events import Message, SessionEnded

Item: TypeAlias = tuple[int, Message | SessionEnded | BadLine]


@dataclass(slots=True)
class _Session:
    """What is known of a session while its messages are read."""

    user_id: str | None
    seen: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    last_ts: float | None = None
    last_line: int = 0

    def key(self, data: Mapping[str, Any], said: str) -> str:
        """A message's own id, else one made of what it says. A second message with the same gets a number."""
        digest = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:20]
        given = data.get("id")
        if isinstance(given, str | int) and not isinstance(given, bool) and str(given):
            earlier, key = self.seen[str(given)], str(given)
            if digest in earlier:
                # The same message once more, and not another one that says the same.
                return key if earlier[0] == digest else f"{key}~{earlier.index(digest) + 1}"
        else:
            earlier, key = self.seen[digest], digest
        earlier.append(digest)
        return key if len(earlier) == 1 else f"{key}~{len(earlier)}"


class _Reader:
    def __init__(self, source: str, user_id: str | None, namespace: str) -> None:
        self.source, self.user_id, self.namespace = source, user_id, namespace
        self.sessions: dict[str, _Session] = {}
        self.unnamed: Counter[str] = Counter()

    def message(
        self,
        line: int,
        session_id: str,
        data: Mapping[str, Any],
        user_id: str | None,
        default_ts: float | None = None,
    ) -> Item:
        """One role/content message as an event, or what is wrong with it."""
        try:
            role = role_of(data)
            content, meta = content_of(role, data)
            ts = time_of(data, default_ts)
            session = self.sessions.get(session_id) or _Session(user_id)
            key = session.key(data, "\x1f".join((role, str(data.get("name") or ""), repr(ts), content)))
            event = Message(
                id=f"{session_id}/{key}",
                session_id=session_id,
                user_id=session.user_id,
                namespace=self.namespace,
                role=role,
                content=content,
                ts=None if ts is None else to_datetime(ts),
                meta=meta,
            )
        except (ValidationError, ValueError, OverflowError) as error:
            return line, BadLine(line, reason(error))
        self.sessions[session_id] = session
        session.last_line = line
        session.last_ts = ts if ts is not None else session.last_ts
        return line, event

    def endings(self) -> Iterator[Item]:
        """The end of every session, in the order in which they began."""
        for session_id, session in self.sessions.items():
            try:
                event = SessionEnded(
                    id=f"{session_id}/ended",
                    session_id=session_id,
                    user_id=session.user_id,
                    namespace=self.namespace,
                    ts=None if session.last_ts is None else to_datetime(session.last_ts),
                )
            except ValidationError as error:
                yield session.last_line, BadLine(session.last_line, f"end of session: {reason(error)}")
            else:
                yield session.last_line, event


def parse_chats(
    lines: Iterable[str], *, source: str, user_id: str | None = None, namespace: str = "default"
) -> Iterator[Item]:
    """Events of a chat export, each with the number (from 1) of the line its record begins on.

    `source` names the file (its stem): the data set of conversations with turns, else the session of a chat that
    names none. `user_id` is whose chats they are where the lines do not say. What cannot be read comes as
    `BadLine`; every session ends with `session.ended`.
    """
    reader = _Reader(source, user_id, namespace)
    for line, record in records(lines):
        if isinstance(record, BadLine):
            yield line, record
        elif isinstance(record, Mapping) and isinstance(record.get("turns"), list):
            yield from conversation_events(line, record, dataset=source, namespace=namespace)
        else:
            yield from _record(reader, line, record)
    yield from reader.endings()


def _record(reader: _Reader, line: int, record: Any) -> Iterator[Item]:
    if isinstance(record, list):
        yield from _chat(reader, line, reader.source, {}, record)
    elif not isinstance(record, Mapping):
        yield line, BadLine(line, f"a {type(record).__name__} is not a message or a chat")
    elif isinstance(record.get("messages"), list):
        yield from _chat(reader, line, _session_of(reader, record, record["messages"]), record, record["messages"])
    elif isinstance(record.get("conversations"), list):
        yield from _chat(
            reader, line, _session_of(reader, record, record["conversations"]), record, record["conversations"]
        )
    elif "role" in record or "from" in record:
        session = first_text(record, ("session_id", "conversation_id", "thread_id")) or reader.source
        yield reader.message(line, session, record, _user_of(record) or reader.user_id)
    else:
        yield line, BadLine(line, "no role and content, messages, conversations or turns")


def _chat(reader: _Reader, line: int, session: str, record: Mapping[str, Any], messages: list[Any]) -> Iterator[Item]:
    try:
        start = time_of(record, None)
    except ValueError as error:
        yield line, BadLine(line, reason(error))
        return
    user = _user_of(record) or reader.user_id
    for number, message in enumerate(messages, 1):
        if isinstance(message, Mapping):
            found_line, item = reader.message(line, session, message, user, start)
            yield (
                found_line,
                BadLine(line, f"message {number}: {item.reason}") if isinstance(item, BadLine) else item,
            )
        else:
            yield line, BadLine(line, f"message {number}: not an object")


def _session_of(reader: _Reader, record: Mapping[str, Any], messages: list[Any]) -> str:
    """A chat's own id, else a name from the file and what the chat begins with, so that it holds as the file grows.

    Chats of one file that begin alike are numbered in their order.
    """
    named = first_text(record, ("session_id", "conversation_id", "thread_id"))
    if named:
        return named
    numbered = first_text(record, ("id",))
    if numbered:
        # A bare id often counts from 0 in each file.
        return f"{reader.source}/{numbered}"
    opening = repr(_opening(messages))
    name = f"{reader.source}/{hashlib.sha256(opening.encode('utf-8', 'replace')).hexdigest()[:12]}"
    reader.unnamed[name] += 1
    return name if reader.unnamed[name] == 1 else f"{name}~{reader.unnamed[name]}"


def _opening(messages: list[Any]) -> list[Any]:
    """A chat up to the first thing that its user says: many chats begin with one and the same instruction."""
    for place, message in enumerate(messages):
        if isinstance(message, Mapping) and str(message.get("role", message.get("from"))).lower() in ("user", "human"):
            return messages[: place + 1]
    return messages[:1]


def _user_of(record: Mapping[str, Any]) -> str | None:
    return first_text(record, ("user_id", "user"))
