"""The older timeline at the end of a context: what room the other parts have left."""

from collections.abc import Sequence
from dataclasses import replace

from memory.context import Context
from memory.frames import timeline_frame, timeline_line
from memory.tokens import MESSAGE_OVERHEAD, Corrector, estimate
from memory.types import TimelineEntry


def with_timeline(context: Context, entries: Sequence[TimelineEntry], corrector: Corrector | None = None) -> Context:
    """The context with the newest of `entries` (newest first) that fit into what is left of its budget, told oldest
    first. Nothing else gives way for them."""
    correct = (corrector or Corrector()).correct
    tokens = context.statistics["tokens"]
    room = context.statistics["budget"]["total"] - tokens["total"]
    cost = kept = 0
    for entry in entries:
        frame = 0 if kept else correct(estimate(timeline_frame(())) + MESSAGE_OVERHEAD)
        size = frame + correct(estimate(timeline_line(entry)) + 1)
        if cost + size > room:
            break
        cost, kept = cost + size, kept + 1
    told = list(entries[:kept])[::-1]
    statistics = {
        **context.statistics,
        "tokens": {**tokens, "timeline": cost, "total": tokens["total"] + cost},
        "kept": {**context.statistics["kept"], "timeline": kept},
        "dropped": {**context.statistics["dropped"], "timeline": len(entries) - kept},
    }
    if not told:
        return replace(context, statistics=statistics)
    sources = [{"kind": "timeline", "id": entry.id, "session_id": entry.session_id} for entry in told]
    return replace(
        context,
        messages=[*context.messages, {"role": "system", "content": timeline_frame(told)}],
        statistics=statistics,
        provenance=[*context.provenance, {"index": len(context.messages), "part": "timeline", "sources": sources}],
    )
