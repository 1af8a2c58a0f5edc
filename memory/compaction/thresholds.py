"""When a session's prompt is compacted, and up to where.

A window has two sizes: the tokens of the model, and the messages that stay verbatim. A chat of long messages fills the
first, one of short messages the second; what has fallen out of either is in no prompt any more. So both are looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.toolcalls import answered_call, call_ids
from memory.types import StoredMessage


@dataclass(frozen=True, slots=True)
class CompactionRules:
    """Tokens of the model's window, messages that stay verbatim, shares of these, and messages that are never compacted.

    Attributes:
        reuse_share: from this share of a window on, a checkpoint stands in for what came before (level 2).
        compact_share: from this share of the model's window on, a session is due for compaction (level 3).
        keep: the newest messages that a compaction leaves alone.
    """

    window_tokens: int = 32_768
    window_messages: int = 40
    reuse_share: float = 0.5
    compact_share: float = 0.75
    keep: int = 5

    def due(self, tokens: int, messages: int) -> int | None:
        """How many of the newest messages stay verbatim, if a session is due whose messages since the last boundary
        are so many and have so many tokens; else None.

        By tokens, all but `keep` are compacted; by messages only half a window, so that as much as the window can
        hold stays verbatim.
        """
        if messages <= self.keep:
            return None
        if tokens >= self.compact_share * self.window_tokens:
            return self.keep
        if messages >= max(self.window_messages, 2 * self.keep):
            return max(self.keep, self.window_messages // 2)
        return None

    def reuse(self, tokens: int, messages: int, window_tokens: int) -> bool:
        """Whether a checkpoint is to stand in for older messages, for a model with a window of `window_tokens` and a
        session whose messages since its start or reset are so many and have so many tokens."""
        return tokens >= self.reuse_share * window_tokens or messages >= self.reuse_share * self.window_messages


def whole_boundary(tail: Sequence[StoredMessage]) -> int:
    """The last `seq` of `tail` up to which tool calls stand together with their results; 0 where there is none.

    A boundary between a call and its result would show the window a result without its call. Calls that a user's
    message passed over are given up, as they are for turns.
    """
    end = 0
    waiting: set[str] = set()
    for message in tail:
        if message.role == "user":
            waiting.clear()
        elif message.role == "assistant":
            waiting.update(call_ids(message.metadata))
        elif message.role == "tool":
            waiting.discard(answered_call(message.metadata) or "")
        if not waiting:
            end = message.seq
    return end
