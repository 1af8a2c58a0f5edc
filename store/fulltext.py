"""Full-text search over terms made in Python (memory/terms.py). User text never reaches MATCH: terms are
quoted."""

import json
from collections.abc import Sequence
from typing import TypeAlias

from memory.types import Candidate, Kind, Scope
from store import kinds as kind_codes
from store.db import Database
from store.narrowing import narrow

IndexRow: TypeAlias = tuple[Kind, int, int, str]
"""(kind, id, scope id, terms separated by spaces)."""

MAX_TERMS = 64
SAMPLE = 1_000
"""A scope with at least so many messages is large: how frequent a term is there is told from the newest so many."""
BUDGET = 8_000
"""Rows that a search of a large scope looks at, as far as it can tell beforehand."""


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

    Only rows of the scope are looked at; a `session_id` or `agent_id` in it narrows further. At most 64
    terms count.
    """
    narrowed = narrow(db, scope)
    wanted = list(dict.fromkeys(terms))[:MAX_TERMS]
    if narrowed is None or not wanted or not kinds:
        return []
    wanted = _affordable(db, narrowed.scope_id, wanted)
    quoted = " OR ".join(map(_quoted, wanted))
    whole = narrowed.session_pk is None and scope.agent_id is None
    rows = db.tuples(
        "fulltext_search" if whole else "fulltext_search_narrowed",
        {
            "match": f"{_of_scope(narrowed.scope_id)} AND terms : ({quoted})",
            "kinds": json.dumps(kind_codes.codes(kinds)),
            "limit": limit,
            "session_pk": narrowed.session_pk,
            "agent_id": scope.agent_id,
        },
    )
    return [Candidate(*kind_codes.split(key), score) for key, score in rows]


def _affordable(db: Database, scope_id: int, terms: list[str]) -> list[str]:
    """All terms, but in a large scope the rarest only, whose rows together are within the budget.

    A term that half of the rows hold says next to nothing, and ranking its rows takes a hundred times as long as those
    of the terms that matter. The rarest one is always kept.
    """
    start = db.value("fulltext_sample_start", scope_id=scope_id, sample=SAMPLE)
    if start is None or len(terms) == 1:
        return terms
    prefix = f"{_of_scope(scope_id)} AND terms : "
    matches = json.dumps([prefix + _quoted(term) for term in terms])
    counts = [count for (count,) in db.tuples("fulltext_frequencies", {"matches": matches, "start": 4 * start})]
    share = db.value("fulltext_scope_size", scope_id=scope_id) / SAMPLE
    kept: list[int] = []
    rows = 0.0
    for count, position in sorted(zip(counts, range(len(terms)), strict=True)):
        rows += max(count, 0.5) * share
        if kept and rows > BUDGET:
            break
        kept.append(position)
    return [terms[position] for position in sorted(kept)]


def _of_scope(scope_id: int) -> str:
    return f'scope : "s{scope_id}"'


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
