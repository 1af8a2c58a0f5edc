"""Which rows of a scope a search may find: the filters as sets of keys, made before anything is ranked.

A filter that came after the nearest were chosen would find nothing in a small part of a large scope.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory.filters import Filter
from memory.types import Kind, Scope
from store import kinds as kind_codes
from store.db import Database
from store.narrowing import Narrowed

Keys: TypeAlias = NDArray[np.int64]
"""4 * id + the kind's number (store.kinds)."""

_STATEMENTS: dict[Kind, str] = {
    "message": "selection_messages",
    "summary": "selection_summaries",
    "fact": "selection_facts",
    "timeline": "selection_timeline",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """The keys that may be found, sorted, by kind; None for all of the kind that stand in the index of the scope."""

    keys: Mapping[Kind, Keys | None]

    @property
    def open_kinds(self) -> list[Kind]:
        """Kinds of which everything may be found."""
        return [kind for kind, keys in self.keys.items() if keys is None]

    @property
    def listed(self) -> Keys:
        """All keys that stand in a list, ascending."""
        lists = [keys for keys in self.keys.values() if keys is not None]
        return np.sort(np.concatenate(lists)) if lists else np.zeros(0, dtype=np.int64)

    def allowed(self, keys: Keys) -> Keys:
        """Those of `keys` that may be found."""
        if not len(keys):
            return keys
        may = np.zeros(4, dtype=np.bool_)
        may[kind_codes.codes(self.open_kinds)] = True
        found: Keys = keys[may[keys & 3] | among(keys, self.listed)]
        return found


def among(keys: Keys, ascending: Keys) -> NDArray[np.bool_]:
    """Which of `keys` stand in `ascending`; numpy's isin sorts what is sorted already, and takes four times as long."""
    if not len(ascending):
        return np.zeros(len(keys), dtype=np.bool_)
    place = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    found: NDArray[np.bool_] = ascending[place] == keys
    return found


def select(db: Database, narrowed: Narrowed, scope: Scope, by: Filter, kinds: Sequence[Kind], now: float) -> Selection:
    """What of each kind may be found.

    Facts are always listed: only those that hold, are not expired, and may be seen. Whoever names no session and no
    agent, and narrows nothing, may find every message and summary.
    """
    free = narrowed.session_pk is None and scope.agent_id is None and not by.narrows
    values = _values(narrowed, scope, by, now)
    found: dict[Kind, Keys | None] = {}
    for kind in dict.fromkeys(kinds):
        if free and kind in ("message", "summary"):
            found[kind] = None
        else:
            found[kind] = _keys(db, kind, values)
    return Selection(found)


def _keys(db: Database, kind: Kind, values: dict[str, Any]) -> Keys:
    code = kind_codes.code(kind)
    ids = np.array([i for (i,) in db.tuples(_STATEMENTS[kind], values)], dtype=np.int64)
    return np.sort(4 * ids + code)


def _values(narrowed: Narrowed, scope: Scope, by: Filter, now: float) -> dict[str, Any]:
    ends = [moment for moment in (by.until, by.as_of) if moment is not None]
    return {
        "scope_id": narrowed.scope_id,
        "session_pk": narrowed.session_pk,
        "agent_id": scope.agent_id,
        "since": by.since,
        "until": min(ends) if ends else None,
        "fact_until": by.until,
        "types": json.dumps(by.types) if by.types else None,
        "tags": json.dumps(by.tags) if by.tags else None,
        "min_confidence": by.min_confidence,
        "data_source": by.data_source,
        "metadata": json.dumps(dict(by.metadata)) if by.metadata else None,
        "as_of": by.as_of,
        "at": now if by.as_of is None else by.as_of,
        "statuses": json.dumps(["active", *by.include, *(["superseded"] if by.as_of is not None else [])]),
        "any_time": bool(by.include) and by.as_of is None,
    }
