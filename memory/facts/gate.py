"""The gate: how a new fact meets those that stand. By subject, attribute, value and polarity, never by likeness alone.

Two facts merge only if they say the same about the same thing; one replaces another only where both cannot hold, or
where it was said that the older is over. What cannot be told apart stays, and both say so.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from memory.facts.keys import alike, numbers, within, words
from memory.facts.model import Draft, Fact

Relation: TypeAlias = Literal["same", "over", "doubt", "none"]

EPISODES = frozenset(("event", "visited", "lived", "once"))
"""What happened stays so: it is repeated or corrected, never outdated."""
ONE_VALUE = frozenset(("home", "job", "employer", "name", "age", "marital", "diet", "birthday", "birthplace", "origin"))
_SAME_EVENT = 0.8
_SAME_TEXT = 0.85


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a draft: it strengthens `same`, or is new, closes `over`, and is linked with `doubt`.

    `outdated_by`: a fact that was said later holds already, so that the draft is history from the start.
    """

    same: Fact | None = None
    over: tuple[Fact, ...] = ()
    doubt: tuple[Fact, ...] = field(default=())
    outdated_by: Fact | None = None


def judge(draft: Draft, standing: Iterable[Fact], data_source: str | None = None) -> Verdict:
    """The verdict over a draft, which holds for `data_source` (None: for all), among the active facts of its attribute
    and topic."""
    same: list[Fact] = []
    over: list[Fact] = []
    doubt: list[Fact] = []
    later: list[Fact] = []
    for fact in standing:
        relation = _across(compare(draft, fact), draft, fact, data_source)
        if relation == "same":
            same.append(fact)
        elif relation == "over":
            (later if fact.valid_from > draft.said_at and fact.memory_id not in draft.replaces else over).append(fact)
        elif relation == "doubt":
            doubt.append(fact)
    if same:
        return Verdict(same=min(same, key=lambda f: f.id), over=tuple(over))
    if later:
        return Verdict(outdated_by=min(later, key=lambda f: (f.valid_from, f.id)))
    return Verdict(over=tuple(over), doubt=tuple(doubt))


def _across(relation: Relation, draft: Draft, fact: Fact, data_source: str | None) -> Relation:
    """The relation where the two may hold for different sources: what holds for one says nothing of another, and does
    not end what holds for all; what holds for all takes in what held for one. A key is one for all sources."""
    if draft.key is not None and relation == "same" and draft.key != fact.key:
        return "over"  # Else the key would name nothing.
    if fact.data_source == data_source or (draft.key is not None and draft.key == fact.key):
        return relation
    if fact.data_source is not None and data_source is not None:
        return "none"
    if data_source is None:
        if relation != "same":
            return relation
        return "over" if fact.valid_from <= draft.said_at else "none"
    return "doubt" if relation == "over" else relation


def joint_end(end: float | None, other: float | None, kept: bool) -> float | None:
    """When a fact ends that was said again with the end `other`: at the later, and never where it was `kept` on purpose
    without one."""
    if end is None or (other is None and kept):
        return None
    return end if other is None else max(end, other)


def compare(draft: Draft, fact: Fact) -> Relation:
    """How the draft stands to one fact."""
    if fact.memory_id in draft.replaces:
        return "over"
    if draft.key is not None and draft.key == fact.key:
        return "same" if draft.content == fact.content else "over"
    if draft.subject != fact.subject:
        return "none"
    if draft.attribute and draft.attribute == fact.attribute:
        found = _same_attribute(draft, fact)
        if found != "none":
            return found
    elif not draft.attribute and not fact.attribute:
        return _same_words(draft, fact)
    return "over" if any(_ended(draft, end, fact) for end in draft.ends) else "none"


def _same_attribute(draft: Draft, fact: Fact) -> Relation:
    if draft.polarity != fact.polarity:
        return "over" if draft.attribute not in EPISODES and _opposite(draft, fact) else "none"
    if draft.attribute == "event":
        close = alike(draft.value, fact.value) >= _SAME_EVENT and numbers(draft.value) == numbers(fact.value)
        return "same" if close else "none"
    if draft.value == fact.value and draft.topic == fact.topic:
        return "same"
    if draft.polarity < 0 or draft.topic != fact.topic or draft.attribute in EPISODES:
        return "none"
    if draft.single:
        return "same" if within(draft.value, fact.value) else "over"
    if draft.attribute in ONE_VALUE:
        return "same" if within(draft.value, fact.value) else "doubt"
    return _counted(draft, fact)


def _counted(draft: Draft, fact: Fact) -> Relation:
    """ "Two cats", "three cats": the same but for the number, where both name one."""
    counts, before = numbers(draft.value), numbers(fact.value)
    if (
        draft.attribute.startswith(("have", "do ", "plan", "my ", "work mode"))
        and counts
        and before
        and counts != before
    ):
        ours, theirs = words(draft.value), words(fact.value)
        return "over" if ours <= theirs or theirs <= ours else "none"
    return "none"


def _opposite(draft: Draft, fact: Fact) -> bool:
    """One says so, the other that it is not so, and of the same thing."""
    if draft.attribute == "like" or draft.attribute.startswith("do "):
        return draft.topic == fact.topic
    if draft.value == fact.value:
        return draft.topic == fact.topic
    negative, positive = (draft, fact) if draft.polarity < 0 else (fact, draft)
    return within(negative.value, positive.value) and bool(negative.value)


def _same_words(draft: Draft, fact: Fact) -> Relation:
    """Facts that nobody could take apart are the same only if they have the same words."""
    if draft.polarity == fact.polarity and alike(draft.value, fact.value) >= _SAME_TEXT:
        return "same" if numbers(draft.value) == numbers(fact.value) else "none"
    return "none"


def _ended(draft: Draft, end: str, fact: Fact) -> bool:
    if fact.polarity < 0 or fact.attribute in EPISODES or not _may_end(draft.attribute, fact.attribute):
        return False
    if end == "":
        return bool(draft.topic) and draft.topic == fact.topic
    if end == fact.attribute:
        return True
    if draft.attribute in ("over", "once") or draft.attribute.startswith("my "):
        return (
            end == fact.topic or within(end, fact.value) or (within(fact.topic, end) and fact.topic != fact.attribute)
        )
    return end == fact.value or within(end, fact.value) or end == fact.topic


_WORKING = ("job", "employer")
_HELD = ("have", "employer", "job", "use", "do ", "work", "plan", "my ", "decide", "date", "lives")


def _may_end(attribute: str, other: str) -> bool:
    """Whether what is said of one attribute can end what is said of another."""
    if attribute in ("home", "dwelling"):
        return other in ("home", "dwelling")
    if attribute in _WORKING or (attribute == "is" and other in _WORKING):
        return other in _WORKING
    if attribute in ("over", "once"):
        return other.startswith(_HELD)
    if attribute.startswith(("use", "decide", "prefer")):
        return other.startswith(("use", "decide", "prefer", "do "))
    if attribute.startswith("my "):
        return other.startswith(("plan", "date", "my "))
    if attribute.startswith("do "):
        return other.startswith("do ") or other == "like"
    return other == attribute
