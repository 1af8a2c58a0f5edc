"""Summaries of any text keep their limits and invent nothing."""

from hypothesis import given
from hypothesis import strategies as st

from memory.clauses import clauses, size_of, squeeze
from memory.summarise import summarise
from memory.terms import language
from memory.types import StoredMessage

ANY = st.text(st.characters(codec="utf-8"), min_size=1, max_size=300)
VOCABULARY = """Ingrid sold the red canoe near Odda . , ? ! because 12 we really not - 我 昨天 买了 苹果 ， 。
    很""".split()  # noqa: SIM905 - word lists read best as text
WORDS = st.lists(st.sampled_from([*VOCABULARY, "\n"]), min_size=1, max_size=150).map(" ".join)
TEXT = st.one_of(ANY, WORDS)
NAMES = st.sampled_from([None, "Ann", "王峰", "José Luis"])
TURNS = st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), TEXT, NAMES), min_size=1, max_size=5)


def built(turn: list[tuple[str, str, str | None]]) -> list[StoredMessage]:
    return [
        StoredMessage("e", "s", role, text, 0.0, metadata={"name": name} if name else {}) for role, text, name in turn
    ]


@given(TURNS)
def test_limits_hold(turn: list[tuple[str, str, str | None]]) -> None:
    messages = built(turn)
    found = summarise(messages)
    spoken = [m for m in messages if m.role != "tool"] or messages
    whole = language("\n".join(m.content for m in spoken))
    assert size_of(found.content, whole) <= (40 if whole == "en" else 50)
    assert found.content and "\n" not in found.content
    assert 0.0 <= found.confidence <= 1.0


@given(TURNS, st.integers(1, 12))
def test_any_limit_holds(turn: list[tuple[str, str, str | None]], limit: int) -> None:
    messages = built(turn)
    spoken = [m for m in messages if m.role != "tool"] or messages
    whole = language("\n".join(m.content for m in spoken))
    found = summarise(messages, max_words=limit, max_chars_zh=limit)
    assert size_of(found.content, whole) <= limit


@given(TURNS)
def test_no_character_is_invented(turn: list[tuple[str, str, str | None]]) -> None:
    said = set("".join(text + (name or "") for _, text, name in turn))
    made = set(summarise(built(turn)).content)
    assert made - said <= set(" ,;:，；：…")


@given(WORDS)
def test_no_word_is_invented(text: str) -> None:
    edges = ".,;:，；：。!?？…- "
    said = {w.strip(edges) for piece in clauses(text, 0, "user") for w in piece.text.split()}
    if language(text) == "en":
        made = {w.strip(edges) for w in summarise(built([("user", text, None)])).content.split()}
        assert made - said <= {""}


@given(TURNS)
def test_the_same_turn_gives_the_same_summary(turn: list[tuple[str, str, str | None]]) -> None:
    assert summarise(built(turn)) == summarise(built(turn))


@given(TEXT, st.integers(0, 60), st.sampled_from(["en", "zh"]))
def test_squeezed_text_is_a_beginning_within_the_limit(text: str, limit: int, spoken: str) -> None:
    short = squeeze(text, limit, spoken)
    assert size_of(short, spoken) <= limit
    assert "".join(text.split()).startswith("".join(short.split()))
