"""Existing chats to events: JSON Lines of messages, OpenAI `messages`, ShareGPT, and conversations with turns.

Ids are made from what a message says and where it stands, so that reading a file again, or after it grew,
makes the same events for the same messages.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic import ValidationError

from memory.records import BadLine, records
from memory.times import parse_time, to_datetime
from memory.toolcalls import call_text
from sidestream.events import Message, SessionEnded
from sidestream.fieldtypes import Role

Item: TypeAlias = tuple[int, Message | SessionEnded | BadLine]

_SHAREGPT_ROLES: dict[str, Role] = {
    "human": "user", "user": "user", "gpt": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant",
    "assistant": "assistant", "model": "assistant", "system": "system", "tool": "tool", "function": "tool",
    "function_call": "assistant", "observation": "tool",
}  # fmt: skip
_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "developer": "system",
    "function": "tool",
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
}
_TIME_FIELDS = ("timestamp", "ts", "time", "created_at", "create_time", "date")
_MODEL_NAMES: dict[str, Role] = {"user": "user", "assistant": "assistant"}


@dataclass(slots=True)
class _Session:
    """What is known of a session while its messages are read."""

    user_id: str | None
    seen: Counter[str] = field(default_factory=Counter)
    last_ts: float | None = None
    last_line: int = 0


class _Reader:
    def __init__(self, source: str, user_id: str | None, namespace: str) -> None:
        self.source, self.user_id, self.namespace = source, user_id, namespace
        self.sessions: dict[str, _Session] = {}

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
            role = _role(data)
            content, meta = _content(role, data)
            ts = _time(data, default_ts)
            session = self.sessions.setdefault(session_id, _Session(user_id))
            event = Message(
                id=self._event_id(session_id, session, data, role, content, ts),
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
        session.last_line = line
        session.last_ts = ts if ts is not None else session.last_ts
        return line, event

    def _event_id(
        self,
        session_id: str,
        session: _Session,
        data: Mapping[str, Any],
        role: str,
        content: str,
        ts: float | None,
    ) -> str:
        given = data.get("id")
        if isinstance(given, str | int) and not isinstance(given, bool) and str(given):
            key = str(given)
        else:
            said = "\x1f".join((role, str(data.get("name") or ""), "" if ts is None else repr(ts), content))
            key = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:20]
        session.seen[key] += 1
        times = session.seen[key]
        return f"{session_id}/{key}" if times == 1 else f"{session_id}/{key}~{times}"

    def endings(self) -> Iterator[Item]:
        """The end of every session, in the order in which they began."""
        for session_id, session in self.sessions.items():
            event = SessionEnded(
                id=f"{session_id}/ended",
                session_id=session_id,
                user_id=session.user_id,
                namespace=self.namespace,
                ts=None if session.last_ts is None else to_datetime(session.last_ts),
            )
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
        yield from _chat(reader, line, _session_of(reader, record), record, record["messages"])
    elif isinstance(record.get("conversations"), list):
        yield from _chat(reader, line, _session_of(reader, record), record, record["conversations"])
    elif "role" in record or "from" in record:
        session = _first_text(record, ("session_id", "conversation_id", "thread_id")) or reader.source
        yield reader.message(line, session, record, _user_of(record) or reader.user_id)
    else:
        yield line, BadLine(line, "no role and content, messages, conversations or turns")


def _chat(reader: _Reader, line: int, session: str, record: Mapping[str, Any], messages: list[Any]) -> Iterator[Item]:
    try:
        start = _time(record, None)
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


def conversation_events(
    line: int, record: Mapping[str, Any], *, dataset: str, namespace: str = "default"
) -> Iterator[Item]:
    """Events of one conversation with `turns` of id, session, speaker, time and text.

    Event and session ids are data set / conversation / id, and the conversation is a user of its own. Its first
    speaker takes the user's role, all others the assistant's, marked human in `meta`; speakers called User and
    Assistant are just that. Where only one person speaks, each turn is a turn of its own by its `turn_id`; so
    is an assistant's opening of a session.
    """
    conversation = str(record.get("conversation") or "")
    owner = f"{dataset}/{conversation}"
    turns = [t for t in record["turns"] if isinstance(t, Mapping)]
    speakers = list(dict.fromkeys(str(t.get("speaker") or "") for t in turns))
    alone = len(speakers) < 2
    open_sessions: dict[str, float | None] = {}
    current: str | None = None
    for number, turn in enumerate(record["turns"]):
        session = f"{owner}/{turn.get('session')}" if isinstance(turn, Mapping) else current
        if current is not None and session != current:
            yield line, _ended(owner, current, open_sessions[current], namespace)
        if session is None or not isinstance(turn, Mapping):
            yield line, BadLine(line, f"turn {number}: not an object")
            continue
        opening = session != current
        current = session
        open_sessions.setdefault(session, None)
        try:
            event = _turn_event(owner, session, turn, speakers, alone, opening, namespace)
        except (ValidationError, ValueError, OverflowError) as error:
            yield line, BadLine(line, f"turn {turn.get('id', number)}: {reason(error)}")
            continue
        if event.ts is not None:
            open_sessions[session] = event.ts.timestamp()
        yield line, event
    if current is not None:
        yield line, _ended(owner, current, open_sessions[current], namespace)


def _turn_event(
    owner: str,
    session: str,
    turn: Mapping[str, Any],
    speakers: list[str],
    alone: bool,
    opening: bool,
    namespace: str,
) -> Message:
    speaker = str(turn.get("speaker") or "")
    role = _MODEL_NAMES.get(speaker.lower())
    meta: dict[str, Any] = {} if role else {"name": speaker, "human": True}
    role = role or ("user" if speaker == speakers[0] else "assistant")
    event_id = f"{owner}/{turn['id']}" if turn.get("id") not in (None, "") else None
    if event_id is None:
        raise ValueError("id is missing")
    when = turn.get("time")
    return Message(
        id=event_id,
        session_id=session,
        user_id=owner,
        namespace=namespace,
        role=role,
        content=_text(turn.get("text")),
        ts=to_datetime(parse_time(when)) if when not in (None, "") else None,
        turn_id=event_id if alone or (opening and role == "assistant") else None,
        meta=meta,
    )


def _ended(owner: str, session: str, ts: float | None, namespace: str) -> SessionEnded:
    return SessionEnded(
        id=f"{session}/ended",
        session_id=session,
        user_id=owner,
        namespace=namespace,
        ts=None if ts is None else to_datetime(ts),
    )


def _session_of(reader: _Reader, record: Mapping[str, Any]) -> str:
    """A chat's own id, else a name from the file and what the chat begins with, so that it holds as the file grows."""
    own = _first_text(record, ("session_id", "conversation_id", "thread_id", "id"))
    if own:
        return own
    first = next(iter(record.get("messages") or record.get("conversations") or ()), "")
    return f"{reader.source}/{hashlib.sha256(repr(first).encode('utf-8', 'replace')).hexdigest()[:12]}"


