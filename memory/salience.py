"""How much a clause tells: names, numbers and uncommon words count, greetings, fillers and questions do not."""

import re
from collections.abc import Sequence

from memory.clauses import Clause, size_of
from memory.stopwords import CHINESE, CHINESE_SINGLE, ENGLISH
from memory.terms import terms

_FILLER_EN = frozenset(
    """wow yeah yep hey hi hello bye thanks thank awesome great cool amazing nice good glad sounds sorry haha lol totally
    absolutely definitely sure okay ok welcome congrats congratulations well love lot much really keep going hope see
    take care catch talk soon sweet wonderful fantastic super way like thing things stuff something everything always
    never get got getting make makes made go feel feels feeling look looks looking forward happy excited exciting
    important help helps helped helping best better proud true right""".split()
)
_FILLER_ZH = (
    "你好",
    "谢谢",
    "不客气",
    "再见",
    "没问题",
    "当然",
    "好的",
    "嗯",
    "哈哈",
    "很高兴",
    "抱歉",
    "作为AI",
    "作为一个AI",
    "请问",
    "祝你",
    "听起来",
    "加油",
)
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|we|our|we're|we've)\b|我|我们|咱们")
_CAPITAL = re.compile(r"(?<=[a-z,;] )[A-Z][\w'’]+")
_NUMBER = re.compile(r"\d")
_NO_TERM = ENGLISH | CHINESE | CHINESE_SINGLE


def clause_weights(found: Sequence[Clause], spoken: str) -> list[float]:
    """Weight of each clause, per unit of length; 0 or less tells nothing."""
    return [_weight(c, spoken) for c in found]


def _weight(clause: Clause, spoken: str) -> float:
    text = clause.text
    told = {t for t in terms(text) if t not in _NO_TERM}
    if spoken == "en":
        value = sum(0.2 if t in _FILLER_EN else min(1.0, 0.4 + 0.1 * len(t)) for t in told)
    else:
        value = 0.5 * len(told)
        value -= 2.0 * sum(f in text for f in _FILLER_ZH)
    value += 1.0 * len(_CAPITAL.findall(text)) + 0.5 * bool(_NUMBER.search(text))
    if _FIRST_PERSON.search(text):
        value += 0.5
    if clause.question:
        value *= 0.4
    if clause.role == "assistant":
        value *= 0.9
    return value / (size_of(text, spoken) + 2)
