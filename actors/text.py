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
    size = estimate(text)
    return text if size <= limit else cut_middle(text, len(text) * limit // size)
