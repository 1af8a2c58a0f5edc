"""A Chinese predicate taken apart, and phrases cut down to what they name."""

import re
from typing import NamedTuple

from memory.facts.chinese_clauses import TIME
from memory.facts.english_clauses import Clause
from memory.facts.keys import key

_ADVERBS = re.compile(
    r"^(?:最后|最终|也|都|还|就|很|最|更|特别|非常|比较|超级?|十分|真的|真|其实|一直|已经|刚刚?|现在|目前|如今|最近|平时|通常|一般|向来|从来|又|才|只|总是|确实|的确|终于|后来|正式|当时|偶尔|其实是|自己|反而|有点|挺|蛮|太|极其|相当|打小|从小|始终|原本|本来|依然|仍然|依旧|完全|绝对|根本|主要|大多|大部分时间)"
)
_TAIL = re.compile(r"(?:了|啦|呢|哦|喔|啊|呀|吧|的说|来着|[~～！!。，,\s])+$")
USE_OF = re.compile(r"^(?:吃|喝|看|听|玩|打|做|去|读|养|穿)(?=[\u4e00-\u9fffA-Za-z《]{2,})")


class Part(NamedTuple):
    """A predicate without adverbs, times and negation, and what these said."""

    said: str
    polarity: int
    over: bool
    when: str
    clause: Clause


def bare(text: str) -> tuple[str, str]:
    """The predicate without adverbs and times, and these."""
    start = text
    while True:
        match = _ADVERBS.match(text) or TIME.match(text)
        if match is None or match.end() == len(text):
            return text.strip(), start[: len(start) - len(text)]
        text = text[match.end() :]


def cut(text: str) -> str:
    return _TAIL.sub("", re.sub(r"^(?:了|过|着|一下|的是|是)", "", text.strip()))


def end(text: str) -> str:
    """Without the particles at its end."""
    return _TAIL.sub("", text.strip())


def thing(text: str) -> str:
    return key(USE_OF.sub("", re.sub(r"^(?:一|几)?[个只条杯种款部本]", "", text)))
