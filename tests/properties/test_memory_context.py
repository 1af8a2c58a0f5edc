"""Any window, any budget: the list is one a chat API accepts, and the budget holds where it can."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memory.budget import Budget, plan, shrink
from memory.context import Context, assemble, message_tokens
from memory.frames import framed
from memory.tokens import estimate
from memory.types import Hit, StoredMessage, Summary

IDS = st.sampled_from(["a", "b", "c"])
TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=80) | st.integers(1, 3_000).map("x".__mul__)


@st.composite
def messages(draw: st.DrawFn) -> StoredMessage:
    role = draw(st.sampled_from(["user", "assistant", "assistant", "tool", "system"]))
    metadata: dict[str, Any] = {}
    if role == "assistant":
        calls = draw(st.lists(IDS, max_size=2, unique=True))
        metadata["tool_calls"] = [
            {"id": c, "type": "function", "function": {"name": "f", "arguments": "{}"}} for c in calls
        ]
    if role == "tool":
        metadata["tool_call_id"] = draw(IDS)
    return StoredMessage("e", "s", role, draw(TEXT), 0.0, metadata=metadata)


WINDOWS = st.lists(messages(), max_size=12)
SUMMARIES = st.lists(TEXT, max_size=5).map(
    lambda texts: [Summary(n, "s", n, n, t, 0.7, "rules", 0.0) for n, t in enumerate(texts)]
)
HITS = st.lists(TEXT, max_size=5).map(lambda texts: [Hit("message", n, 0.5, t, 0.0, "s") for n, t in enumerate(texts)])


def build(window: list[StoredMessage], summaries: list[Summary], hits: list[Hit], tokens: int) -> Context:
    return assemble(
        runtime="Be kind.",
        checkpoint=None,
        window=window,
        summaries=summaries,
        hits=hits,
        budget=plan(0, tokens=tokens),
    )


@given(WINDOWS, SUMMARIES, HITS, st.integers(0, 3_000))
def test_every_call_is_followed_at_once_by_all_its_results_and_no_result_stands_alone(
    window: list[StoredMessage], summaries: list[Summary], hits: list[Hit], tokens: int
) -> None:
    waiting: list[str] = []
    for message in build(window, summaries, hits, tokens).messages:
        if message["role"] == "tool":
            assert waiting and message["tool_call_id"] == waiting.pop(0)
        else:
            assert not waiting
            waiting = [c["id"] for c in message.get("tool_calls", ())]
        assert isinstance(message["content"], str)
        assert "tool_calls" not in message or message["tool_calls"]
    assert not waiting


@given(WINDOWS, SUMMARIES, HITS, st.integers(0, 3_000))
def test_the_budget_holds_but_for_what_must_stay(
    window: list[StoredMessage], summaries: list[Summary], hits: list[Hit], tokens: int
) -> None:
    context = build(window, summaries, hits, tokens)
    total = sum(map(message_tokens, context.messages))
    assert total <= context.statistics["tokens"]["total"]
    kept, over = context.statistics["kept"], context.statistics["over_budget"]
    assert over == 0 or (kept["summaries"], kept["recalled"]) == (0, 0)
    users = [m.content for m in window if m.role == "user"]
    sent = [m for m, p in zip(context.messages, context.provenance, strict=True) if p["part"] == "window"]
    if users:
        newest = [m for m in sent if m["role"] == "user"][-1]["content"]
        assert newest == users[-1] or "characters left out" in newest
        if over:
            assert [m["role"] for m in sent].count("user") == 1
    assert len(context.messages) == len(context.provenance)
    assert [p["index"] for p in context.provenance] == list(range(len(context.messages)))


@given(st.lists(TEXT, max_size=6))
def test_a_frame_ends_only_where_it_ends(lines: list[str]) -> None:
    text = framed("recalled", "intro", lines)
    assert estimate(text) > 0
    rows = text.split("\n")
    assert text.splitlines() == rows
    opening, closing = rows[1], rows[-1]
    assert text.count(closing) == 1
    assert closing == "</" + opening[1:]


SIZES = st.lists(st.integers(1, 500), max_size=8)


@given(st.integers(0, 2_000), st.integers(0, 300), SIZES, SIZES, SIZES, st.data())
def test_shrinking_keeps_its_order(
    total: int, fixed: int, window: list[int], summaries: list[int], facts: list[int], data: st.DataObject
) -> None:
    newest = data.draw(st.integers(0, len(window) - 1)) if window else 0
    kept = shrink(plan(0, tokens=total), fixed=fixed, window=window, summaries=summaries, facts=facts, newest=newest)
    used = fixed + sum(window[kept.window_from :]) + sum(summaries[: kept.summaries]) + sum(facts[: kept.facts])
    assert 0 <= kept.window_from <= newest
    if used > total:
        assert (kept.window_from, kept.summaries, kept.facts) == (newest, 0, 0)
    if kept.window_from > 0:
        assert kept.facts <= 1 and kept.summaries <= 1
    wide = shrink(
        Budget(10**9, 10**9, 10**9, 10**9), fixed=fixed, window=window, summaries=summaries, facts=facts, newest=newest
    )
    assert (wide.window_from, wide.summaries, wide.facts) == (0, len(summaries), len(facts))
