"""Which entries of the timeline a topic calls for: what this session last did, then what was said of it elsewhere."""

from collections.abc import Sequence

from memory.lexical import rarity, score
from memory.terms import query_terms, terms
from memory.types import TimelineEntry


def recalled(
    topic: str, own: Sequence[TimelineEntry], others: Sequence[TimelineEntry], limit: int
) -> list[TimelineEntry]:
    """At most `limit` entries: up to half of them the newest of this session, whatever they tell of; then, best first,
    those of the rest that tell of the topic. Each stands once.

    Args:
        topic: words in any language that full text knows.
        own: entries of this session, newest first; none where no session is meant.
        others: entries of all the user's sessions, newest first.
    """
    first = list(own[: (limit + 1) // 2])
    shown = {entry.id for entry in first}
    rest = list({entry.id: entry for entry in (*own, *others) if entry.id not in shown}.values())
    return [*first, *_best(topic, rest)][:limit]


def _best(topic: str, entries: Sequence[TimelineEntry]) -> list[TimelineEntry]:
    """Entries that hold a term of the topic, best first (BM25 over these entries); of equals the newer first."""
    texts = [terms(entry.content) for entry in entries]
    if not texts:
        return []
    asked = query_terms(topic)
    worth = {term: rarity(sum(term in text for text in texts), len(texts)) for term in asked}
    average = max(1.0, sum(map(len, texts)) / len(texts))
    scored = [(score(text, worth, average), entry) for text, entry in zip(texts, entries, strict=True)]
    scored.sort(key=lambda pair: (-pair[0], -pair[1].ends_at, -pair[1].id))
    return [entry for value, entry in scored if value > 0]
