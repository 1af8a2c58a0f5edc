"""Summary of one turn by rule: what tells most of it, in the turn's own words and order.

Nothing is ever invented: a summary consists of speakers' names and of words that they said. First what only
greets goes, then words that a headline does without, then the clauses that tell least for their length.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory.clauses import Clause, clauses, size_of, squeeze, tidy
from memory.salience import term_weights
from memory.shorten import GRADES, shorten
from memory.terms import language, terms
from memory.toolcalls import call_text
from memory.types import StoredMessage

_CONFIDENCE = 0.6
_PERSONS = ("user", "assistant")
_MOST_CLAUSES = 400
_LEAST_REST = {"en": 4, "zh": 6}
_MODEL_WEIGHT = 0.8
_LONGEST_WORD = 15
_LEAD = 25.0
"""Words or characters into a message after which a clause weighs half: what matters is said early."""

_OWN_WEIGHT = 2.0
_OWN = re.compile(r"\b(?:I|my|we|our)\b|我|咱们")


@dataclass(frozen=True, slots=True)
class SummaryText:
    """A summary and how far it can be trusted, 0..1."""

    content: str
    confidence: float


@dataclass(frozen=True, slots=True)
class _Piece:
    clause: Clause
    text: str
    weights: dict[str, float]
    value: float


def summarise(messages: Sequence[StoredMessage], *, max_words: int = 40, max_chars_zh: int = 50) -> SummaryText:
    """At most `max_words` words, or `max_chars_zh` characters where the turn is Chinese, Japanese or Korean.

    A turn without any letter or digit is given as it stands, with confidence 0.
    """
    spoken = [m for m in messages if m.role in _PERSONS and not _only_calls(m)] or list(messages)
    whole = language("\n".join(m.content for m in spoken))
    limit = max_words if whole == "en" else max_chars_zh
    names = [_name(m) for m in spoken]
    pieces = _pieces(spoken, names, whole)
    if not pieces:
        return SummaryText(_wordless(spoken, names, limit, whole), 0.0)
    told = [p for p in pieces if p.value > 0] or pieces
    short = _shortened(told, names, limit, whole)
    chosen = short if _fits(short, names, limit, whole) else _choose(short, names, limit, whole)
    content = squeeze(_joined(chosen, names, whole), limit, whole)[: _LONGEST_WORD * limit].rstrip()
    share = sum(p.value for p in chosen) / max(sum(p.value for p in pieces), 1e-9)
    return SummaryText(content, round(_CONFIDENCE + 0.3 * min(share, 1.0), 3))


def length_problem(content: str, *, max_words: int = 40, max_chars: int = 50, spoken: str | None = None) -> str | None:
    """What is wrong with a summary's length, or None. `spoken` is its language, told from it by default."""
    spoken = spoken or language(content)
    limit, unit = (max_words, "words") if spoken == "en" else (max_chars, "characters")
    size = size_of(content, spoken)
    return f"{size} {unit} long; at most {limit} are allowed" if size > limit else None


def _wordless(spoken: Sequence[StoredMessage], names: Sequence[str], limit: int, whole: str) -> str:
    """Emoji and the like, as they were sent."""
    said = [(name, " ".join(m.content.split())) for name, m in zip(names, spoken, strict=True)]
    line = "; ".join(f"{name}: {text}" if name else text for name, text in said if text)
    return squeeze(line, limit, whole)[: _LONGEST_WORD * limit] or "…"


def _pieces(spoken: Sequence[StoredMessage], names: Sequence[str], whole: str) -> list[_Piece]:
    speakers = {t for name in names for t in terms(name)}
    found = []
    for number, message in enumerate(spoken):
        offset = 0
        model = message.role == "assistant" and message.metadata.get("human") is not True
        for clause in clauses(message.content, number, message.role):
            text = tidy(clause.text)
            weights = term_weights(text, speakers)
            value = sum(weights.values()) * _LEAD / (_LEAD + offset)
            value *= (_MODEL_WEIGHT if model else 1.0) * (_OWN_WEIGHT if _OWN.search(text) else 1.0)
            offset += size_of(text, whole)
            found.append(_Piece(clause, text, weights, value))
            if len(found) == _MOST_CLAUSES:
                return found
    return found


