"""Makes what people, models and tools wrote fit to be published."""

from memory.chatlist import cut_middle
from memory.tokens import estimate
from sidestream.fieldtypes import MAX_CONTENT_BYTES


def publishable(text: str) -> str:
    """`text` without what UTF-8 cannot hold, its middle cut out where it is over an event's limit."""
    text = text.encode("utf-8", "replace").decode()
    while (size := len(text.encode())) > MAX_CONTENT_BYTES:
        # The mark takes room too, and characters are of unlike size: so a little less than the proportion.
        text = cut_middle(text, len(text) * MAX_CONTENT_BYTES * 9 // (size * 10))
    return text


def within_tokens(text: str, limit: int) -> str:
    """`text`, its middle cut out with a mark where it is estimated at more than `limit` tokens."""
    if estimate(text) <= limit:
        return text
    # No character is estimated at less than a quarter of a token.
    low, high = 0, min(len(text), 4 * limit)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate(cut_middle(text, middle)) <= limit else (low, middle - 1)
    return cut_middle(text, low)
