"""What a publisher hands back for an event that it has taken."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Receipt:
    """An event is durable: in the stream under `entry_id`, or in the spool, from which it follows later.

    Attributes:
        id: the event's id, the one it was given or a new one.
        entry_id: its id in the stream, `<milliseconds>-<number>`; None while it is spooled.
        spooled: it waits in the publisher's spool, because Redis is away or others wait there already.
    """

    id: str
    entry_id: str | None
    spooled: bool = False
