"""Conversations with marked evidence, as `sidestream eval` asks them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memory.conversations import conversation_events
from memory.metrics import collapse
from memory.records import BadLine, records
from sidestream.events import Message

Level = Literal["turn", "session"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question. `evidence` holds event ids or, at level `session`, session ids; `before_turn` is -1 or the
    number of turns, from the start of the conversation, that may be found."""

    id: str
    text: str
    category: str
    evidence: tuple[str, ...]
    level: Level
    before_turn: int = -1


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: whose memory is asked, where each event stands, its session, and the questions.

    `left_out` are events that an import cannot make of their turns, such as one without words.
    """

    user_id: str
    index: Mapping[str, int]
    session_of: Mapping[str, str]
    questions: Sequence[Question]
    left_out: Collection[str] = frozenset()

    def ranking(self, question: Question, event_ids: Iterable[str]) -> list[str]:
        """What a search found, best first, in the question's terms: later turns left out, and at level
        `session` collapsed to sessions. Ids from elsewhere are left out."""
        end = question.before_turn if question.before_turn >= 0 else len(self.index)
        found = [e for e in event_ids if self.index.get(e, end) < end]
        return collapse(found, self.session_of) if question.level == "session" else list(dict.fromkeys(found))


def read_conversations(lines: Iterable[str], *, dataset: str) -> Iterator[tuple[int, Conversation | BadLine]]:
    """The conversations of a file, each with the line it stands on; ids are those of its imported events."""
    for line, record in records(lines):
        if isinstance(record, BadLine):
            yield line, record
            continue
        try:
            yield line, _conversation(record, dataset)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            yield line, BadLine(line, f"not a conversation with questions: {type(error).__name__}: {error}")


def _conversation(record: Mapping[str, Any], dataset: str) -> Conversation:
    owner = f"{dataset}/{record['conversation']}"
    turns = record["turns"]
    index = {f"{owner}/{t['id']}": i for i, t in enumerate(turns)}
    events = (item for _, item in conversation_events(0, record, dataset=dataset))
    return Conversation(
        user_id=owner,
        index=index,
        session_of={f"{owner}/{t['id']}": f"{owner}/{t['session']}" for t in turns},
        questions=[_question(q, owner) for q in record.get("questions", ())],
        left_out=index.keys() - {event.id for event in events if isinstance(event, Message)},
    )


def _question(data: Mapping[str, Any], owner: str) -> Question:
    level = data.get("level", "turn")
    if level not in ("turn", "session"):
        raise ValueError(f"level {level!r} is not turn or session")
    return Question(
        id=str(data["id"]),
        text=str(data["text"]),
        category=str(data.get("category", "")),
        evidence=tuple(f"{owner}/{e}" for e in data["evidence"]),
        level=level,
        before_turn=int(data.get("before_turn", -1)),
    )
