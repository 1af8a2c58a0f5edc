"""What a rule has understood of a clause, before it is anybody's fact."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meaning:
    """As `memory.facts.model.Draft`, without what all facts of a message have in common.

    Attributes:
        text: the words to store, where they are not the whole clause (an item of a list).
        back: it takes back, or corrects the value of, what was said last, whatever that was.
    """

    attribute: str
    value: str = ""
    topic: str = ""
    memory_type: str = "fact"
    polarity: int = 1
    single: bool = False
    ends: tuple[str, ...] = ()
    confidence: float = 0.8
    importance: float = 0.5
    episodic: bool = False
    text: str | None = None
    back: bool = False
