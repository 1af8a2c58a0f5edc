"""Dialogues between people, as turns with speakers, to events; the form of the data sets with marked evidence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from memory.chatfields import reason, text_of
from memory.records import BadLine
from memory.times import parse_time, to_datetime
from sidestream.events import Message, SessionEnded
from sidestream.fieldtypes import Role

_MODEL_NAMES: dict[str, Role] = {"user": "user", "assistant": "assistant"}


@dataclass(frozen=True, slots=True)
class _Dialogue:
    """Whose conversation it is, in which namespace, and who speaks in it, in order of appearance."""

    owner: str
    namespace: str
    speakers: Sequence[str]

    def session(self, turn: Mapping[str, Any]) -> str:
        return f"{self.owner}/{turn.get('session')}"


def conversation_events(
    line: int, record: Mapping[str, Any], *, dataset: str, namespace: str = "default"
) -> Iterator[tuple[int, Message | SessionEnded | BadLine]]:
    """Events of one conversation with `turns` of id, session, speaker, time and text.

    Event and session ids are data set / conversation / id, and the conversation is a user of its own. Its first
    speaker takes the user's role, all others the assistant's, marked human in `meta`; speakers called User and
    Assistant are just that. Where only one person speaks, each turn is a turn of its own by its `turn_id`; so
    is an assistant's opening of a session. A session ends after its last turn.
    """
    turns = record["turns"]
    good = [t for t in turns if isinstance(t, Mapping)]
    speakers = list(dict.fromkeys(str(t.get("speaker") or "") for t in good))
    dialogue = _Dialogue(f"{dataset}/{record.get('conversation') or ''}", namespace, speakers)
    last = {dialogue.session(t): number for number, t in enumerate(turns) if isinstance(t, Mapping)}
    times: dict[str, float | None] = {}
    for number, turn in enumerate(turns):
        if not isinstance(turn, Mapping):
            yield line, BadLine(line, f"turn {number}: not an object")
            continue
        session = dialogue.session(turn)
        try:
            event = _turn_event(dialogue, turn, opening=session not in times)
        except (ValidationError, ValueError, OverflowError) as error:
            yield line, BadLine(line, f"turn {turn.get('id', number)}: {reason(error)}")
        else:
            times[session] = times.get(session) if event.ts is None else event.ts.timestamp()
            yield line, event
        if last[session] == number and session in times:
            yield line, _ended(line, dialogue, session, times[session])


def _turn_event(dialogue: _Dialogue, turn: Mapping[str, Any], *, opening: bool) -> Message:
    if turn.get("id") in (None, ""):
        raise ValueError("id is missing")
    event_id = f"{dialogue.owner}/{turn['id']}"
    speaker = str(turn.get("speaker") or "")
    role = _MODEL_NAMES.get(speaker.lower())
    meta: dict[str, Any] = {} if role else {"name": speaker, "human": True} if speaker else {"human": True}
    role = role or ("user" if speaker == dialogue.speakers[0] else "assistant")
    when = turn.get("time")
    return Message(
        id=event_id,
        session_id=dialogue.session(turn),
        user_id=dialogue.owner,
        namespace=dialogue.namespace,
        role=role,
        content=text_of(turn.get("text")),
        ts=to_datetime(parse_time(when)) if when not in (None, "") else None,
        turn_id=event_id if len(dialogue.speakers) < 2 or (opening and role == "assistant") else None,
        meta=meta,
    )


def _ended(line: int, dialogue: _Dialogue, session: str, ts: float | None) -> SessionEnded | BadLine:
    try:
        return SessionEnded(
            id=f"{session}/ended",
            session_id=session,
            user_id=dialogue.owner,
            namespace=dialogue.namespace,
            ts=None if ts is None else to_datetime(ts),
        )
    except ValidationError as error:
        return BadLine(line, f"end of session: {reason(error)}")
