"""A checkpoint's summary by rule: sentences as they were said, each put into the part it belongs to.

What fits no part is not lost: each turn that gave nothing that lasts leaves the line that a summary of it would have.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from memory.chatlist import cut_middle
from memory.classify import msg_type
from memory.clauses import sentences, squeeze
from memory.compaction.parts import TITLES, Part, Parts, as_parts, merge, no_parts
from memory.compaction.patterns import BY_WORDS, is_conclusion, is_request, is_solution, says_done
from memory.salience import term_weights
from memory.summarise import summarise
from memory.terms import language, terms
from memory.toolcalls import answered_call, call_text, tool_calls
from memory.types import StoredMessage

_ITEM_WORDS, _ITEM_CHARS_ZH = 40, 80
_TURN_WORDS, _TURN_CHARS_ZH = 25, 40
_ITEM_CHARS = 300
_READ = 4_000
_SQL_KEYS = ("sql", "query")
_CALL_CHARS = 80
_LEAST_REQUEST = 1.0
"""Weight of the words of a question below which it is small talk."""
_SETTLED = 0.5
"""Share of a task's words that a sentence must have to say that this task is done."""
_BY_TYPE: dict[str, Part] = {
    "error": "errors",
    "todo": "open_tasks",
    "decision": "decisions",
    "preference": "preferences",
    "fact": "other",
}
_TELLING = tuple(part for part in TITLES if part != "requests")
"""Parts of which one must have grown for a turn to need no line of its own: a question alone does not tell the answer."""


@dataclass(slots=True)
class _Found:
    parts: dict[Part, list[str]] = field(default_factory=no_parts)
    done: list[frozenset[str]] = field(default_factory=list)
    trouble: bool = False

    def add(self, part: Part, text: str) -> None:
        item = _shortened(text)
        if item and item not in self.parts[part]:
            self.parts[part].append(item)


def extract(base: Parts | None, tail: Sequence[StoredMessage]) -> Parts:
    """The summary of all that `base` stands for and of the messages after it, in their order."""
    found = _Found()
    for _, turn in groupby(tail, key=lambda message: message.turn):
        _read_turn(found, list(turn))
    tasks = found.parts["open_tasks"]
    found.parts["open_tasks"] = [task for task in tasks if not _settled(task, found.done)]
    fresh = as_parts(found.parts)
    if base is None:
        return fresh
    open_before = tuple(task for task in base.open_tasks if not _settled(task, found.done))
    return merge(base.model_copy(update={"open_tasks": open_before}), fresh)


def _read_turn(found: _Found, turn: Sequence[StoredMessage]) -> None:
    before = sum(len(found.parts[part]) for part in _TELLING)
    results = {call: message for message in turn if (call := answered_call(message.metadata)) is not None}
    for message in turn:
        if message.role == "system":
            continue
        _read_calls(found, message, results)
        if message.role != "tool":
            for sentence in _sentences(message):
                _place(found, message, sentence)
        elif msg_type("tool", message.content) == "error":
            found.add("errors", message.content)
            found.trouble = True
    if sum(len(found.parts[part]) for part in _TELLING) == before:
        told = summarise(turn, max_words=_TURN_WORDS, max_chars_zh=_TURN_CHARS_ZH)
        if told.confidence > 0:
            found.add("other", told.content)


def _place(found: _Found, message: StoredMessage, sentence: str) -> None:
    human = message.metadata.get("human") is True
    kind = msg_type(message.role, sentence, human=human)
    named = f"{name}: {sentence}" if (name := _name(message)) else sentence
    if says_done(sentence):
        found.done.append(frozenset(terms(sentence)))
    if kind == "error":
        found.add("errors", named)
        found.trouble = True
    elif found.trouble and is_solution(sentence):
        found.add("errors", f"→ {named}")
        found.trouble = False
    elif part := next((part for part, pattern in BY_WORDS if pattern.search(sentence)), None):
        found.add(part, named)
    elif kind in _BY_TYPE:
        found.add(_BY_TYPE[kind], named)
    elif message.role == "user" and is_request(sentence):
        if sum(term_weights(sentence, ()).values()) >= _LEAST_REQUEST:
            found.add("requests", named)
    elif is_conclusion(sentence):
        found.add("decisions", named)


def _read_calls(found: _Found, message: StoredMessage, results: dict[str, StoredMessage]) -> None:
    for call in tool_calls(message.metadata):
        asked = f"{call['function']['name']}({_brief(str(call['function'].get('arguments') or ''))})"
        result = results.get(call["id"])
        found.add("tool_calls", f"{asked} → {_brief(result.content)}" if result is not None else asked)
    for key in _SQL_KEYS:
        sql = message.metadata.get(key)
        if isinstance(sql, str) and sql.strip():
            part = next((part for part, pattern in BY_WORDS[:2] if pattern.search(sql)), None)
            found.add(part or "data_operations", sql)


def _sentences(message: StoredMessage) -> Iterator[str]:
    if message.content != call_text(message.metadata):
        yield from sentences(cut_middle(message.content, _READ))


def _settled(task: str, done: Sequence[frozenset[str]]) -> bool:
    words = {term for term, weight in term_weights(task, ()).items() if weight >= 1.0} or set(terms(task))
    return any(len(words & said) >= _SETTLED * len(words) for said in done if words)


def _shortened(text: str) -> str:
    """One line, short enough for an item."""
    line = " ".join(text.split())
    spoken = language(line)
    return squeeze(line, _ITEM_WORDS if spoken == "en" else _ITEM_CHARS_ZH, spoken)[:_ITEM_CHARS].strip()


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _CALL_CHARS else f"{line[: _CALL_CHARS - 1]}…"


def _name(message: StoredMessage) -> str:
    name = message.metadata.get("name")
    return " ".join(name.split()) if isinstance(name, str) else ""
