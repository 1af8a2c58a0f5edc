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
    quoted = " OR ".join('"' + term.replace('"', '""') + '"' for term in wanted)
    whole = narrowed.session_pk is None and scope.agent_id is None
    rows = db.tuples(
        "fulltext_search" if whole else "fulltext_search_narrowed",
        {
            "match": f'scope : "s{narrowed.scope_id}" AND terms : ({quoted})',
            "kinds": json.dumps(kind_codes.codes(kinds)),
            "limit": limit,
            "session_pk": narrowed.session_pk,
            "agent_id": scope.agent_id,
        },
    )
    return [Candidate(*kind_codes.split(key), score) for key, score in rows]
