"""Facts for a query: found by words and meaning among what stands now, or by words among what was held earlier."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memory.ranking import Scored
from memory.terms import query_terms, terms
from memory.types import Degraded, Hit, Scope
from memory.weights import WeightPolicy, is_core, present_weight
from recall.meaning_arm import QuerySpace
from recall.search import Query, search_store
from store import fact_reading
from store.db import Database
from store.fact_reading import FactFilter, KnownFact

RELEVANT_FROM = 0.35
"""Share of the best fact's relevance that another needs to be given to an answer unasked."""
_WEIGHT_SHARE, _CONFIDENCE_SHARE = 0.15, 0.15
_CANDIDATES = 100
_LOOKED_AT = 5_000
"""Most facts of an earlier moment that are compared with a query."""


@dataclass(frozen=True, slots=True)
class FactQuery:
    """What is searched for: `text` as it was asked, `vector` its embedding, `which` facts, at most `limit`, none
    that is less than `relevant_from` as relevant as the best."""

    text: str
    limit: int
    vector: QuerySpace | None = None
    which: FactFilter = field(default_factory=FactFilter)
    relevant_from: float = 0.0


def search_facts(
    db: Database, scope: Scope, query: FactQuery, policy: WeightPolicy, now: float
) -> tuple[list[Hit], list[Degraded]]:
    """The best facts of the scope, best first, and what could not be searched; within one snapshot."""
    if query.which.as_of is not None:
        return _held_then(db, scope, query, query_terms(query.text), policy, query.which.as_of), []
    asked = Query(query.text, max(_CANDIDATES, 4 * query.limit), ("fact",), query.vector)
    found = search_store(db, scope, asked, (), now)
    relevant = _relevant(found.hits, query.relevant_from)
    known = fact_reading.by_ids(db, scope, list(relevant), now, query.which)
    hits = [hit(k, policy, now, relevant[k.fact.id]) for k in known]
    return _best(hits, query.limit), found.degraded


def context_facts(
    db: Database, scope: Scope, query: FactQuery, policy: WeightPolicy, now: float
) -> tuple[list[Hit], list[Degraded]]:
    """What an answer is given: the facts that the query calls for, then the core ones."""
    asked, degraded = search_facts(db, scope, query, policy, now)
    shown = {item.id for item in asked}
    core = fact_reading.core(db, scope, policy, now, data_source=query.which.data_source)
    return [*asked, *(hit(k, policy, now) for k in core if k.fact.id not in shown)], degraded


def hit(known: KnownFact, policy: WeightPolicy, now: float, scored: Scored | None = None) -> Hit:
    """A fact as it is handed out; without `scored` it is there for its weight alone."""
    fact, weight = known.fact, present_weight(known.standing, now, policy)
    core = is_core(known.standing, now, policy)
    parts = {"weight": _WEIGHT_SHARE * weight, "confidence": _CONFIDENCE_SHARE * fact.confidence}
    if scored is not None:
        asked = 1.0 - _WEIGHT_SHARE - _CONFIDENCE_SHARE
        parts = {**{name: asked * part for name, part in scored.parts.items()}, **parts}
    return Hit(
        kind="fact",
        id=fact.id,
        score=round(min(sum(parts.values()), 1.0), 6),
        content=fact.content,
        occurred_at=fact.valid_from,
        session_id=fact.session_id or "",
        metadata={
            "memory_id": fact.memory_id,
            "type": fact.memory_type,
            "key": fact.key,
            "tags": list(fact.tags),
            "said_by": fact.said_by,
            "confidence": fact.confidence,
            "weight": round(weight, 4),
            "core": core,
            "valid_to": fact.valid_to,
        },
        parts={name: round(part, 6) for name, part in parts.items()},
    )


def _relevant(hits: Sequence[Hit], least: float) -> dict[int, Scored]:
    """Those at least so relevant in shares of the best; being new is no relevance."""
    told = {h.id: h.score - h.parts.get("keyword_age", 0.0) for h in hits}
    best = max(told.values(), default=0.0)
    return {h.id: Scored("fact", h.id, h.score, h.parts) for h in hits if told[h.id] >= least * best}


def _held_then(
    db: Database, scope: Scope, query: FactQuery, wanted: Sequence[str], policy: WeightPolicy, moment: float
) -> list[Hit]:
    """By words alone: what is not held any more has left the indexes."""
    known, _ = fact_reading.page(db, scope, query.which, _LOOKED_AT)
    hits = []
    for item in known:
        held = set(terms(item.fact.content))
        share = sum(term in held for term in wanted) / len(wanted) if wanted else 0.0
        if share:
            hits.append(hit(item, policy, moment, Scored("fact", item.fact.id, share, {"text": share})))
    return _best(hits, query.limit)


def _best(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """The first `limit` by score; what says the same as a better one is left out."""
    best: dict[str, Hit] = {}
    for item in sorted(hits, key=lambda h: (-h.score, -h.id)):
        best.setdefault(" ".join(item.content.split()).casefold(), item)
    return list(best.values())[:limit]
