"""Reading facts by rules: it never fails, whatever was said, and says the same each time."""

from hypothesis import given
from hypothesis import strategies as st

from memory.facts.noise import own_words
from memory.facts.reading import Said, read

_WORDS = st.sampled_from(
    """I my we our am is are was have had like love hate not never no longer anymore live in at Oslo work as a nurse
    moved from to sold the car cat two three 3 5:30 will going plan , . ! ? and but because if "quoted" actually sorry
    meant scratch that sister Anna favourite colour green use for decided prefer over tea coffee
    我 我们 妈妈 的 是 不 喜欢 住在 北京 搬到 上海 了 ， 。 今年 岁 三 只 猫
    其实 不是 改成 决定 用 每天 点 起床 对 过敏 卖 把 换成""".split()  # noqa: SIM905 - word lists read best as text
)
_LINE = st.lists(_WORDS, max_size=25)
_TEXT = st.one_of(st.text(max_size=200), _LINE.map(" ".join), _LINE.map("".join))


@given(st.lists(_TEXT, min_size=1, max_size=4))
def test_any_words_are_read_without_fail_and_alike(texts: list[str]) -> None:
    said = [Said(number, text, 1_700_000_000.0 + number) for number, text in enumerate(texts)]
    found = read(said)
    assert found == read(said)
    for draft in found:
        assert draft.content.strip()
        assert set(draft.source_ids) <= {message.id for message in said}
        assert draft.attribute or draft.hold


@given(_TEXT)
def test_what_is_quoted_line_by_line_tells_nothing(text: str) -> None:
    quoted = "\n".join(f"> {line}" for line in text.splitlines())
    assert read([Said(1, quoted, 0.0)]) == []
    assert not own_words(f"```\n{text.replace('`', '')}\n```").strip()
