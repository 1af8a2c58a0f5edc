"""Hybrid search: full text and vectors in SQLite, and by words what is not stored yet."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from llm.offline import OfflineResponder
from memory.ranking import Key, Scored, dense_weight, fuse, rank_by_keyword
from memory.terms import language, query_terms, searchable, terms
from memory.tokens import estimate
from memory.types import Candidate, Degraded, Hit, Kind, Scope, StoredMessage, Summary
from recall.candidates import Found, QuerySpace, find, hit, load
from store.db import Database

SEARCHED: tuple[Kind, ...] = ("message", "summary")
OFFLINE = OfflineResponder().name
_BY_WORDS = 100
"""Most candidates that are ranked without vectors, for which all their rows are read."""

Row: TypeAlias = StoredMessage | Summary
Rows: TypeAlias = Mapping[Key, Row]


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for.

    Attributes:
        text: as it was asked; only terms made of it reach SQLite.
        limit: most hits.
        kinds: of what; kinds that cannot be searched find nothing.
        vector: the query's embedding, None to search by words alone.
        candidates: how many each arm finds before they are fused.
        without: stored rows that are left out.
        echoes: also what the offline responder answered, which only says again what stands elsewhere.
    """

    text: str
    limit: int
    kinds: Sequence[Kind] = SEARCHED
    vector: QuerySpace | None = None
    candidates: int = 200
    without: Collection[Key] = field(default_factory=frozenset)
    echoes: bool = True


def search_store(
    db: Database, scope: Scope, query: Query, tail: Sequence[StoredMessage], now: float
) -> tuple[list[Hit], list[Degraded]]:
    """The best hits of the scope. `tail`: its messages that are not stored; call it within one snapshot."""
    kinds = [kind for kind in query.kinds if kind in SEARCHED]
    wanted = query_terms(query.text)
    breadth = max(query.candidates, 4 * query.limit) + len(query.without)
    found = find(db, scope, wanted, query.vector, breadth, kinds)
    text, dense = _standing(found.text, query), _standing(found.dense, query)
    pending, pending_rows = _tail_candidates(
        tail if "message" in kinds else (), wanted, _full_match(db, scope, text, wanted) if tail else 1.0
    )
    if not dense:
        text = text[: max(_BY_WORDS, query.limit)]
        rows = load(db, scope, [(c.kind, c.id) for c in text]) | pending_rows
        return _by_words([*text, *pending], rows, query, now), found.degraded
    weight = dense_weight(language(query.text))
    lengths = found.lengths | {key: estimate(row.content) for key, row in pending_rows.items()}
    scored = fuse([*text, *pending], dense, weight=weight, lengths=lengths, neighbours=_standing_beside(found, query))
    read: Callable[[list[Key]], Rows] = lambda keys: load(db, scope, keys) | pending_rows  # noqa: E731 - one use
    return _best(_with_rows(scored, read, 2 * query.limit), query), found.degraded


def search_tail(query: Query, tail: Sequence[StoredMessage], now: float) -> list[Hit]:
    """The best hits of the tail alone, for when SQLite cannot be read."""
    if "message" not in query.kinds:
        return []
    pending, rows = _tail_candidates(tail, query_terms(query.text), 1.0)
    return _by_words(pending, rows, query, now)


def _standing(found: Iterable[Candidate], query: Query) -> list[Candidate]:
    return [c for c in found if (c.kind, c.id) not in query.without]


def _standing_beside(found: Found, query: Query) -> dict[Key, list[Key]]:
    return {key: [n for n in near if n not in query.without] for key, near in found.neighbours.items()}


def _tail_candidates(
    tail: Sequence[StoredMessage], wanted: Sequence[str], full_match: float
) -> tuple[list[Candidate], dict[Key, Row]]:
    """The tail's messages as text candidates, under negative ids: they have none of their own yet.

    One that holds all the terms scores `full_match`, one that holds some in proportion.
    """
    candidates: list[Candidate] = []
    rows: dict[Key, Row] = {}
    for place, message in enumerate(tail, 1):
        share = _share(message, wanted)
        if share:
            rows["message", -place] = replace(message, id=-place)
            candidates.append(Candidate("message", -place, share * full_match))
    return candidates, rows


def _full_match(db: Database, scope: Scope, text: Sequence[Candidate], wanted: Sequence[str]) -> float:
    """About what a row with all the terms would score, judged by the best match and its share of them."""
    if not text:
        return 1.0
    best = text[0]
    for row in load(db, scope, [(best.kind, best.id)]).values():
        return best.score / (_share(row, wanted) or 1.0)
    return best.score


def _share(row: Row, wanted: Sequence[str]) -> float:
    """The share of the terms that the row holds, 0 to 1."""
    name = row.metadata.get("name") if isinstance(row, StoredMessage) else None
    held = set(terms(searchable(name if isinstance(name, str) else None, row.content)))
    return sum(term in held for term in wanted) / len(wanted) if wanted else 0.0


def _by_words(text: Sequence[Candidate], rows: Rows, query: Query, now: float) -> list[Hit]:
    matched = [c for c in text if (c.kind, c.id) in rows]
    scored = rank_by_keyword(matched, {key: row.occurred_at for key, row in rows.items()}, now=now)
    return _best(((item, rows[item.kind, item.id]) for item in scored), query)


def _with_rows(scored: Sequence[Scored], read: Callable[[list[Key]], Rows], step: int) -> Iterator[tuple[Scored, Row]]:
    """Scored rows in order, read a few at a time; those outside the scope are not there."""
    for start in range(0, len(scored), step):
        part = scored[start : start + step]
        rows = read([(item.kind, item.id) for item in part])
        for item in part:
            row = rows.get((item.kind, item.id))
            if row is not None:
                yield item, row


def _best(ranked: Iterable[tuple[Scored, Row]], query: Query) -> list[Hit]:
    """The first `limit`; what says the same as a better one is left out."""
    hits: list[Hit] = []
    said: set[str] = set()
    for item, row in ranked:
        words = " ".join(row.content.split()).casefold()
        if words not in said and (query.echoes or not _is_echo(row)):
            said.add(words)
            hits.append(hit(item, row))
        if len(hits) == query.limit:
            break
    return hits


def _is_echo(row: Row) -> bool:
    return isinstance(row, StoredMessage) and row.role == "assistant" and row.metadata.get("model") == OFFLINE
