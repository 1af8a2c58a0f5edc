"""Facts out of a dialogue by rules alone: what people state in their own name, each with the sentence it stands on."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memory.facts import chinese, english
from memory.facts.dates import resolved
from memory.facts.keys import key_terms, numbers, within
from memory.facts.meaning import Meaning
from memory.facts.model import Draft, Fact, SaidBy
from memory.facts.noise import HELD, is_order, own_words
from memory.terms import language
from memory.times import to_datetime

VERSION = "rules/1"
TAKEN_BACK = "taken back"
"""Attribute of a draft that is no fact: what it replaces was taken back."""
MAX_CHARS = 1_000
_READ = 20_000
_USER = "user"
_NOT_CORRECTED = frozenset(("event", "over", "once", "like", "allergy", "helps", "taken back"))
_HAN = re.compile("[\u4e00-\u9fff]")
_THIRD = re.compile(r"^(?:The user|User|the user)\b(?=[ '’])")
_SOME_HAN = 4
"""A sentence with so many is Chinese, however long the names in it are."""
_LINE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")


@dataclass(frozen=True, slots=True)
class Said:
    """A message as the rules read it. `name` is None for the user that the scope belongs to."""

    id: int
    content: str
    said_at: float
    name: str | None = None
    said_by: SaidBy = "user"


@dataclass(frozen=True, slots=True)
class _Target:
    """What a correction is about: a draft of the same window or a fact that stands."""

    subject: str
    attribute: str
    topic: str
    value: str
    content: str
    memory_type: str
    memory_id: str | None = None


def read(messages: Iterable[Said], recent: Sequence[Fact] = (), older: Sequence[Fact] = ()) -> list[Draft]:
    """Drafts in the order in which they were said. `recent` are the session's newest facts and `older` the user's, the
    newest first: a correction is about one of them, about an older one only if it names the value that was wrong."""
    drafts: list[Draft] = []
    before: dict[str | None, int] = {}
    for message in messages:
        near = _Near(drafts, recent, older, {message.id, before.get(message.name, message.id)}, message.name in before)
        before[message.name] = message.id
        for draft in _message(message):
            if draft.attribute or draft.hold:
                if not any(_repeats(draft, other) for other in drafts):
                    drafts.append(draft)
            else:
                _correct(draft, near)
    return drafts


def understood(content: str, names: set[str]) -> tuple[str, Meaning] | None:
    """What a sentence in the third person ("The user lives in Oslo") says, with whose it is; None where no rule reads
    exactly one thing in it."""
    text = _THIRD.sub("I", content)
    for name in names:
        text = re.sub(rf"^{re.escape(name)}\b", "我" if _HAN.search(content) else "I", text)
        text = re.sub(r"^I['’]s\b", "my", text)
    text = re.sub(r"^用户", "我", text)
    found = list(chinese.read(text) if _chinese(text) else english.read(text))
    return (found[0][0].subject, found[0][1]) if len(found) == 1 else None


def _chinese(text: str) -> bool:
    return language(text) == "zh" or len(_HAN.findall(text)) >= _SOME_HAN


def _repeats(draft: Draft, other: Draft) -> bool:
    return (draft.content, draft.source_ids) == (other.content, other.source_ids)


def _message(message: Said) -> Iterator[Draft]:
    text = own_words(message.content[:_READ])
    held = [line.strip() for line in _LINE.findall(text) if is_order(line)]
    for line in held:
        yield _held(line, message)
    if held:
        # Whoever gives orders may dress them up as facts: nothing else of the message is believed by itself.
        for draft in _drafts(text, message):
            if draft.source_text not in held and draft.attribute:
                yield replace(draft, hold="said beside what reads like an instruction to the agent")
        return
    yield from _drafts(text, message)


def _drafts(text: str, message: Said) -> Iterator[Draft]:
    day = to_datetime(message.said_at).date()
    found = chinese.read(text) if _chinese(text) else english.read(text)
    for clause, meaning in found:
        words = (meaning.text or clause.text).strip(" ,，。.!！;；")
        subject = clause.subject if message.name is None else clause.subject.replace(_USER, message.name, 1)
        content = resolved(" ".join(words.split()), day)
        content = content if message.name is None else f"{message.name}: {content}"
        if len(content) <= MAX_CHARS:
            yield _draft(meaning, subject, content, clause.text, message)


def _draft(meaning: Meaning, subject: str, content: str, source: str, message: Said) -> Draft:
    return Draft(
        content=content,
        memory_type=meaning.memory_type,
        subject=subject,
        attribute=meaning.attribute,
        topic=meaning.topic,
        value=meaning.value,
        polarity=meaning.polarity,
        single=meaning.single,
        ends=meaning.ends,
        confidence=meaning.confidence,
        importance=meaning.importance,
        cognitive_kind="episodic" if meaning.episodic else "semantic",
        source_ids=(message.id,),
        source_text=source,
        said_by=message.said_by,
        said_at=message.said_at,
    )


def _held(line: str, message: Said) -> Draft:
    return Draft(
        content=line[:MAX_CHARS],
        subject=message.name or _USER,
        confidence=0.6,
        source_ids=(message.id,),
        source_text=line,
        said_by=message.said_by,
        said_at=message.said_at,
        value=" ".join(sorted(key_terms(line))),
        hold=HELD,
    )


@dataclass(frozen=True, slots=True)
class _Near:
    """What a correction may be about: `just` are the speaker's message and the one before it; `spoken` says that they
    have said something in this window already, so that stored facts are no longer what they said last."""

    drafts: list[Draft]
    recent: Sequence[Fact]
    older: Sequence[Fact]
    just: set[int]
    spoken: bool

    def targets(self, named: bool) -> Iterator[_Target]:
        """The nearest first; all that there are where the correction names the value that was wrong."""
        yield from (_of_draft(d) for d in reversed(self.drafts) if named or self.just & set(d.source_ids))
        if named:
            yield from map(_of_fact, (*self.recent, *self.older))
        elif not self.spoken:
            yield from map(_of_fact, self.recent[:1])


def _correct(draft: Draft, near: _Near) -> None:
    """Gives a correction its subject: what the same speaker said last that has such a value."""
    drafts, source = near.drafts, draft.source_text
    if any(source in d.source_text or d.source_text in source for d in drafts if d.source_ids == draft.source_ids):
        return  # the sentence has said by itself what it means
    speaker = draft.subject.partition("/")[0]
    for target in near.targets(bool(draft.ends and draft.value)):
        if target.subject.partition("/")[0] != speaker or not _fits(draft, target):
            continue
        if not draft.value:
            _take_back(draft, target, drafts)
            return
        drafts.append(
            replace(
                draft,
                subject=target.subject,
                attribute=target.attribute,
                topic=target.topic,
                memory_type=target.memory_type,
                content=_put(draft, target),
                single=True,
                ends=(),
                replaces=(target.memory_id,) if target.memory_id else (),
            )
        )
        return


def _fits(draft: Draft, target: _Target) -> bool:
    if not draft.value:
        return True
    if not target.value or target.attribute in _NOT_CORRECTED:
        return False
    old = next(iter(draft.ends), "")
    if old:
        return within(old, target.value) or old == target.value
    return bool(numbers(draft.value)) == bool(numbers(target.value)) and draft.value != target.value


def _take_back(draft: Draft, target: _Target, drafts: list[Draft]) -> None:
    same = [d for d in drafts if d.content == target.content]
    if target.memory_id is None and same:
        drafts.remove(same[-1])
    elif target.memory_id is not None:
        drafts.append(replace(draft, attribute=TAKEN_BACK, replaces=(target.memory_id,), polarity=-1))


def _put(draft: Draft, target: _Target) -> str:
    """The target's sentence with the new value in the place of the old one."""
    new = _value_text(draft)
    pieces = target.content.split() if " " in target.content else [target.content]
    old = set(target.value.split()) - set(target.topic.split())
    kept: list[str] = []
    placed = False
    for piece in pieces:
        if old & set(key_terms(piece)):
            if not placed:
                kept.append(new)
            placed = True
        else:
            kept.append(piece)
    return " ".join(kept) if placed else f"{target.topic}: {new}"


def _value_text(draft: Draft) -> str:
    """The words of the correction that make its value."""
    wanted = set(draft.value.split())
    said = [w.strip(",.;!") for w in re.split(r"\bnot\b", draft.source_text)[0].split()]
    return " ".join(w for w in said if wanted & set(key_terms(w))) or draft.value


def _of_draft(d: Draft) -> _Target:
    return _Target(d.subject, d.attribute, d.topic, d.value, d.content, d.memory_type)


def _of_fact(f: Fact) -> _Target:
    return _Target(f.subject, f.attribute, f.topic, f.value, f.content, f.memory_type, f.memory_id)
