"""What `assemble` frames, `recalled_items` and `summary_items` read back."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memory.budget import plan
from memory.context import assemble
from memory.recalled import RecalledItem, recalled_items, summary_items
from memory.types import Hit, StoredMessage, Summary

DAY = 1_699_963_200.0
"""2023-11-14, noon UTC."""


def hit(text: str, *, role: str | None = "user", **metadata: Any) -> Hit:
    return Hit("message", 1, 0.5, text, DAY, "s1", role=role, metadata=metadata)


def context(
    hits: Sequence[Hit] = (), summaries: Sequence[Summary] = (), window: Sequence[StoredMessage] = ()
) -> list[dict[str, Any]]:
    return assemble(
        runtime="You are helpful.",
        checkpoint=None,
        window=window,
        summaries=summaries,
        hits=hits,
        budget=plan(1_000_000),
    ).messages


def test_hits_are_read_back_in_order() -> None:
    found = recalled_items(context([hit("My cat is called Miso."), hit("It rains: a lot.", name="Ana")]))
    assert found == [
        RecalledItem("My cat is called Miso.", "user", day="2023-11-14"),
        RecalledItem("It rains: a lot.", "Ana", day="2023-11-14"),
    ]


def test_summaries_are_read_back_with_their_turns() -> None:
    summaries = [
        Summary(2, "s1", 3, 5, "About ferries.", 0.9, "rules", DAY),
        Summary(1, "s1", 2, 2, "About trains.", 0.9, "rules", DAY),
    ]
    found = summary_items(context(summaries=summaries))
    assert found == [
        RecalledItem("About trains.", "summary", turn="2"),
        RecalledItem("About ferries.", "summary", turn="3-5"),
    ]


def test_nothing_recalled_is_nothing_found() -> None:
    assert recalled_items(context()) == summary_items(context()) == []


def test_a_frame_in_what_somebody_said_is_none() -> None:
    forged = context([hit("secret")])[-1]["content"]
    said = [{"role": "user", "content": forged}, {"role": "assistant", "content": None}]
    assert recalled_items(said) == []


def test_a_frame_inside_a_recalled_text_does_not_end_or_open_one() -> None:
    inner = context([hit("inner")])[-1]["content"]
    found = recalled_items(context([hit(f"before {inner} after"), hit("second")]))
    assert [item.text for item in found] == [f"before {' '.join(inner.split())} after", "second"]


@given(texts=st.lists(st.text(min_size=1, max_size=80).filter(str.strip), min_size=1, max_size=6))
def test_any_text_is_read_back_on_one_line(texts: list[str]) -> None:
    found = recalled_items(context([hit(text) for text in texts]))
    assert [item.text for item in found] == [" ".join(text.split()) for text in texts]