def _shortened(pieces: list[_Piece], names: Sequence[str], limit: int, spoken: str) -> list[_Piece]:
    """All pieces, by the least grade of shortening in which they fit, else by the greatest."""
    short = pieces
    for grade in range(GRADES):
        short = [_Piece(p.clause, tidy(shorten(p.text, grade, spoken)), p.weights, p.value) for p in pieces]
        if _fits(short, names, limit, spoken):
            break
    return short


def _choose(pieces: Sequence[_Piece], names: Sequence[str], limit: int, spoken: str) -> list[_Piece]:
    """The pieces that add most for their length, as many as fit, in the order in which they were said."""
    sizes = [size_of(p.text, spoken) for p in pieces]
    known: set[str] = set()
    left = list(range(len(pieces)))
    chosen: list[int] = []

    def gain(index: int) -> float:
        piece = pieces[index]
        new = sum(w for term, w in piece.weights.items() if term not in known)
        total = sum(piece.weights.values())
        return piece.value * (new / total if total else 0.0) / (sizes[index] + 0.3)

    while left:
        best = max(left, key=lambda i: (gain(i), -i))
        left.remove(best)
        if gain(best) <= 0 and chosen:
            break
        trial = sorted([*chosen, best])
        if _fits([pieces[i] for i in trial], names, limit, spoken):
            chosen = trial
            known.update(pieces[best].weights)
    return _filled(pieces, chosen, names, limit, spoken)


def _filled(pieces: Sequence[_Piece], chosen: list[int], names: Sequence[str], limit: int, spoken: str) -> list[_Piece]:
    """The chosen pieces, and the beginning of the best of the others if there is room for one."""
    kept = [pieces[i] for i in chosen]
    rest = limit - size_of(_joined(kept, names, spoken), spoken) - (0 if spoken == "en" else 1)
    speakers = {p.clause.message for p in kept}
    others = [i for i in range(len(pieces)) if i not in chosen and (not kept or pieces[i].clause.message in speakers)]
    if rest < _LEAST_REST.get(spoken, 6) or not others:
        return kept
    best = max(others, key=lambda i: (pieces[i].value, -i))
    if not kept and names[pieces[best].clause.message]:
        rest -= size_of(names[pieces[best].clause.message] + ":", spoken)
    piece = pieces[best]
    cut = _Piece(piece.clause, squeeze(piece.text, rest, spoken), piece.weights, piece.value)
    return [pieces[i] if i in chosen else cut for i in sorted([*chosen, best])]


def _fits(pieces: Sequence[_Piece], names: Sequence[str], limit: int, spoken: str) -> bool:
    return size_of(_joined(pieces, names, spoken), spoken) <= limit


def _joined(chosen: Sequence[_Piece], names: Sequence[str], spoken: str) -> str:
    """One line: "Ann: went to Porto, liked the food; Bo: plans a trip"."""
    comma, stop, colon = (", ", "; ", ": ") if spoken in ("en", "ko") else ("，", "；", "：")
    parts: list[str] = []
    last: Clause | None = None
    for piece in chosen:
        clause, name = piece.clause, names[piece.clause.message]
        if last is None or name != names[last.message]:
            parts.append((stop if parts else "") + (f"{name}{colon}" if name else "") + piece.text)
        else:
            same = last.sentence == clause.sentence and last.message == clause.message
            parts.append((comma if same else stop) + piece.text)
        last = clause
    return "".join(parts)


def _name(message: StoredMessage) -> str:
    name = message.metadata.get("name")
    return " ".join(name.split()) if isinstance(name, str) else ""


def _only_calls(message: StoredMessage) -> bool:
    return bool(call_text(message.metadata)) and message.content == call_text(message.metadata)
