"""Full-text search over terms made in Python (memory/terms.py). User text never reaches MATCH: terms are
quoted.

SQLite's index says which rows of the scope hold a term; rows are ranked here, by BM25 over the scope alone.
SQLite's own bm25 was measured at 11 ms a question over 60,000 rows of others, since it counts each term in all
of them, and gives terms that more than half of the rows hold no worth at all.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory.lexical import rarity, score
from memory.terms import terms as terms_of
from memory.types import Candidate, Kind, Scope
from store import kinds as kind_codes
from store import messages
from store.db import Database
from store.narrowing import Narrowed, narrow
from store.term_shares import TermShares

IndexRow: TypeAlias = tuple[Kind, int, int, str]
"""(kind, id, scope id, terms separated by spaces)."""
Keys: TypeAlias = NDArray[np.int64]

MAX_TERMS = 256
"""Longer queries keep the first so many; then all of them compete by how rare they are."""
LARGE = 2_000
"""A scope with more messages is large: terms that too many of its rows hold are left out."""
BUDGET = 3_000
"""Rows that a search of a large scope looks at, as far as it can tell beforehand."""
SEEN = 40
"""How frequent a term is there is told from its newest so many rows."""
_STALE = 1.01
"""How frequent a term is is looked up anew once there are so many times the rows."""
_MOST_SHARES = 10_000
READ = 40
"""So many of the best are read, to see how often they hold the terms and how long they are."""
CUT = 2_000
"""Of a longer text only the beginning is looked at."""


def index(db: Database, rows: Sequence[IndexRow]) -> None:
    """Indexes rows; in the transaction that writes them."""
    key = kind_codes.key
    db.many("fulltext_index", [(key(kind, i), f"s{scope}", terms) for kind, i, scope, terms in rows])


def remove(db: Database, kind: Kind, ids: Sequence[int]) -> None:
    """Takes rows out; ids that are not indexed do no harm."""
    db.many("fulltext_remove", [(kind_codes.key(kind, i),) for i in ids])


def search(
    db: Database,
    scope: Scope,
    terms: Sequence[str],
    limit: int,
    kinds: Sequence[Kind] = ("message", "summary"),
) -> list[Candidate]:
    """The best `limit` rows that hold any of the terms, best first; score is BM25, higher is better.

    Only rows of the scope are looked at; a `session_id` or `agent_id` in it narrows further. At most 256
    terms count. Behind the first 40 a row is taken to be of average length and to hold each term once.
    """
    narrowed = narrow(db, scope)
    wanted = list(dict.fromkeys(terms))[:MAX_TERMS]
    if narrowed is None or not wanted or not kinds:
        return []
    size = int(db.value("fulltext_scope_size", scope_id=narrowed.scope_id))
    wanted = _affordable(db, wanted, size)
    postings = [_of_kinds(keys, kinds) for keys in _postings(db, narrowed.scope_id, wanted, size)]
    worth = {t: rarity(len(keys), size) for t, keys in zip(wanted, postings, strict=True) if len(keys)}
    if not worth:
        return []
    found, at = np.unique(np.concatenate(postings), return_inverse=True)
    scores = np.bincount(at, np.repeat(list(worth.values()), [len(keys) for keys in postings if len(keys)]))
    if narrowed.session_pk is not None or scope.agent_id is not None:
        scores = np.where(np.isin(found, _narrowed(db, narrowed, scope.agent_id, found)), scores, 0.0)
    order = np.lexsort((-found, -scores))[: max(limit, READ)]
    best = [(int(found[i]), float(scores[i])) for i in order if scores[i] > 0.0]
    best = sorted([*_read(db, best[:READ], worth), *best[READ:]], key=lambda pair: (-pair[1], -pair[0]))
    return [Candidate(*kind_codes.split(key), value) for key, value in best[:limit]]


class Postings(NamedTuple):
    """Which rows of a scope hold which terms.

    `keys` has for each of `terms` the keys of its rows (store.kinds), ascending; `total` counts the scope's messages.
    """

    terms: list[str]
    keys: list[Keys]
    total: int


def postings(db: Database, scope_id: int, terms: Sequence[str]) -> Postings:
    """The rows of the scope that hold each term, of all kinds; of a large scope for its rarest terms only.

    What a row is worth is left to the caller. At most 256 terms count: a question may be a whole dialogue.
    """
    size = int(db.value("fulltext_scope_size", scope_id=scope_id))
    wanted = list(dict.fromkeys(terms))[:MAX_TERMS]
    wanted = _affordable(db, wanted, size) if wanted else []
    found = _postings(db, scope_id, wanted, size) if wanted else []
    return Postings(wanted, [np.sort(keys) for keys in found], size)


def _affordable(db: Database, terms: list[str], size: int) -> list[str]:
    """All terms, but in a large scope the rarest only, whose rows together are within the budget.

    A term that half of the rows hold says next to nothing, and ranking its rows takes a hundred times as long as those
    of the terms that matter. The rarest one is always kept.
    """
    if size <= LARGE or len(terms) == 1:
        return terms
    rows = [SEEN if share is None else size * share for share in _shares(db, terms)]
    kept: list[int] = []
    total = 0.0
    for count, position in sorted(zip(rows, range(len(terms)), strict=True)):
        total += count
        if kept and total > BUDGET:
            break
        kept.append(position)
    return [terms[position] for position in sorted(kept)]


def _shares(db: Database, terms: Sequence[str]) -> list[float | None]:
    """About which share of all rows holds each term; None for the rarest. The connection remembers them."""
    newest = messages.next_message_id(db)
    if newest > _STALE * db.term_shares.newest or len(db.term_shares.by_term) > _MOST_SHARES:
        db.term_shares = TermShares(newest)
    known = db.term_shares.by_term
    unknown = [term for term in terms if term not in known]
    if unknown:
        matches = json.dumps([f"terms : {_quoted(term)}" for term in unknown])
        reached = db.tuples("fulltext_rarity", {"matches": matches, "seen": SEEN})
        for term, (key,) in zip(unknown, reached, strict=True):
            known[term] = None if key is None else SEEN / max(SEEN, newest - key / 4)
    return [known[term] for term in terms]


def _postings(db: Database, scope_id: int, terms: Sequence[str], size: int) -> list[Keys]:
    bounded = size > LARGE and len(terms) == 1
    if not bounded and size > LARGE and 2 * size >= messages.next_message_id(db):
        matches = json.dumps([f"terms : {_quoted(term)}" for term in terms])
        rows = db.tuples("fulltext_postings_mostly", {"matches": matches, "scope_id": scope_id})
    else:
        matches = json.dumps([f'scope : "s{scope_id}" AND terms : {_quoted(term)}' for term in terms])
        rows = db.tuples("fulltext_newest" if bounded else "fulltext_postings", {"matches": matches, "most": BUDGET})
    return [np.fromstring(text or "", np.int64, sep=",") for (text,) in rows]


def _of_kinds(keys: Keys, kinds: Sequence[Kind]) -> Keys:
    return keys[np.isin(keys & 3, kind_codes.codes(kinds))]


def _narrowed(db: Database, narrowed: Narrowed, agent_id: str | None, keys: Keys) -> list[int]:
    asked = {"keys": json.dumps(keys.tolist()), "session_pk": narrowed.session_pk, "agent_id": agent_id}
    return [key for (key,) in db.tuples("fulltext_narrow", asked)]


def _read(db: Database, best: Sequence[tuple[int, float]], worth: dict[str, float]) -> list[tuple[int, float]]:
    """The same rows with their scores as their texts have them; one whose text is gone stays as it is."""
    asked = {"keys": json.dumps([key for key, _ in best]), "cut": CUT}
    rows = {key: terms_of(text) for key, text in db.tuples("fulltext_texts", asked) if text is not None}
    average = sum(map(len, rows.values())) / max(1, len(rows)) or 1.0
    return [(key, score(rows[key], worth, average) if key in rows else value) for key, value in best]


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
