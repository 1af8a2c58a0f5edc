"""Assembly of a context: messages ready for a chat API, in a fixed order and within a budget.

Order: runtime, checkpoint, window, summaries of the session, facts, recalled memories.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from memory.budget import Budget, Kept, fitting, shrink
from memory.chatlist import Group, cut_middle, group, render
from memory.compaction.in_prompt import checkpoint_text
from memory.compaction.parts import ActiveCheckpoint
from memory.frames import (
    fact_line,
    facts_frame,
    recalled_frame,
    record_line,
    summaries_frame,
)
from memory.tokens import MESSAGE_OVERHEAD, Corrector, estimate
from memory.types import Degraded, Hit, StoredMessage, Summary


@dataclass(frozen=True, slots=True)
class Context:
    """`messages` in OpenAI's chat form; `statistics` counts tokens and what was left out, a part each;
    `provenance` says for each message (by `index`) which part it is and which rows stand behind it."""

    messages: list[dict[str, Any]]
    statistics: dict[str, Any]
    provenance: list[dict[str, Any]]
    degraded: list[Degraded] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Recall:
    """What may be recalled for a query, and the rule that decided."""

    summaries: bool
    long_term: bool
    reason: str


@dataclass(frozen=True, slots=True)
class _Sizes:
    window: list[int]
    summaries: list[int]
    facts: list[int]
    hits: list[int]


def recall_wanted(
    query: str,
    *,
    first_round: bool,
    first_round_empty: bool = False,
    min_query_length: int = 2,
    long_term_trigger: Sequence[str] = (),
) -> Recall:
    """Which memories a query calls for: none in an empty first round or for too short a query; long-term ones
    only on a trigger word, when trigger words are set. Length is counted in characters without outer space."""
    text = query.strip()
    if first_round and first_round_empty:
        return Recall(False, False, "first_round_empty")
    if len(text) < min_query_length:
        return Recall(False, False, "min_query_length")
    words = [w.casefold() for w in long_term_trigger if w.strip()]
    if words and not any(w in text.casefold() for w in words):
        return Recall(True, False, "long_term_trigger")
    return Recall(True, True, "wanted")


def assemble(
    *,
    runtime: str | None,
    checkpoint: ActiveCheckpoint | None,
    window: Sequence[StoredMessage],
    summaries: Sequence[Summary],
    hits: Sequence[Hit],
    budget: Budget,
    facts: Sequence[Hit] = (),
    message_cut: int = 2_000,
    corrector: Corrector | None = None,
    degraded: Sequence[Degraded] = (),
) -> Context:
    """A context from its parts. `window` is oldest first, `summaries` in any order, `facts` and `hits` best first.

    Facts and recalled memories share one budget: where there are both, facts fill at most half of it, and under
    pressure the recalled memories go first.

    The checkpoint is cut to what there is room for. The newest user message and what follows it always stay; so the
    budget is exceeded only if they and the runtime text alone are more than it holds.
    """
    correct = (corrector or Corrector()).correct
    groups, orphans = group(window)
    rendered = [render(g, message_cut) for g in groups]
    newest_first = sorted(summaries, key=lambda s: (-s.turn_last, -s.id))
    texts = [cut_middle(h.content, message_cut) for h in hits]
    sizes = _measured(rendered, newest_first, facts, hits, texts, correct)
    most = fitting(sizes.facts, budget.facts // 2 if hits else budget.facts)
    text = checkpoint_text(checkpoint, budget.total, correct, _at_least(sizes, runtime, groups, correct))
    fixed = {"fixed": _fixed(runtime, correct), "checkpoint": _fixed(text, correct)}
    kept = shrink(
        budget,
        fixed=sum(fixed.values()),
        window=sizes.window,
        summaries=sizes.summaries,
        facts=[*sizes.facts[:most], *sizes.hits],
        newest=_newest(groups),
    )
    n_facts = min(most, kept.facts)
    n_hits = kept.facts - n_facts
    builder = _Builder()
    builder.fixed(runtime, checkpoint, text)
    for unit, messages in zip(groups[kept.window_from :], rendered[kept.window_from :], strict=True):
        builder.window(unit, messages)
    builder.summaries(newest_first[: kept.summaries][::-1])
    builder.facts(facts[:n_facts])
    builder.recalled(hits[:n_hits], texts[:n_hits])
    cut = sum(len(m.content) > message_cut for g in groups[kept.window_from :] for m in g.members)
    statistics = _statistics(fixed, sizes, kept, n_facts, budget, groups, len(orphans), cut)
    return Context(builder.messages, statistics, builder.provenance, list(degraded))


def _measured(
    rendered: Sequence[Sequence[dict[str, Any]]],
    summaries: Sequence[Summary],
    facts: Sequence[Hit],
    hits: Sequence[Hit],
    texts: Sequence[str],
    correct: Any,
) -> _Sizes:
    """Tokens of everything that may come in."""
    lines = [record_line(h, t) for h, t in zip(hits, texts, strict=True)]
    return _Sizes(
        window=[correct(sum(map(message_tokens, messages))) for messages in rendered],
        summaries=_list_sizes(
            summaries_frame(()), [f"turn {s.turn_first}-{s.turn_last}: {s.content}" for s in summaries], correct
        ),
        facts=_list_sizes(facts_frame(()), [fact_line(f) for f in facts], correct),
        hits=_list_sizes(recalled_frame((), ()), lines, correct),
    )


def message_tokens(message: Mapping[str, Any]) -> int:
    """Estimated tokens of one chat message, its calls and frame included."""
    size = estimate(message.get("content") or "") + MESSAGE_OVERHEAD
    for call in message.get("tool_calls") or ():
        size += (
            estimate(str(call["function"].get("name")))
            + estimate(str(call["function"].get("arguments") or ""))
            + MESSAGE_OVERHEAD
        )
    return size


def _fixed(text: str | None, correct: Callable[[int], int]) -> int:
    return correct(estimate(text) + MESSAGE_OVERHEAD) if text else 0


def _at_least(sizes: _Sizes, runtime: str | None, groups: Sequence[Group], correct: Callable[[int], int]) -> int:
    """Tokens of what stays whatever the budget is."""
    return _fixed(runtime, correct) + sum(sizes.window[_newest(groups) :])


class _Builder:
    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.provenance: list[dict[str, Any]] = []

    def _add(self, message: dict[str, Any], part: str, **source: Any) -> None:
        self.provenance.append({"index": len(self.messages), "part": part, **source})
        self.messages.append(message)

    def fixed(self, runtime: str | None, checkpoint: ActiveCheckpoint | None, text: str | None) -> None:
        if runtime:
            self._add({"role": "system", "content": runtime}, "runtime")
        if checkpoint is not None and text is not None:
            source = {"kind": "checkpoint", "id": checkpoint.id, "seq_last": checkpoint.boundary_seq}
            self._add({"role": "system", "content": text}, "checkpoint", sources=[source])

    def window(self, unit: Group, messages: Sequence[dict[str, Any]]) -> None:
        by_call = {m.metadata.get("tool_call_id"): m for m in unit.results.values()}
        for message in messages:
            source = by_call.get(message.get("tool_call_id"), unit.head) if message["role"] == "tool" else unit.head
            self._add(message, "window", event_id=source.event_id, seq=source.seq, turn=source.turn)

    def summaries(self, summaries: Sequence[Summary]) -> None:
        if summaries:
            sources = [
                {"kind": "summary", "id": s.id, "turn_first": s.turn_first, "turn_last": s.turn_last} for s in summaries
            ]
            self._add({"role": "system", "content": summaries_frame(summaries)}, "summaries", sources=sources)

    def facts(self, facts: Sequence[Hit]) -> None:
        if facts:
            sources = [
                {
                    "kind": f.kind,
                    "id": f.id,
                    "memory_id": f.metadata.get("memory_id"),
                    "session_id": f.session_id or None,
                    "score": f.score,
                    "parts": dict(f.parts),
                }
                for f in facts
            ]
            self._add({"role": "system", "content": facts_frame(facts)}, "facts", sources=sources)

    def recalled(self, hits: Sequence[Hit], texts: Sequence[str]) -> None:
        if hits:
            sources = [
                {
                    "kind": h.kind,
                    "id": h.id,
                    "event_id": h.event_id,
                    "session_id": h.session_id,
                    "score": h.score,
                    "parts": dict(h.parts),
                }
                for h in hits
            ]
            self._add({"role": "system", "content": recalled_frame(hits, texts)}, "recalled", sources=sources)


def _newest(groups: Sequence[Group]) -> int:
    """Index of the group that must stay: the newest user message, else the last one."""
    users = [i for i, g in enumerate(groups) if g.head.role == "user"]
    return users[-1] if users else max(0, len(groups) - 1)


def _list_sizes(frame: str, lines: Sequence[str], correct: Any) -> list[int]:
    """Tokens of each line; the first one bears the frame."""
    extra = estimate(frame) + MESSAGE_OVERHEAD
    return [correct(estimate(line) + 1 + (extra if i == 0 else 0)) for i, line in enumerate(lines)]


def _statistics(
    fixed: Mapping[str, int],
    sizes: _Sizes,
    kept: Kept,
    n_facts: int,
    budget: Budget,
    groups: Sequence[Group],
    orphans: int,
    cut: int,
) -> dict[str, Any]:
    n_hits = kept.facts - n_facts
    tokens = {
        **fixed,
        "window": sum(sizes.window[kept.window_from :]),
        "summaries": sum(sizes.summaries[: kept.summaries]),
        "facts": sum(sizes.facts[:n_facts]),
        "recalled": sum(sizes.hits[:n_hits]),
    }
    total = sum(tokens.values())
    return {
        "tokens": {**tokens, "total": total},
        "budget": asdict(budget),
        "over_budget": max(0, total - budget.total),
        "kept": {
            "window": sum(len(g.members) for g in groups[kept.window_from :]),
            "summaries": kept.summaries,
            "facts": n_facts,
            "recalled": n_hits,
            "checkpoint": int(fixed["checkpoint"] > 0),
        },
        "dropped": {
            "window": sum(len(g.members) for g in groups[: kept.window_from]),
            "orphaned_tool_results": orphans,
            "summaries": len(sizes.summaries) - kept.summaries,
            "facts": len(sizes.facts) - n_facts,
            "recalled": len(sizes.hits) - n_hits,
        },
        "cut_messages": cut,
    }
