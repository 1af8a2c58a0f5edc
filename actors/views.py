"""What the terminal chat shows besides replies: tables of memories, sessions and state."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from actors.messages import Reply
from memory.types import Degraded
from recall.results import Lag
from store.sessions import SessionRow

_SHOWN = 160


def printable(text: str) -> str:
    """`text` without control characters, which could move the cursor or recolour the terminal."""
    return "".join(c for c in text if c in "\n\t" or c.isprintable())


def memory(console: Console, reply: Reply) -> None:
    """What was recalled for a reply, best first, with where it comes from and why."""
    if not reply.sources:
        console.print(Text(f"Nothing was recalled for the last reply (rule: {reply.reason})."))
        return
    table = Table("score", "what", "when", "session", "text", "because", title="Recalled for the last reply")
    for hit in reply.sources:
        who = hit.role or hit.kind
        where = hit.session_id if hit.turn is None else f"{hit.session_id} turn {hit.turn}"
        because = ", ".join(f"{name} {part:.2f}" for name, part in hit.parts.items())
        words = " ".join(printable(hit.content).split())
        cut = words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
        table.add_row(f"{hit.score:.2f}", f"{hit.kind}: {who}", _day(hit.occurred_at), Text(where), Text(cut), because)
    console.print(table)


def sessions(console: Console, rows: Sequence[SessionRow], current: str) -> None:
    """The user's stored sessions, the most recent first."""
    if not rows:
        console.print("No session is stored yet.")
        return
    table = Table("", "session", "messages", "turns", "last activity")
    for row in rows:
        mark = "*" if row.session_id == current else ""
        table.add_row(mark, Text(row.session_id), str(row.message_count), str(row.turn_count), _day(row.last_activity))
    console.print(table)


def status(
    console: Console, models: dict[str, dict[str, Any]], lag: Lag, notes: Sequence[Degraded], waiting: int
) -> None:
    """Models, how far behind the workers are, and what works less well for now."""
    table = Table(show_header=False)
    for use, found in models.items():
        table.add_row(use, Text(f"{found['provider']}: {found['model']}"))
    table.add_row("not stored yet", "unknown" if lag.unread is None else f"{lag.unread} events")
    if lag.owed is None:
        table.add_row("owed to memory", "unknown")
    else:
        owed = ", ".join(f"{count} {kind}" for kind, count in sorted(lag.owed.items()))
        table.add_row("owed to memory", f"{owed}, oldest {lag.oldest or 0:.0f} s" if owed else "nothing")
    if waiting:
        table.add_row("spooled", f"{waiting} events wait for Redis")
    for note in notes:
        table.add_row(f"degraded: {note.part}", Text(printable(note.reason)))
    console.print(table)


def _day(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M}"
