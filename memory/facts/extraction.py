"""The request that asks a model for the facts of a dialogue, and the strict reading of its answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from memory.answers import BadAnswer, parse_answer
from memory.chatlist import cut_middle
from memory.facts.keys import key
from memory.facts.model import Draft, Fact, SaidBy
from memory.facts.noise import HELD, is_order, own_words
from memory.facts.reading import MAX_CHARS, TAKEN_BACK, Said, understood
from memory.frames import framed
from memory.terms import language
from memory.times import parse_time, to_datetime

_LINE_CUT = 2_000
_NAMES = {"zh": "Chinese", "ja": "Japanese", "ko": "Korean", "en": "English or whichever language it is"}
_PEOPLE: tuple[SaidBy, ...] = ("user", "person", "import", "operator")

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_CHARS)]
_Share = Annotated[float, Field(ge=0, le=1)]


class _Found(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    content: _Text
    type: str
    tags: list[_Text] = Field(default_factory=list, max_length=20)
    confidence: _Share
    importance: _Share
    messages: list[int] = Field(min_length=1)
    replaces: list[str] = Field(default_factory=list)
    valid_from: str | None = None
    expires_at: str | None = None


class _Extraction(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    facts: list[_Found]


@dataclass(frozen=True, slots=True)
class ExtractionRules:
    """What a model may say: at most `max_facts` facts of these types; tool output counts where `tools` says so."""

    max_facts: int
    types: tuple[str, ...]
    tools: bool = False


def extraction_messages(
    template: str, said: Sequence[Said], known: Sequence[Fact], rules: ExtractionRules
) -> list[dict[str, str]]:
    """The chat messages that ask for the facts in `said`; `known` are those that stand nearby."""
    spoken = language(" ".join(m.content for m in said))
    system = template.format(max_facts=rules.max_facts, types=", ".join(rules.types), language=_NAMES[spoken])
    told = framed("dialogue", "", [line for m in said if (line := _line(m))]).lstrip()
    if known:
        told = framed("known", "", [f"{fact.memory_id}: {fact.content}" for fact in known]).lstrip() + "\n\n" + told
    return [{"role": "system", "content": system}, {"role": "user", "content": told}]


def parse_extraction(answer: str, said: Sequence[Said], known: Sequence[Fact], rules: ExtractionRules) -> list[Draft]:
    """Drafts of the facts in a model's answer.

    Raises:
        BadAnswer: it is not what was asked for, or names messages, types or known facts that there are not.
    """
    found = parse_answer(answer, _Extraction).facts
    if len(found) > rules.max_facts:
        raise BadAnswer(f"facts: {len(found)} of them; at most {rules.max_facts} are allowed")
    by_id = {message.id: message for message in said}
    ids = {fact.memory_id for fact in known}
    drafts = []
    for number, one in enumerate(found):
        where = f"facts.{number}"
        if one.type not in rules.types:
            raise BadAnswer(f"{where}.type: {one.type!r} is none of {', '.join(rules.types)}")
        if wrong := [i for i in one.messages if i not in by_id]:
            raise BadAnswer(f"{where}.messages: {wrong[0]} is the number of no message")
        if unknown := [i for i in one.replaces if i not in ids]:
            raise BadAnswer(f"{where}.replaces: {unknown[0]!r} is the id of no known fact")
        draft = _draft(one, [by_id[i] for i in dict.fromkeys(one.messages)], where, rules)
        if draft is not None:
            drafts.append(draft)
    return drafts


def _draft(one: _Found, sources: Sequence[Said], where: str, rules: ExtractionRules) -> Draft | None:
    """The draft; None where it stands only on what no fact may stand on: a model's own words, tools, or recalled text."""
    if any("\ud800" <= c <= "\udfff" for c in one.content):
        raise BadAnswer(f"{where}.content: holds half a surrogate pair, which is no text")
    good = [m for m in sources if _may_tell(m, rules) and own_words(m.content).strip()]
    if not good:
        return None
    first = good[0]
    subject = first.name or "user"
    meaning = understood(one.content, {m.name for m in sources if m.name})
    held = is_order(one.content) or any(is_order(own_words(m.content)) for m in good)
    draft = Draft(
        content=one.content,
        memory_type=one.type,
        subject=subject,
        value=key(one.content),
        key=None,
        confidence=one.confidence,
        importance=one.importance,
        tags=tuple(dict.fromkeys(one.tags)),
        source_ids=tuple(m.id for m in good),
        source_text=first.content[:MAX_CHARS],
        said_by=first.said_by,
        said_at=max(m.said_at for m in good),
        valid_from=_moment(one.valid_from, f"{where}.valid_from"),
        expires_at=_moment(one.expires_at, f"{where}.expires_at"),
        replaces=tuple(dict.fromkeys(one.replaces)),
        hold=HELD if held else None,
    )
    if meaning is None or meaning[1].attribute in ("", TAKEN_BACK):
        return draft
    clause_subject, sense = meaning
    return replace(
        draft,
        subject=clause_subject.replace("user", subject, 1),
        attribute=sense.attribute,
        topic=sense.topic,
        value=sense.value,
        polarity=sense.polarity,
        single=sense.single,
        ends=sense.ends,
    )


def _may_tell(message: Said, rules: ExtractionRules) -> bool:
    return message.said_by in _PEOPLE or (message.said_by == "tool" and rules.tools)


def _line(message: Said) -> str:
    """What a model reads of a message; of people their own words alone, so that nothing recalled comes round again."""
    words = own_words(message.content).strip() if message.said_by in _PEOPLE else message.content
    if not words:
        return ""
    speaker = message.name or ("user" if message.said_by in _PEOPLE else message.said_by)
    day = f"{to_datetime(message.said_at):%Y-%m-%d}"
    return f"[{message.id}] ({day}) {speaker}: {cut_middle(words, _LINE_CUT)}"


def _moment(text: str | None, where: str) -> float | None:
    if text is None:
        return None
    try:
        return parse_time(text)
    except ValueError as error:
        raise BadAnswer(f"{where}: {text!r} is no date") from error
