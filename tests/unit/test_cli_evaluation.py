"""Measuring recall: what is asked, what counts, and how it is summed up. Searches are scripted here."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from cli.errors import Unavailable
from cli.evaluation import Answer, ask, report, wanted
from memory.datasets import Conversation, Question
from memory.types import Degraded, Hit, Kind, Scope
from recall.reader import Reader
from recall.results import Lag, SearchResult


class Scripted:
    """A reader that finds what it is told, in every search."""

    def __init__(
        self, *event_ids: str, degraded: Sequence[Degraded] = (), owed: Mapping[str, int] | None = None
    ) -> None:
        hits = [Hit("message", n, 0.5, "", 0.0, "s", event_id=e) for n, e in enumerate(event_ids)]
        self.result = SearchResult(hits, list(degraded), Lag(owed=owed))
        self.scopes: list[Scope] = []

    async def search(self, scope: Scope, query: str, limit: int, kinds: Sequence[Kind]) -> SearchResult:
        self.scopes.append(scope)
        return self.result


def question(evidence: Sequence[str], **fields: Any) -> Question:
    values: dict[str, Any] = {"id": "q", "text": "?", "category": "plain", "level": "turn", **fields}
    return Question(evidence=tuple(evidence), **values)


def conversation(*questions: Question) -> Conversation:
    index = {f"d/c/{n}": n for n in range(6)}
    sessions = {event: f"d/c/s{n // 2}" for event, n in index.items()}
    return Conversation("d/c", index, sessions, questions)


async def answers(reader: Scripted, *questions: Question, without: Sequence[str] = ()) -> list[Answer]:
    asked = ask(cast(Reader, reader), [conversation(*questions)], "space", without, lambda: None)
    return [answer async for answer in asked]


async def test_each_conversation_is_searched_as_its_own_user() -> None:
    reader = Scripted()
    await answers(reader, question(["d/c/1"]))
    assert reader.scopes == [Scope("d/c", "space")]


async def test_only_turns_from_before_the_question_are_found() -> None:
    [answer] = await answers(Scripted("d/c/5", "d/c/2", "d/c/0"), question(["d/c/0"], before_turn=2))
    assert answer.ranking == ["d/c/0"]


async def test_turns_collapse_to_sessions_where_sessions_are_the_evidence() -> None:
    found = Scripted("d/c/5", "d/c/4", "d/c/0", "d/c/1")
    [answer] = await answers(found, question(["d/c/s0"], level="session"))
    assert answer.ranking == ["d/c/s2", "d/c/s0"]


async def test_measures_are_over_all_and_by_category() -> None:
    found = Scripted("d/c/3", "d/c/1")
    asked = await answers(
        found, question(["d/c/1", "d/c/0"], category="a"), question(["d/c/3"], category="b"), question(["d/c/4"])
    )
    result = report(asked)
    assert result["categories"]["a"] == pytest.approx(
        {"questions": 1, "recall@5": 0.5, "recall@10": 0.5, "recall@20": 0.5, "hit@10": 1, "full@10": 0, "mrr": 0.5}
        | {"ndcg@10": result["categories"]["a"]["ndcg@10"]}
    )
    assert result["categories"]["b"]["mrr"] == 1
    assert result["all"]["questions"] == 3
    assert result["all"]["recall@10"] == pytest.approx(0.5)
    assert list(result["categories"]) == ["a", "b", "plain"]


def test_questions_without_evidence_and_of_left_out_categories_are_not_asked() -> None:
    asked = question(["d/c/1"])
    others = (question([]), question(["d/c/1"], category="adversarial"))
    assert wanted(conversation(asked, *others), {"adversarial"}) == [asked]


async def test_what_went_less_well_is_told_and_an_unreadable_store_is_no_result() -> None:
    weak = Scripted(degraded=[Degraded("query_embedding", "no model"), Degraded("tail", "no Redis")])
    assert report(await answers(weak, question(["d/c/1"])))["degraded"] == ["query_embedding: no model"]
    with pytest.raises(Unavailable, match="locked"):
        await answers(Scripted(degraded=[Degraded("store", "locked")]), question(["d/c/1"]))


async def test_a_measurement_before_all_is_embedded_says_so() -> None:
    early = Scripted("d/c/1", owed={"embed": 3, "summarise": 1})
    assert report(await answers(early, question(["d/c/1"])))["degraded"] == ["vectors: not everything is embedded yet"]
