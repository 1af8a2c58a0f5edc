"""How many tokens each part of a context may take, and what gives way when it is too much."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares: `context` of the model's window; `window`, `summaries` and `facts` of the context."""

    context: float = 0.6
    window: float = 0.5
    summaries: float = 0.3
    facts: float = 0.2


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens for the whole context and for each of its parts."""

    total: int
    window: int
    summaries: int
    facts: int


@dataclass(frozen=True, slots=True)
class Kept:
    """What stays: the window from index `window_from` on, the first `summaries` and the first `facts` items."""

    window_from: int
    summaries: int
    facts: int


_DEFAULT = Shares()


def plan(model_window: int, shares: Shares = _DEFAULT, *, tokens: int | None = None) -> Budget:
    """The budget for a model with a window of `model_window` tokens, or for `tokens` of context as asked for."""
    total = int(model_window * shares.context) if tokens is None else tokens
    if total < 0:
        raise ValueError("a budget is not negative")
    return Budget(total, int(total * shares.window), int(total * shares.summaries), int(total * shares.facts))


def shrink(
    budget: Budget,
    *,
    fixed: int,
    window: Sequence[int],
    summaries: Sequence[int],
    facts: Sequence[int],
    newest: int,
) -> Kept:
    """What of each part fits. All sizes are tokens.

    `window` is oldest first and is kept from `newest` on, whatever it takes; `summaries` and `facts` are most
    wanted first; `fixed` is what always stays (runtime, checkpoint). Each part first fills its own share and
    what the others leave free. Over the budget, facts give way down to 1, then summaries down to 1, then the
    window from its oldest; only if the rest is too much even so do the last fact and the last summary go.
    """
    spare = max(0, budget.window - sum(window)) + max(0, budget.summaries - sum(summaries))
    n_facts = fitting(facts, budget.facts + spare)
    spare = max(0, budget.window - sum(window)) + max(0, budget.facts - sum(facts))
    n_summaries = fitting(summaries, budget.summaries + spare)
    start = 0

    def over() -> bool:
        used = fixed + sum(window[start:]) + sum(summaries[:n_summaries]) + sum(facts[:n_facts])
        return used > budget.total

    while over() and n_facts > 1:
        n_facts -= 1
    while over() and n_summaries > 1:
        n_summaries -= 1
    while over() and start < newest:
        start += 1
    if over():
        n_facts = 0
    if over():
        n_summaries = 0
    return Kept(start, n_summaries, n_facts)


def fitting(sizes: Sequence[int], room: int) -> int:
    """How many of the first items fit into `room`; at least one where there are any."""
    used = count = 0
    for size in sizes:
        used += size
        if used > room and count:
            break
        count += 1
    return count
