"""What kind of message it is, by rule, in English and Chinese. Rather `normal` than a wrong guess.

Every message that is stored passes here, so that each pattern is guarded twice. English text must have one of the
pattern's `words` as a word (all its words are made once, and five looks into a set tell most texts from a match), and any
text must hold one of its plain `hints`: looking for these costs a hundredth of the pattern.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from sidestream.fieldtypes import MsgType


class _Rule(NamedTuple):
    """Patterns for English and Chinese, in lower case, and what a match cannot be without.

    `words` are whole words, letters and digits alone; `parts` stand for what no whole word tells.
    """

    english: re.Pattern[str]
    english_hints: Sequence[str]
    chinese: re.Pattern[str]
    chinese_hints: Sequence[str]
    words: frozenset[str]
    parts: Sequence[str] = ()

    def finds(self, head: "_Head", *, stated: bool) -> bool:
        """Whether a pattern matches, in the whole text or only in what it states."""
        if head.ascii_only and self.words.isdisjoint(head.words):
            for part in self.parts:
                if part in head.text:
                    break
            else:
                return False
        for hint in self.english_hints:
            if hint in head.text:
                if self.english.search(head.stated if stated else head.text):
                    return True
                break
        if head.ascii_only or not any(hint in head.text for hint in self.chinese_hints):
            return False
        return self.chinese.search(head.stated if stated else head.text) is not None


class _Head:
    """The start of a message, which alone is read, in lower case; `stated` is what remains of it without questions."""

    def __init__(self, content: str) -> None:
        self.text = content[:_READ].lower().replace("’", "'")
        self.ascii_only = self.text.isascii()
        # What stands between all that is neither letter nor digit.
        self.words = frozenset(self.text.translate(_SPACED).split()) if self.ascii_only else frozenset()

    @cached_property
    def stated(self) -> str:
        if "?" not in self.text and "？" not in self.text:
            return self.text
        return "\n".join(m[0] for m in _STATEMENT.finditer(self.text) if not m["question"])


_SPACED = "".join(chr(c) if chr(c).isalnum() else " " for c in range(128))
_ERROR = _Rule(
    re.compile(
        r"^\s*(?:\w+\.)*\w*(?:error|exception)\b\s*:|\btraceback \(most recent call last\)|\b(?:fatal|panic|segmentation fault)\b\s*:"
        r"|\b(?:error|exit) code[ :]+[1-9]\d*|\bexit(?:ed)? (?:status|with)(?: code)? [1-9]\d*|\bhttp(?:/\d\.\d)? [45]\d\d\b"
        r"|\bcommand not found\b|\bconnection refused\b|\bpermission denied\b|\bno such file or directory\b",
        re.MULTILINE,
    ),
    (
        "error",
        "exception",
        "traceback",
        "fatal",
        "panic",
        "segmentation",
        "exit",
        "http",
        "not found",
        "refused",
        "denied",
        "no such",
    ),
    re.compile(
        r"报错(?:了|：|:)|(?:错误|异常)(?:信息|代码|码)?[：:]|(?:运行|执行|编译|部署|连接|请求)(?:失败|出错)",
    ),
    ("报错", "错误", "异常", "失败", "出错"),
    frozenset(
        [
            "traceback",
            "fatal",
            "panic",
            "segmentation",
            "exit",
            "exited",
            "http",
            "command",
            "refused",
            "denied",
            "directory",
        ]
    ),
    (":",),
)
_TODO = _Rule(
    re.compile(
        r"^\s*(?:[-*]\s*\[ \]|(?:to-?do|action item)s?\b\s*[:：-])|\b(?:please )?remind me (?:to|about|that)\b|\bdon'?t (?:let me )?forget to\b"
        r"|\bi (?:still )?(?:need|have|'?ve got) to (?!(?:say|admit|know|be honest|tell you)\b)|\bi (?:must|should) remember to\b"
        r"|\b(?:on|to) my (?:to-?do|task) list\b|\bremember to \w+",
        re.MULTILINE,
    ),
    (
        "[ ]",
        "todo",
        "to-do",
        "action item",
        "remind",
        "forget",
        "need to",
        "have to",
        "got to",
        "remember",
        "task list",
    ),
    re.compile(
        r"提醒(?:我|一下我|下我)|(?:别|不要)忘(?:了|记)|待办|我(?:还)?(?:需要|得|必须)(?:去|把|在|给|先|完成|准备|买|交|办|写|做)|记得(?:要|去|把|给|帮我)",
    ),
    ("提醒", "忘", "待办", "需要", "得", "必须"),
    frozenset(["todo", "todos", "action", "remind", "forget", "need", "have", "got", "remember", "list"]),
    ("]", "to-do"),
)
_DECISION = _Rule(
    re.compile(
        r"\b(?:i|we)(?:'ve| have)? (?:finally )?(?:decided|chose|chosen|agreed|settled)\b(?! (?:whether|if))|\b(?:we|i)(?:'ll| will| are going to|'re going to) go with\b"
        r"|\blet'?s go with\b|\b(?:my|our|the) (?:final )?decision (?:is|was)\b|\bit'?s (?:decided|settled)\b|\bmade up my mind\b",
    ),
    ("decided", "chose", "agreed", "settled", "go with", "decision", "made up"),
    re.compile(
        r"(?:我|我们|咱们|最终|最后|已经)(?:已经|最终|最后)?(?:决定|选定|商定|敲定)(?!不了|吗)|就这么(?:定|办)|那就(?:用|选|定)",
    ),
    ("决定", "选定", "商定", "敲定", "就这么", "那就"),
    frozenset(["decided", "chose", "chosen", "agreed", "settled", "go", "decision", "mind"]),
)
_PREFERENCE = _Rule(
    re.compile(
        r"\bi (?:really |absolutely |just |also |do )*(?:like|love|enjoy|adore|prefer|hate|dislike|can'?t stand)\b(?! to (?:know|ask)| how you)"
        r"|\bi (?:don'?t|do not|never) (?:really )?(?:like|enjoy|eat|drink)\b|\bi'?d (?:rather|prefer)\b|\bmy fav(?:ou?)rite\b|\bi(?:'?m| am) (?:a (?:big|huge) fan of|(?:not )?(?:into|fond of|keen on|allergic to))\b",
    ),
    (
        "like",
        "love",
        "enjoy",
        "adore",
        "prefer",
        "hate",
        "t stand",
        " eat",
        " drink",
        "rather",
        "favo",
        "fan of",
        " into",
        "fond of",
        "keen on",
        "allergic",
    ),
    re.compile(
        r"我(?:就|也|很|最|更|特别|非常|比较|超|一直|还|都)*(?:喜欢|喜爱|热爱|爱吃|爱喝|爱看|讨厌|偏好|偏爱|不喜欢|不爱|不吃|不喝)|我(?:的)?最爱|我(?:宁愿|宁可|更愿意)|我对.{1,12}过敏",
    ),
    ("喜", "爱", "讨厌", "偏", "不吃", "不喝", "宁", "更愿意", "过敏"),
    frozenset(
        [
            "like",
            "love",
            "enjoy",
            "adore",
            "prefer",
            "hate",
            "dislike",
            "stand",
            "eat",
            "drink",
            "rather",
            "favorite",
            "favourite",
            "fan",
            "into",
            "fond",
            "keen",
            "allergic",
        ]
    ),
)
_FACT = _Rule(
    re.compile(
        r"\bmy (?:full |first |last |middle )?(?:name|birthday|address|email|e-mail|phone(?: number)?|job|hometown|age|blood type|passport(?: number)?|password|employer|salary)(?: is|'s)\b"
        r"|\bi(?:'m| am) (?:called|named|\d{1,3} years old|from|married|divorced|single|retired|vegetarian|vegan|diabetic|left-handed|an? (?:\w+ ){0,2}(?:\w+(?:er|or|ist|ian|ant|eer)|nurse|student|chef|parent|pilot))\b"
        r"|\bi (?:live|work|study|grew up|was born|used to (?:live|work)|graduated|majored) (?:in|at|for|as|on|from|with|near)\b|\bi (?:was )?born (?:in|on)\b"
        r"|\b(?:i|we) (?:have|own|adopted|bought|got) (?:a|an|two|three|four|five|\d+) (?:\w+ ){0,2}(?:dogs?|cats?|kids?|children|sons?|daughters?|brothers?|sisters?|siblings|house|car|flat|apartment|bike|pets?)\b"
        r"|\bmy (?:\w+ )?(?:wife|husband|partner|son|daughter|mother|father|mom|mum|dad|brother|sister|boss|dog|cat|girlfriend|boyfriend)(?:'s name is| is (?:called|named|an?|\d+)| works| lives)\b",
    ),
    (
        "my ",
        "i'm ",
        "i am ",
        "i live",
        "i work",
        "i study",
        "i grew",
        "i was",
        "i used",
        "i graduated",
        "i majored",
        "i born",
        "i have ",
        "i own ",
        "i adopted ",
        "i bought ",
        "i got ",
        "we have ",
        "we own ",
        "we adopted ",
        "we bought ",
        "we got ",
    ),
    re.compile(
        r"我(?:的名字)?叫(?!你|他|她|它|了|车|外卖)|我的?(?:名字|生日|地址|邮箱|电话|手机号|职业|家乡|年龄|血型|老家)(?:是|在|为|[：:])|我(?:今年)?\d{1,3}岁|我(?:住在|来自|出生于|毕业于|就读于|任职于|在.{2,12}(?:工作|上班|上学|读书))"
        r"|我是(?:一名|一个|一位|个).{1,12}|我(?:有|养了)(?:一|两|三|四|\d+)(?:个|只|条|位)|我(?:老公|老婆|妻子|丈夫|儿子|女儿|妈妈|爸爸|母亲|父亲|哥哥|姐姐|弟弟|妹妹)(?:叫|是|在|今年)",
    ),
    ("我",),
    frozenset(
        [
            "my",
            "m",
            "am",
            "live",
            "work",
            "study",
            "grew",
            "was",
            "born",
            "used",
            "graduated",
            "majored",
            "have",
            "own",
            "adopted",
            "bought",
            "got",
        ]
    ),
)
_RULES: tuple[tuple[MsgType, _Rule], ...] = (
    ("todo", _TODO),
    ("decision", _DECISION),
    ("preference", _PREFERENCE),
    ("fact", _FACT),
)
_STATEMENT = re.compile(r"[^.!?。！？\n]+[.!。！\n]*(?P<question>[?？]*)")
_READ = 4_000


def msg_type(role: str, content: str, *, human: bool = False) -> MsgType:
    """The type of a message. Only its first 4,000 characters are read.

    A model's own words state no facts or preferences of a person; `human` says that a person spoke whatever
    the role. Tool results are `error` or `normal`, system messages always `normal`.
    """
    if role == "system":
        return "normal"
    head = _Head(content)
    if _ERROR.finds(head, stated=False):
        return "error"
    if role == "tool":
        return "normal"
    person = role == "user" or human
    for kind, rule in _RULES:
        if (person or kind in ("todo", "decision")) and rule.finds(head, stated=True):
            return kind
    if person and ("remind" in head.text or "提醒" in head.text) and _TODO_ASKED.search(head.text):
        return "todo"
    return "normal"


_TODO_ASKED = re.compile(r"\bremind me (?:to|about)\b|提醒我")
