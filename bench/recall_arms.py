"""The search arms by themselves, each beside the least that the same work takes: vectors and full text."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.recall_data import A_SESSION, DIMENSIONS, USER, Matrix, fill, names
from bench.table import Cell, Table
from bench.timing import COLUMNS, timed
from memory.terms import query_terms
from memory.types import Candidate, Scope
from store import fulltext, spaces, vectors
from store.db import Database
from store.opening import open_database
from store.vector_cache import VectorCache

K = 10
_RESCORED = 512
MEMORY = 256_000_000


def vector_table(path: Path, kind: str, matrix: Matrix, queries: Matrix) -> Table:
    """One user's vectors: as the product searches them, in memory and in the file, and raw."""
    exact = [set((np.argpartition(-(matrix @ query), K)[:K] + 1).tolist()) for query in queries]
    rows: list[list[Cell]] = []
    with open_database(path, readonly=True) as db:
        space = spaces.active_space(db)
        assert space is not None

        def knn(query: Matrix) -> list[Candidate]:
            with db.snapshot():
                return vectors.knn(db, space, Scope(USER), query.tobytes(), K)

        def measured(name: str, some: Matrix, search: Callable[[Matrix], Any], ids: Callable[[Any], set[int]]) -> None:
            found = [len(ids(search(query)) & exact[n]) / K for n, query in enumerate(some)]
            rows.append([name, *timed(some, search), float(np.mean(found))])

        few = queries[: min(len(queries), 40)]
        measured("in the file (sqlite-vec, bits, then floats)", few, knn, _ids)
        db.vector_cache = VectorCache(MEMORY, start=lambda work: work())
        knn(queries[0])
        measured("in memory, as a reader searches", queries, knn, _ids)
    raw = _Raw(matrix)
    measured("raw: numpy, bits a row, then floats", queries, raw.bits_then_floats, set)
    rows.append(["raw: all bits read once", *timed(queries, raw.read_bits), ""])
    measured("raw: numpy, all floats multiplied", few, raw.floats, set)
    title = f"Vector arm: {len(matrix):,} memories of one user, {DIMENSIONS} dimensions, {kind}"
    return Table(title, ["search", *COLUMNS, f"recall@{K}"], rows, f"{len(queries)} queries, k = {K}, one thread.")


def users_table(path: Path, said: Sequence[str], matrix: Matrix, queries: Matrix, users: int) -> Table:
    """Many users with few memories each."""
    fill(path, said, matrix, users)
    each = len(said) // users
    rng = np.random.default_rng(1)
    whose = rng.integers(0, users, len(queries))
    rows: list[list[Cell]] = []
    with open_database(path, readonly=True) as db:
        space = spaces.active_space(db)
        assert space is not None
        db.vector_cache = VectorCache(MEMORY)

        def knn(number: int) -> list[Candidate]:
            with db.snapshot():
                return vectors.knn(db, space, Scope(names(users)[whose[number]]), queries[number].tobytes(), K)

        found = []
        for n, query in enumerate(queries):
            own = matrix[whose[n] * each : (whose[n] + 1) * each]
            exact = set((np.argsort(-(own @ query))[:K] + 1 + whose[n] * each).tolist())
            found.append(len(exact & _ids(knn(n))) / K)
        rows.append(["vectors", *timed(range(len(queries)), knn), float(np.mean(found))])
        asked = [query_terms(" ".join(said[i].split()[:12])) for i in rng.integers(0, len(said), len(queries))]

        def words(number: int) -> list[Candidate]:
            with db.snapshot():
                return fulltext.search(db, Scope(names(users)[whose[number]]), asked[number], 200)

        rows.append(["full text", *timed(range(len(queries)), words), ""])
    return Table(f"{users:,} users of {each} memories", ["arm", *COLUMNS, f"recall@{K}"], rows, "Searched in the file.")


def text_table(path: Path, asked: Sequence[str], size: int) -> Table:
    """Full text, beside what SQLite's own ranking takes for the same question."""
    questions = [query_terms(text) for text in asked]
    rows: list[list[Cell]] = []
    with open_database(path, readonly=True) as db:

        def postings(terms: list[str]) -> object:
            with db.snapshot():
                return fulltext.postings(db, 1, terms)

        def search(terms: list[str]) -> object:
            with db.snapshot():
                return fulltext.search(db, Scope(USER), terms, 200)

        rows.append(["rows by term", *timed(questions, postings)])
        rows.append(["rows by term, ranked by BM25", *timed(questions, search)])
        rows.append(["raw: FTS5 MATCH and bm25, all terms", *timed(questions[:40], lambda terms: _bm25(db, terms))])
    note = f"Questions of 12 words, of which many are frequent; {size // A_SESSION} sessions; the 200 best."
    return Table(f"Full text: {size:,} messages of one user", ["search", *COLUMNS], rows, note)


def _bm25(db: Database, terms: Sequence[str]) -> object:
    match = 'scope : "s1" AND terms : (' + " OR ".join(json.dumps(term) for term in terms) + ")"
    sql = "SELECT rowid FROM memory_fts WHERE memory_fts MATCH ? ORDER BY bm25(memory_fts, 0.0, 1.0) LIMIT 200"
    return db._execute("bench", sql, (match,)).fetchall()


def _ids(found: Sequence[Candidate]) -> set[int]:
    return {candidate.id for candidate in found}


class _Raw:
    """The same search without a product around it."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._centre = matrix[:400].mean(axis=0)
        self._bits = np.packbits(matrix > self._centre, axis=1).view(np.uint64)

    def bits_then_floats(self, query: Matrix) -> set[int]:
        """Hamming distances row by row, the best of them in floats."""
        signs = np.packbits(query > self._centre).view(np.uint64)
        far = np.bitwise_count(self._bits ^ signs).sum(axis=1, dtype=np.uint16)
        near = np.argpartition(far, _RESCORED)[:_RESCORED]
        best = near[np.argsort(-(self._matrix[near] @ query))[:K]]
        return set((best + 1).tolist())

    def floats(self, query: Matrix) -> set[int]:
        """All cosines."""
        return set((np.argpartition(-(self._matrix @ query), K)[:K] + 1).tolist())

    def read_bits(self, _: Matrix) -> int:
        """As fast as memory hands them out."""
        return int(np.bitwise_or.reduce(self._bits, axis=None))
