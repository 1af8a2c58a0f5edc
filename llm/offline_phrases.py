"""What the offline responder says, in English and Chinese, and how it tells a question from a statement."""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """Sentences of one language. `quote` takes text, speaker and when; `turn` takes turn."""

    notice: str
    found: str
    nothing: str
    noted: str
    quote: str
    turn: str
    earlier: str
    speakers: Mapping[str, str]


PHRASES = {
    "en": Phrases(
        notice="No language model is configured. ",
        found="This is what I remember:",
        nothing="I remember nothing about that.",
        noted="Noted: ",
        quote="“{text}” ({speaker}, {when})",
        turn="turn {turn}",
        earlier="earlier in this session",
        speakers={"user": "you", "assistant": "me"},
    ),
    "zh": Phrases(
        notice="没有配置语言模型。",
        found="我记得的内容：",
        nothing="关于这个，我没有任何记忆。",
        noted="已记下：",
        quote="“{text}”（{speaker}，{when}）",
        turn="第 {turn} 轮",
        earlier="本次会话前面",
        speakers={"user": "你", "assistant": "我", "summary": "摘要", "message": "消息", "fact": "事实"},
    ),
}

_SUBJECT = "(?:i|you|we|they|he|she|it|my|your|our|his|her|their|its|the|this|that|these|those|there|any|anyone)"
_VERB = r"(?:is|are|was|were|am|do|does|did|can|could|will|would|should|shall|may|might|has|have|had)"
_ENGLISH = re.compile(
    r"(?:(?:so|and|but|please|hey|hi|hello|ok|okay|well|now|then|also)[,\s]+)*"
    # Asked for: "what is", "which city did", but not "when I was".
    rf"(?:(?:what|who|whom|whose|when|where|why|which|how)(?:'s|’s|(?:\s+(?!{_SUBJECT}\b)\w+){{0,2}}?\s+{_VERB})"
    rf"|{_VERB}(?:n't|n’t)?\s+{_SUBJECT}"
    r"|(?:tell|show|list|remind|find|recall|search|describe|explain|summari[sz]e|give)\s+"
    r"(?:me|us|my|all|the|what|who|where|when|why|how|which|everything|anything))\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"什么|甚么|谁|哪|几[个点岁次年月天号时位只本]|多少|多大|多久|多远|怎么|怎样|如何|为何|何时"
    r"|是否|是不是|有没有|能不能|会不会|记不记得|[吗呢么嘛]\s*[。！!~～]*$"
    r"|^(?:请|麻烦|帮我)*(?:告诉我|说说|讲讲|列出|回忆|提醒我|查|找|描述|解释|总结)"
)
_SENTENCES = re.compile(r"(?<=[.!?。！？\n])\s*")


def asks(text: str) -> bool:
    """Whether any sentence of `text` wants an answer, by its marks and words; also one put as a request."""
    return any(map(_question, _sentences(text)))


def only_asks(text: str) -> bool:
    """Whether every sentence of `text` wants an answer, so that nothing in it can be one."""
    return all(map(_question, _sentences(text)))


def says_nothing_new(text: str) -> bool:
    """Whether `text` is one of the responder's own sentences, which only echo what others said."""
    own = [start for phrases in PHRASES.values() for start in (phrases.notice.strip(), phrases.noted)]
    return text.startswith(tuple(own))


def _sentences(text: str) -> list[str]:
    return [part for piece in _SENTENCES.split(text) if (part := piece.strip())]


def _question(sentence: str) -> bool:
    return "?" in sentence or "？" in sentence or bool(_ENGLISH.match(sentence) or _CHINESE.search(sentence))
