"""Quality of recall and of summaries on conversations with marked evidence, without the rest of the program.

    SIDESTREAM_BENCH_DATA=folder python -m bench.quality_lab recall|summaries|speed [data set ...]

`recall` leaves out each step of ranking in turn, over a real database; `summaries` compares searching the rule-based
summaries with searching each turn's first words; `speed` times the rules that every stored message passes. Vectors are
kept in the system's temporary folder between runs.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw

from bench.quality_data import DATA_SETS, DataSet, load
from bench.quality_store import ask, fill
from memory.classify import msg_type
from memory.clauses import squeeze
from memory.metrics import measure
from memory.ranking import CANDIDATES, weights
from memory.summarise import summarise
from memory.terms import language, query_terms, terms
from memory.tokens import estimate
from memory.types import Candidate

_TABLE = (
    "CREATE VIRTUAL TABLE fts USING fts5 (scope, terms, content = '', contentless_delete = 1,"
    " tokenize = 'unicode61 remove_diacritics 0')"
)
_SEARCH = (
    "SELECT rowid, -bm25(fts, 0.0, 1.0) AS score FROM fts WHERE fts MATCH ? ORDER BY score DESC, rowid DESC LIMIT ?"
)


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


def _line(quality: Any) -> str:
    recall = "  ".join(f"R@{k} {v:.3f}" for k, v in quality.recall.items())
    return f"{recall}  hit@10 {quality.hit10:.3f}  MRR {quality.mrr:.3f}  n {quality.count}"


STEPS: Sequence[tuple[str, dict[str, float]]] = (
    ("all steps", {}),
    ("without meaning", {"meaning": 0.0}),
    ("without neighbours' vectors", {"blend": 0.0}),
    ("without taking out the mean", {"common": 0.0}),
    ("without the question's terms", {"asked": 0.0}),
    ("without neighbours' scores", {"near": 0.0}),
    ("without sessions", {"session": 0.0}),
    ("without speakers", {"speaker": 0.0}),
    ("without times", {"time": 0.0}),
    ("without lowering questions", {"asking": 0.0}),
    ("without lengths", {"length": 0.0}),
)


def recall(data: DataSet) -> None:
    """Prints what is found with all steps, without each of them, and by words alone."""
    by = weights(language(next(question.text for _, question in data.asked)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lab.db"
        fill(path, data)
        for name, changed in STEPS:
            print(f"{data.name}  {name:30} {_line(ask(path, data, replace(by, **changed)))}", flush=True)
        print(f"{data.name}  {'words alone':30} {_line(ask(path, data, words=True))}")


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