def _user_of(record: Mapping[str, Any]) -> str | None:
    return _first_text(record, ("user_id", "user"))


def _first_text(record: Mapping[str, Any], names: Iterable[str]) -> str | None:
    for name in names:
        value = record.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return None


def _role(data: Mapping[str, Any]) -> Role:
    if "role" in data:
        role = _ROLES.get(str(data["role"]).lower())
        given = data["role"]
    else:
        role, given = _SHAREGPT_ROLES.get(str(data.get("from")).lower()), data.get("from")
    if role is None:
        raise ValueError(f"role: {given!r} is not user, assistant, system or tool")
    return role


def _content(role: str, data: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    meta: dict[str, Any] = {}
    for name in ("name", "tool_calls", "tool_call_id", "refusal"):
        if data.get(name):
            meta[name] = data[name]
    extra = data.get("meta", data.get("metadata"))
    if isinstance(extra, Mapping):
        meta = {**extra, **meta}
    raw = data["content"] if "content" in data else data.get("value", data.get("text"))
    content = _text(raw, missing_ok=role == "assistant" and bool(call_text(meta)))
    return content or call_text(meta), meta


def _text(raw: Any, *, missing_ok: bool = False) -> str:
    if isinstance(raw, list):
        raw = "\n".join(_part(p) for p in raw)
    if isinstance(raw, str) and raw.strip():
        return raw
    if missing_ok and (raw is None or isinstance(raw, str)):
        return ""
    raise ValueError(
        "content is empty" if raw is None or isinstance(raw, str) else f"content: a {type(raw).__name__} is not text"
    )


def _part(part: Any) -> str:
    """A part of a multi-part content; what is not text is named, not kept."""
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    return f"[{part.get('type', 'part')}]" if isinstance(part, Mapping) else ""


def _time(data: Mapping[str, Any], default: float | None) -> float | None:
    for name in _TIME_FIELDS:
        if data.get(name) not in (None, ""):
            value = data[name]
            if not isinstance(value, str | int | float):
                raise ValueError(f"{name}: not a time: {value!r}")
            return parse_time(value)
    return default


def reason(error: Exception) -> str:
    """An error in one line, without the data that caused it."""
    if isinstance(error, ValidationError):
        return "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'event'}: {e['msg']}"
            for e in error.errors(include_url=False, include_input=False)
        )
    return str(error)
