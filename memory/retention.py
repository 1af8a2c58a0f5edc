"""What becomes of a memory with age: kept, archived or deleted, by rules for namespaces and types."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Action: TypeAlias = Literal["keep", "archive", "delete"]
Type: TypeAlias = Literal["message", "summary", "run", "timeline", "fact", "dead_letter", "usage", "job"]

DAY: Final = 86_400.0
EVERY: Final = "*"
"""A rule of this namespace is for all that have none of their own."""
IMPORTANT: Final = 0.8
"""What is more important than this is archived where a rule says delete."""
ARCHIVED: Final[tuple[Type, ...]] = ("message", "summary", "run", "timeline", "fact", "dead_letter")
"""Types that can be archived; the others are bookkeeping, which is kept or deleted."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens to `type` in `namespace` once it is `days` old."""

    type: Type
    action: Action
    days: float = 0.0
    namespace: str = EVERY


DEFAULTS: Final[tuple[Rule, ...]] = (
    Rule("message", "keep"),
    Rule("summary", "archive", 0.0),
    Rule("run", "keep"),
    Rule("timeline", "archive", 90.0),
    Rule("fact", "archive", 180.0),
    Rule("dead_letter", "archive", 30.0),
    Rule("usage", "delete", 90.0),
    Rule("job", "delete", 30.0),
)
"""Age counts from when a message was stored, a summary was made that is out of recall or has outlived its session's messages, a run ended, a period ended, a fact left
recall, a dead letter was replayed or discarded, a use was noted, a job was done."""


@dataclass(frozen=True, slots=True)
class Policy:
    """All rules; of those that fit, one that names the namespace comes first, then the one given last."""

    rules: tuple[Rule, ...] = DEFAULTS

    @classmethod
    def of(cls, rules: Sequence[Rule]) -> "Policy":
        """The defaults with `rules` on top.

        Raises:
            ValueError: a rule archives a type that cannot be, or its days are negative.
        """
        for rule in rules:
            if rule.action == "archive" and rule.type not in ARCHIVED:
                raise ValueError(f"{rule.type} cannot be archived: keep or delete it, or archive {', '.join(ARCHIVED)}")
            if rule.days < 0:
                raise ValueError(f"{rule.type}: days must not be negative, {rule.days:g} was given")
        return cls((*DEFAULTS, *rules))

    def rule(self, type_: Type, namespace: str) -> Rule:
        """The rule for one type in one namespace."""
        own = [r for r in self.rules if r.type == type_ and r.namespace == namespace]
        return (own or [r for r in self.rules if r.type == type_ and r.namespace == EVERY])[-1]


def outcome(action: Action, importance: float | None) -> Action:
    """What the action comes to for one item: the important is archived instead of deleted."""
    return "archive" if action == "delete" and importance is not None and importance > IMPORTANT else action
