"""A checkpoint as it stands in a prompt: as much of it as there is room for."""

from collections.abc import Callable

from memory.compaction.parts import ActiveCheckpoint, as_text, fit
from memory.frames import checkpoint_frame
from memory.tokens import MESSAGE_OVERHEAD, estimate

_PART = 4
"""A checkpoint takes at most one part in so many of the budget."""


def checkpoint_text(
    checkpoint: ActiveCheckpoint | None, budget: int, correct: Callable[[int], int], at_least: int
) -> str | None:
    """The checkpoint framed, cut to a quarter of the budget and to what `at_least` leaves of it; None where that is too
    little for any of it.

    Args:
        budget: tokens of the whole context.
        correct: from estimated tokens to the model's own.
        at_least: tokens of what stays in any case.
    """
    if checkpoint is None:
        return None
    room = min(budget // _PART, budget - at_least)
    frame = estimate(checkpoint_frame("")) + MESSAGE_OVERHEAD
    tokens = room - correct(frame)
    while tokens > 0 and (parts := fit(checkpoint.parts, tokens)):
        text = checkpoint_frame(as_text(parts))
        over = correct(estimate(text) + MESSAGE_OVERHEAD) - room
        if over <= 0:
            return text
        tokens -= over
    return None
