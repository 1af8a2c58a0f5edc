"""Chinese rules: what a clause's predicate says of its subject."""

import re
from collections.abc import Iterator

from memory.facts.chinese_actions import change, habit, own, plan
from memory.facts.chinese_clauses import CORRECTION, clauses
from memory.facts.chinese_parts import Part, bare, cut
from memory.facts.chinese_places import home, work
from memory.facts.chinese_states import body, identity, noun_value, taste
from memory.facts.english_clauses import Clause
from memory.facts.keys import key
from memory.facts.meaning import Meaning

_NEGATION = re.compile(r"^(?:再也不|不再|从不|从来不|从没|从来没有?|并不|不太|不怎么|不是很|不大|不|没有|没|未)")
_BACK = re.compile(
    r"当我没说|开(?:个)?玩笑的?|(?:刚才|之前|前面)(?:说的?|那个|那句)(?:话)?(?:都)?(?:不算|作废|别当真|是假的|是骗|是开玩笑|不对)|忘(?:了|掉)(?:我)?(?:刚才|之前|前面)?(?:说的|那句话|这件事)|我瞎说的|别当真|收回(?:刚才|之前|前面)?(?:的|说的|那句)?话"
)
_FIXED = re.compile(
    r"(?:应该是|其实是|是|改成|我是说|说的是|准确地?说是)(?P<v>[^，,。！!不]{1,30}?)(?:[，,]?(?:而)?不是(?P<o>[^，,。！!]{1,30}))?[。！!]*$"
)
_DEFINITE = re.compile(r"[\dA-Za-z]|[一二三四五六七八九十两]+[点号月日岁年个]|(?:周|星期|礼拜)[一二三四五六日天]")
_NOT_BUT = re.compile(r"不是(?P<o>[^，,。！!]{1,30}?)[，,]?(?:而)?是(?P<v>[^，,。！!]{1,30})[。！!]*$")


def read(text: str) -> Iterator[tuple[Clause, Meaning]]:
    """What `text` states, clause by clause."""
    for clause in clauses(text):
        for meaning in _of(clause):
            yield clause, meaning
    yield from _corrections(text)


def _of(c: Clause) -> Iterator[Meaning]:
    if c.noun:
        yield from noun_value(c.noun, c.predicate, c)
        return
    said, when = bare(c.predicate)
    negative = _NEGATION.match(said)
    over = bool(negative and negative[0] in ("再也不", "不再")) or bool(
        negative and said.endswith("了") and negative[0] == "不"
    )
    rest = said[negative.end() :] if negative else said
    if (
        negative
        and negative[0] in ("没有", "没")
        and re.match(r"^(?!人|什么|想|时间|办法|问题|关系|事|空|意思|兴趣)[\u4e00-\u9fff]{1,8}了?$", rest)
    ):
        over, rest = rest.endswith("了"), f"有{rest}"
    rest = bare(rest)[0]
    polarity = -1 if negative else 1
    part = Part(rest, polarity, over, when, c)
    past = bool(re.search(r"以前|之前|过去|曾经?|当年|小时候", when))
    for rule in (identity, home, work, taste, body, own, change, plan):
        found = list(rule(part))
        if found:
            yield from (found if not past else map(_former, found))
            return
    yield from habit(part)


def _former(m: Meaning) -> Meaning:
    """What was so once: over, where it was believed to be so still."""
    return Meaning(
        "once", f"{m.attribute} {m.value}", m.topic, m.memory_type, -1, False, ("",), m.confidence, m.importance, True
    )


def _corrections(text: str) -> Iterator[tuple[Clause, Meaning]]:
    said = text.strip()
    if "？" in said or "?" in said:
        return
    if _BACK.search(said):
        yield Clause(said, "", correction=True), Meaning("", back=True, ends=("",))
        return
    if not CORRECTION.search(said):
        return
    last = [part for part in re.split(r"[。！!\n]", said) if part.strip()][-1]
    match = _NOT_BUT.search(last) or _FIXED.search(last)
    stated = match and re.search(r"我(?!是说|说|记|搞|弄|刚|打|看|写)", last[: match.start("v")])
    if match and not stated and (match["o"] or _DEFINITE.search(match["v"]) or re.search(r"我是说|应该是", last)):
        old = key(cut(match["o"])) if match["o"] else ""
        yield (
            Clause(said, "", correction=True),
            Meaning("", key(cut(match["v"])), ends=(old,) if old else (), back=True, single=True),
        )
