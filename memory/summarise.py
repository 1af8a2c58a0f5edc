"""Summary of one turn by rule: its most telling sentences and clauses, in the turn's own words and order.

Nothing is ever invented: a summary consists of speakers' names and of pieces of what they said.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.clauses import Clause, clauses, size_of, squeeze, tidy
from memory.salience import clause_weights
from memory.terms import language
from memory.toolcalls import call_text
from memory.types import StoredMessage

_CONFIDENCE = 0.6
_PERSONS = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class SummaryText:
    """A summary and how far it can be trusted, 0..1."""

    content: str
    confidence: float


def summarise(
    messages: Sequence[StoredMessage], *, max_words: int = 40, max_chars_zh: int = 50
) -> SummaryText:
    """At most `max_words` words, or `max_chars_zh` characters where the turn is Chinese, Japanese or Korean.

    The content is empty only if the turn holds no word at all.
    """
    spoken = [m for m in messages if m.role in _PERSONS and not _only_calls(m)] or list(messages)
    whole = language("\n".join(m.content for m in spoken))
    limit = max_words if whole == "en" else max_chars_zh
    found = [c for speaker, m in enumerate(spoken) for c in clauses(m.content, speaker, m.role)]
    if not found:
        return SummaryText("", 0.0)
    names = [_name(m) for m in spoken]
    chosen = _choose(found, names, limit, whole)
    content = _joined(chosen, names, whole)
    if length_problem(content, max_words=max_words, max_chars=max_chars_zh, spoken=whole):
        content = squeeze(content, limit, whole)
    total = sum(size_of(c.text, whole) for c in found)
    share = min(1.0, sum(size_of(c.text, whole) for c in chosen) / max(1, total))
    return SummaryText(content, round(_CONFIDENCE + 0.3 * share, 3))


def length_problem(
    content: str, *, max_words: int = 40, max_chars: int = 50, spoken: str | None = None
) -> str | None:
    """What is wrong with a summary's length, or None. `spoken` is its language, told from it by default."""
    spoken = spoken or language(content)
    limit, unit = (max_words, "words") if spoken == "en" else (max_chars, "characters")
    size = size_of(content, spoken)
    return f"{size} {unit} long; at most {limit} are allowed" if size > limit else None


def _choose(found: Sequence[Clause], names: Sequence[str], limit: int, spoken: str) -> list[Clause]:
    """The clauses that tell most a word, until the limit is reached; in the order in which they were said."""
    weights = clause_weights(found, spoken)
    ranked = sorted(range(len(found)), key=lambda i: (-weights[i], i))
    chosen: list[int] = []
    for index in ranked:
        if weights[index] <= 0 and chosen:
            break
        trial = sorted([*chosen, index])
        if size_of(_joined([found[i] for i in trial], names, spoken), spoken) <= limit:
            chosen = trial
    if not chosen:
        first = found[ranked[0]]
        lead = f"{names[first.message]}: " if names[first.message] else ""
        return [first.with_text(squeeze(first.text, limit - size_of(lead, spoken), spoken))]
    return [found[i] for i in chosen]


def _joined(chosen: Sequence[Clause], names: Sequence[str], spoken: str) -> str:
    """One line: "Ann: went to Porto, liked the food; Bo: plans a trip"."""
    comma, stop, colon = (", ", "; ", ": ") if spoken in ("en", "ko") else ("，", "；", "：")
    parts: list[str] = []
    last: str | None = None
    before: Clause | None = None
    for clause in chosen:
        text = tidy(clause.text)
        name = names[clause.message]
        if not parts or name != last:
            parts.append((stop if parts else "") + (f"{name}{colon}" if name else "") + text)
        else:
            near = (
                before is not None and before.sentence == clause.sentence and before.message == clause.message
            )
            parts.append((comma if near else stop) + text)
        last, before = name, clause
    return "".join(parts)


def _name(message: StoredMessage) -> str:
    name = message.metadata.get("name")
    return " ".join(name.split()) if isinstance(name, str) else ""


def _only_calls(message: StoredMessage) -> bool:
    return bool(call_text(message.metadata)) and message.content == call_text(message.metadata)
