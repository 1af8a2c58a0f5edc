"""Terms for full-text search: tables in several scripts, and what a query leaves out."""

import re
from pathlib import Path

import pytest
import snowballstemmer
from snowballstemmer.english_stemmer import EnglishStemmer

from memory.terms import MAX_TERM, language, query_terms, searchable, terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("  ...!?  ", []),
        ("Running runs", ["run", "run"]),
        ("the farmer's market", ["the", "farmer", "market"]),
        ("the farmer’s market", ["the", "farmer", "market"]),
        ("don't don’t", ["dont", "dont"]),
        ("'quoted'", ["quot"]),
        ("rock'n'roll's", ["rocknrol"]),
        ("room 101b in 2024", ["room", "101b", "in", "2024"]),
        ("user_id=42", ["user", "id", "42"]),
        ("state-of-the-art", ["state", "of", "the", "art"]),
        ("naïve Café", ["naiv", "cafe"]),
        ("Straße", ["strass"]),
        ("İstanbul", ["istanbul"]),
        ("ﬁne", ["fine"]),
        ("ＡＢＣ１２", ["abc12"]),
        ("x²", ["x2"]),
        ("农贸市场", ["农贸", "贸市", "市场"]),
        ("茶", ["茶"]),
        ("我在Porto喝茶", ["我在", "porto", "喝茶"]),
        ("4月27号", ["4", "月", "27", "号"]),
        ("苹果，蜂蜜", ["苹果", "蜂蜜"]),
        ("がぎ", ["がぎ"]),
        ("한국어", ["한국", "국어"]),
        ("Привет мир", ["привет", "мир"]),
        ("हिन्दी", ["हनद"]),
        ("🎉 party 🎉", ["parti"]),
        ("\x00a\x00", ["a"]),
    ],
)
def test_terms(text: str, found: list[str]) -> None:
    assert terms(text) == found


def test_the_ascii_path_and_the_general_one_agree() -> None:
    text = "Ann's dog can't swim; it hasn't learnt (yet) - 3 lessons_left 'tomorrow'"
    assert terms(text + " é")[:-1] == terms(text)


def test_accents_and_their_composed_forms_meet() -> None:
    assert terms("café") == terms("cafe\u0301") == terms("CAFÉ") == ["cafe"]


def test_a_very_long_word_is_cut() -> None:
    assert terms("x" * 1000) == ["x" * MAX_TERM]
    assert max(map(len, terms("ж" * 1000))) == MAX_TERM


def test_a_query_drops_stop_words_and_repeats() -> None:
    assert query_terms("When did Ann go to the market, the Sunday market?") == ["ann", "go", "market", "sunday"]


def test_a_chinese_query_drops_empty_pairs() -> None:
    assert query_terms("你知道什么茶") == ["道什", "么茶"]


def test_the_index_keeps_stop_words() -> None:
    assert "the" in terms("the market")


@pytest.mark.parametrize("text", ["who are you", "什么", "the"])
def test_a_query_of_stop_words_alone_keeps_them(text: str) -> None:
    assert query_terms(text) == list(dict.fromkeys(terms(text)))


def test_an_empty_query_has_no_terms() -> None:
    assert query_terms("?!") == []


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("", "en"),
        ("12345", "en"),
        ("Good morning", "en"),
        ("Guten Morgen, wie geht's?", "en"),
        ("早上好", "zh"),
        ("我用Python写代码", "zh"),
        ("The word 茶 means tea in many languages", "en"),
        ("おはようございます", "ja"),
        ("今日は天気がいいですね", "ja"),
        ("안녕하세요", "ko"),
    ],
)
def test_language(text: str, spoken: str) -> None:
    assert language(text) == spoken


def test_searchable_names_the_speaker_where_there_is_one() -> None:
    assert searchable("Ann", "went home") == "Ann: went home"
    assert searchable(None, "went home") == searchable("", "went home") == "went home"


def test_the_stemmer_in_c_and_the_plain_one_agree() -> None:
    # A machine without the one takes the other, and both must find what either has indexed.
    fast, plain = snowballstemmer.stemmer("english"), EnglishStemmer()
    assert type(fast) is not type(plain)
    pages = Path(__file__).parents[2].joinpath("docs").glob("*.md")
    words = sorted({word for page in pages for word in re.findall("[a-z]+", page.read_text(encoding="utf-8").lower())})
    assert len(words) > 1_000
    assert [fast.stemWord(word) for word in words] == [plain.stemWord(word) for word in words]
