"""What searches of large scopes found out about terms, kept with a connection."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class TermShares:
    """About which share of all rows holds each term (store.fulltext), as it was when `newest` was the next message."""

    newest: int = 0
    by_term: dict[str, float | None] = field(default_factory=dict)
