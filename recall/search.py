"""Search: candidates of all arms ranked by memory.ranking, and their rows as hits."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from llm.offline import OfflineResponder
from memory.filters import EVERYTHING, Filter
from memory.ranking import CANDIDATES, Key, Scored, Weights, rank, rank_by_words, weights
from memory.redundancy import Dropped, choose
from memory.terms import language, query_terms, terms
from memory.timehints import asks_recent, time_hints
from memory.types import Degraded, Hit, Kind, Scope, StoredMessage
from recall.candidates import FEWER, Asked, Found, find, of_tail
from recall.meaning_arm import QuerySpace
from recall.rows import Row, Rows, hit, load
from store import kinds as kind_codes
from store.db import Database

SEARCHED: tuple[Kind, ...] = ("message", "summary", "fact")
TOLD: tuple[Kind, ...] = ("message", "summary")
"""What was told in sessions; facts stand in a part of a context of their own."""
OFFLINE = OfflineResponder().name


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for.

    Attributes:
        text: as it was asked; only terms made of it reach SQLite.
        limit: most hits.
        kinds: of what.
        vector: the query's embedding, None to search by words alone.
        candidates: how many each arm finds before they are ranked.
        without: stored rows that are left out.
        echoes: also what the offline responder answered, which only says again what stands elsewhere.
        filter: what else must hold of a hit.
        by: what each part of the score counts; None as the query's language has it.
        explain: say of each hit which arms found it, and what was dropped and why.
    """

    text: str
    limit: int
    kinds: Sequence[Kind] = SEARCHED
    vector: QuerySpace | None = None
    candidates: int = CANDIDATES
    without: Collection[Key] = field(default_factory=frozenset)
    echoes: bool = True
    filter: Filter = EVERYTHING
    explain: bool = False
    by: Weights | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first; `dropped` is filled where an explanation is asked for."""

    hits: list[Hit]
    degraded: list[Degraded] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)


def search_store(db: Database, scope: Scope, query: Query, tail: Sequence[StoredMessage], now: float) -> Answer:
    """The best hits of the scope. `tail`: its messages that are not stored; call it within one snapshot."""
    asked = _asked(query, now)
    return _answer(asked, find(db, scope, asked, tail), query, lambda keys: load(db, scope, keys))


def search_tail(query: Query, tail: Sequence[StoredMessage], now: float) -> Answer:
    """The best hits of the tail alone, for when SQLite cannot be read."""
    asked = _asked(query, now)
    return _answer(asked, of_tail(asked, tail), query, lambda _: {})


def _asked(query: Query, now: float) -> Asked:
    moment = now if query.filter.as_of is None else query.filter.as_of
    return Asked(
        terms=query_terms(query.text),
        words=frozenset(terms(query.text)),
        vector=query.vector,
        kinds=query.kinds,
        spans=time_hints(query.text, moment),
        breadth=max(query.candidates, 4 * query.limit) + len(query.without),
        narrow=max(FEWER, 4 * query.limit) + len(query.without),
        filter=query.filter,
        without=query.without,
        recent=asks_recent(query.text),
        now=now,
        by=query.by or weights(language(query.text)),
    )


def _answer(asked: Asked, found: Found, query: Query, read: Callable[[list[Key]], Rows]) -> Answer:
    if found.by_meaning:
        scored = rank(found.pool, asked.by, spans=asked.spans, now=asked.now)
    else:
        scored = rank_by_words(found.pool, asked.by, spans=asked.spans, now=asked.now, recent=asked.recent)
    rows: dict[Key, Row] = {}
    echoes: list[Dropped] = []
    chosen = choose(_texts(scored, query, found, read, rows, echoes), query.limit, found.low)
    hits = [hit(item, rows[item.kind, item.id]) for item in chosen.kept]
    if not query.explain:
        return Answer(hits, found.degraded)
    hits = [replace(one, why=_why(item, found)) for one, item in zip(hits, chosen.kept, strict=True)]
    return Answer(hits, found.degraded, [*echoes, *chosen.dropped])


def _texts(
    scored: Iterator[Scored],
    query: Query,
    found: Found,
    read: Callable[[list[Key]], Rows],
    rows: dict[Key, Row],
    echoes: list[Dropped],
) -> Iterator[tuple[Scored, str]]:
    """Scored candidates with their texts, read a few at a time into `rows`; those outside the scope are not there."""
    step = 2 * query.limit
    while part := list(islice(scored, step)):
        wanted = [(item.kind, item.id) for item in part]
        rows |= read([key for key in wanted if key not in found.pending])
        rows |= {key: found.pending[key] for key in wanted if key in found.pending}
        for item in part:
            row = rows.get((item.kind, item.id))
            if row is None:
                continue
            if not query.echoes and _is_echo(row):
                echoes.append(Dropped(item, "answered by the offline responder"))
            else:
                yield item, row.content


def _why(scored: Scored, found: Found) -> dict[str, Any]:
    """Which arms found a hit, and at which rank; why it is among the hits."""
    key = (scored.kind, scored.id)
    number = kind_codes.key(*key)
    ranks = {arm: keys.index(number) + 1 for arm, keys in found.ranks.items() if number in keys}
    kept = "fills up" if key in found.low else "not stored yet" if key in found.pending else "ranked"
    return {"ranks": ranks, "kept": kept}


def _is_echo(row: Row) -> bool:
    return isinstance(row, StoredMessage) and row.role == "assistant" and row.metadata.get("model") == OFFLINE
