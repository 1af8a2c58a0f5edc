"""Terms survive SQLite's tokenizer, whatever text they are made of."""

import sys
from collections.abc import Iterator
from unicodedata import category

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.terms import MAX_TERM, language, query_terms, terms
from memory.tokens import estimate

ANY = st.text(st.characters(codec="utf-8"), max_size=200)
MIXED = st.text(st.sampled_from("aZ9 é'’_-.,我茶がㄅ한ไทँ👍\u0301\u3099\x00"), max_size=60)


@pytest.fixture(scope="module")
def fts() -> Iterator[apsw.Connection]:
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE f USING fts5 (t, tokenize = 'unicode61 remove_diacritics 0')")
    db.execute("CREATE VIRTUAL TABLE v USING fts5vocab (f, 'instance')")
    yield db
    db.close()


def tokens(db: apsw.Connection, text: str) -> list[str]:
    db.execute("DELETE FROM f")
    db.execute("INSERT INTO f (t) VALUES (?)", (text,))
    return [str(term) for (term,) in db.execute("SELECT term FROM v ORDER BY offset")]


@given(st.one_of(ANY, MIXED))
def test_terms_come_out_of_the_tokenizer_as_they_went_in(fts: apsw.Connection, text: str) -> None:
    found = terms(text)
    assert tokens(fts, " ".join(found)) == found


def test_every_letter_digit_and_mark_there_is_makes_terms_that_the_tokenizer_keeps(fts: apsw.Connection) -> None:
    chars = [c for c in map(chr, range(sys.maxunicode + 1)) if c.isalnum() or category(c)[0] == "M"]
    found = [t for c in chars for t in terms(f"a{c}b {c}")]
    for start in range(0, len(found), 50_000):
        part = found[start : start + 50_000]
        assert tokens(fts, " ".join(part)) == part


@given(st.one_of(ANY, MIXED))
def test_a_query_asks_only_for_terms_that_the_index_makes(text: str) -> None:
    asked, made = query_terms(text), terms(text)
    assert set(asked) <= set(made)
    assert len(asked) == len(set(asked))
    assert bool(asked) == bool(made)
    assert all(0 < len(t) <= 2 * MAX_TERM for t in made)


@given(st.one_of(ANY, MIXED))
def test_case_does_not_matter(text: str) -> None:
    if text.isascii():
        assert terms(text.upper()) == terms(text.lower()) == terms(text)


@given(ANY, ANY)
def test_an_estimate_never_falls_as_text_grows(one: str, other: str) -> None:
    assert estimate(one) <= estimate(one + other) <= estimate(one) + estimate(other)
    assert estimate(one) <= 2 * len(one)


@given(ANY)
def test_every_text_has_a_language(text: str) -> None:
    assert language(text) in ("en", "zh", "ja", "ko")
