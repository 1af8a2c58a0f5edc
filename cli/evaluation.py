"""Asks the questions of a file of conversations and says how much of the marked evidence was found."""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cli.errors import Unavailable
from memory.datasets import Conversation, Question
from memory.metrics import Quality, by_category, interval, measure, recall_at, reciprocal_rank
from memory.types import Scope
from recall.reader import Reader

KS = (5, 10, 20)
_PLAIN_DEPTH = 50
_DEEP = 1_000
"""Ranked where later turns are left out, or turns collapse to sessions, so that enough are left."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One question, what was found, best first, in the terms of its evidence, and what went less well."""

    user_id: str
    question: Question
    ranking: list[str]
    degraded: list[str]

    def to_json(self) -> dict[str, Any]:
        """For a file of raw results."""
        return {
            "user_id": self.user_id,
            "question": self.question.id,
            "category": self.question.category,
            "evidence": list(self.question.evidence),
            "found": self.ranking[: KS[-1]],
        }


async def ask(
    reader: Reader,
    conversations: Iterable[Conversation],
    namespace: str,
    without: Collection[str],
    asked: Callable[[], None],
) -> AsyncIterator[Answer]:
    """Answers to every question that has evidence and is in no category of `without`; `asked` after each.

    Raises:
        Unavailable: the database cannot be read.
    """
    for conversation in conversations:
        scope = Scope(conversation.user_id, namespace)
        for question in wanted(conversation, without):
            deep = question.before_turn >= 0 or question.level == "session"
            found = await reader.search(scope, question.text, _DEEP if deep else _PLAIN_DEPTH, ("message",))
            unread = [d.reason for d in found.degraded if d.part == "store"]
            if unread:
                raise Unavailable(unread[0])
            ids = [hit.event_id for hit in found.hits if hit.event_id is not None]
            ranking = conversation.ranking(question, ids)
            # What is not stored yet is no part of the measurement, so the tail is not missed.
            notes = [f"{d.part}: {d.reason}" for d in found.degraded if d.part != "tail"]
            if found.lag.owed and found.lag.owed.get("embed"):
                notes.append("vectors: not everything is embedded yet")
            yield Answer(conversation.user_id, question, ranking, notes)
            asked()


def wanted(conversation: Conversation, without: Collection[str]) -> list[Question]:
    """The questions that are asked: those with evidence, in no category of `without`."""
    return [q for q in conversation.questions if q.evidence and q.category not in without]


def report(answers: Sequence[Answer]) -> dict[str, Any]:
    """Measures over all questions and by category, and 95 % intervals of two of them, as JSON values."""
    triples = [(a.question.category, a.ranking, a.question.evidence) for a in answers]
    pairs = [(ranking, evidence) for _, ranking, evidence in triples]
    return {
        "all": _plain(measure(pairs, KS)),
        "intervals": {
            "recall@10": interval([recall_at(ranking, evidence, 10) for ranking, evidence in pairs]),
            "mrr": interval([reciprocal_rank(ranking, evidence) for ranking, evidence in pairs]),
        },
        "categories": {str(name): _plain(q) for name, q in sorted(by_category(triples, KS).items(), key=str)},
        "degraded": sorted({note for answer in answers for note in answer.degraded}),
    }


def _plain(quality: Quality) -> dict[str, Any]:
    values = asdict(quality)
    recall = {f"recall@{k}": values["recall"][k] for k in KS}
    return {
        "questions": quality.count,
        **recall,
        "hit@10": quality.hit10,
        "full@10": quality.full10,
        "mrr": quality.mrr,
        "ndcg@10": quality.ndcg10,
    }
