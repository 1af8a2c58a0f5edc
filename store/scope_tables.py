"""What a scope's export holds: its tables in the order in which they can be written, and what their rows refer to."""

from dataclasses import dataclass, field
from typing import Final

from memory.types import Kind


@dataclass(frozen=True, slots=True)
class ScopeTable:
    """One table.

    Attributes:
        name: the table.
        of: the column that says whose a row is, and the table that it refers to; `scope_id` is the scope itself.
        known_by: columns that tell a row whatever its number is.
        refers: columns with the number of a row of another table.
        lists: columns with a JSON array of such numbers.
        indexed: its kind in the full-text index.
    """

    name: str
    of: tuple[str, str]
    known_by: tuple[str, ...]
    refers: dict[str, str] = field(default_factory=dict)
    lists: dict[str, str] = field(default_factory=dict)
    indexed: Kind | None = None


SCOPE: Final = "scopes"
_SESSION = {"session_pk": "sessions"}

TABLES: Final = (
    ScopeTable("sessions", ("scope_id", SCOPE), ("namespace", "session_id")),
    ScopeTable("main_messages", ("scope_id", SCOPE), ("session_pk", "seq"), _SESSION, indexed="message"),
    ScopeTable("subagent_runs", ("scope_id", SCOPE), ("session_pk", "run_id"), _SESSION),
    ScopeTable("subagent_messages", ("run_pk", "subagent_runs"), ("run_pk", "seq"), {"run_pk": "subagent_runs"}),
    ScopeTable(
        "short_term_memories",
        ("scope_id", SCOPE),
        ("session_pk", "turn_first", "turn_last"),
        _SESSION,
        indexed="summary",
    ),
    ScopeTable(
        "session_checkpoints",
        ("session_pk", "sessions"),
        ("session_pk", "boundary_seq"),
        {**_SESSION, "base_id": "session_checkpoints"},
    ),
    ScopeTable(
        "long_term_memories",
        ("scope_id", SCOPE),
        ("memory_id",),
        {"source_session": "sessions"},
        {"source_ids": "main_messages"},
        indexed="fact",
    ),
    ScopeTable("memory_history", ("scope_id", SCOPE), ("memory_id", "version", "change", "at")),
    ScopeTable(
        "memory_usage_log",
        ("scope_id", SCOPE),
        ("memory_id", "at", "event_id"),
        {**_SESSION, "answer_id": "main_messages"},
    ),
    ScopeTable(
        "timeline",
        ("scope_id", SCOPE),
        ("scope_id", "level", "period"),
        {**_SESSION, "rolled_into": "timeline"},
        {"source_ids": "timeline"},
    ),
)
