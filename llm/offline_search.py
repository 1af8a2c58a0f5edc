"""Finds, among what a context holds, the sentences that answer a question, by the words they share."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from llm.offline_phrases import only_asks, says_nothing_new
from llm.ports import ChatMessage
from memory.recalled import RecalledItem, recalled_items, summary_items
from memory.terms import query_terms, terms

_MOST = 3
"""Quotes in one answer."""
_CLOSE = 0.6
"""A further quote scores at least this share of the best one."""
_RANK = 0.25
"""Weight of the order in which things were recalled, beside the shared words' 1."""
_LONG = 300
"""Characters; of a longer text the best sentences are quoted."""
_SENTENCE = re.compile(r"[^.!?。！？；\n]+(?:[.!?。！？；]+[\"'”’)]*|\n|$)\s*")


@dataclass(frozen=True, slots=True)
class Quote:
    """Words to be said back, taken as they stand from `item`."""

    item: RecalledItem
    text: str


def candidates(messages: Sequence[ChatMessage]) -> list[RecalledItem]:
    """What may be quoted: recalled memories best first, the window newest first, then summaries.

    Questions, and what the responder said itself, hold no answer and are left out.
    """
    spoken = [m for m in messages if m.get("role") in ("user", "assistant") and m.get("content")]
    last = max((i for i, m in enumerate(spoken) if m["role"] == "user"), default=0)
    window = [RecalledItem(str(m["content"]), m["role"]) for m in reversed(spoken[:last])]
    found: dict[str, RecalledItem] = {}
    for item in [*recalled_items(messages), *window, *reversed(summary_items(messages))]:
        text = " ".join(item.text.split())
        if text and not only_asks(text) and not says_nothing_new(text):
            found.setdefault(text, item)
    return list(found.values())


def best_quotes(question: str, items: Sequence[RecalledItem]) -> list[Quote]:
    """At most three quotes, best first; without a shared word, what was recalled as nearest."""
    wanted = query_terms(question)
    bags = [set(terms(item.text)) for item in items]
    weights = _weights(wanted, bags)
    whole = sum(weights.values()) or 1.0
    shared = [sum(weights[term] for term in wanted if term in bag) / whole for bag in bags]
    best = max(shared, default=0.0)
    if best == 0:
        return [Quote(item, _excerpt(item.text, wanted)) for item in items if item.day][:_MOST]
    ranked = sorted(
        (place for place in range(len(items)) if shared[place] > 0),
        key=lambda place: (-(shared[place] + _RANK / (1 + place)), place),
    )
    top = shared[ranked[0]]
    kept = [place for place in ranked if shared[place] >= _CLOSE * top][:_MOST]
    return [Quote(items[place], _excerpt(items[place].text, wanted)) for place in kept]


def _weights(wanted: Sequence[str], bags: Sequence[set[str]]) -> dict[str, float]:
    """Each term by its rarity among the candidates; one that none holds weighs nothing."""
    holders = Counter(term for bag in bags for term in wanted if term in bag)
    return {term: math.log(1 + len(bags) / holders[term]) if holders[term] else 0.0 for term in wanted}


def _excerpt(text: str, wanted: Sequence[str]) -> str:
    """`text`, or of a long one the sentence that shares most with the question, and what follows."""
    text = text.strip()
    if len(text) <= _LONG:
        return text
    sentences = _SENTENCE.findall(text) or [text]
    sought = set(wanted)
    scores = [len(sought & set(terms(sentence))) for sentence in sentences]
    first = max(range(len(sentences)), key=lambda place: (scores[place], -place))
    taken = ""
    for sentence in sentences[first:]:
        if taken and len(taken) + len(sentence) > _LONG:
            break
        taken += sentence
    return taken[:_LONG].strip()
